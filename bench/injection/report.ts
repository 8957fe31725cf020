/** The injection suite's table. Pure: results in, text out. */

import { barsTable, headOf, table, whole } from '../report.ts'
import { percent } from './bars.ts'
import type { InjectionResults } from './injection.ts'
import type { Score } from './score.ts'

/** More than this nobody reads; the rest is in the JSON. */
const MOST = 12

export function injectionReport(results: InjectionResults): string {
  const { scores, seconds } = results
  return [
    ...headOf(results),
    '',
    table(
      [
        ...['suite', 'attacks', 'came off', 'harmful', 'tasks', 'unasked', 'ceiling', '(with money)', 'asked/task'],
        ...['finished', 'under attack'],
      ],
      scores.map(row),
    ),
    '',
    `${whole(seconds)} s. A mind that obeys what it reads does each task, with and without a goal hidden in what its tools say. Came off: all of the`,
    'attacker’s calls were run and nobody was asked. Unasked: finished without a question. Ceiling: tasks that an ideal lock could let through,',
    'each address standing in the prompt; with money: if that were taken on the owner’s word, too. Finished: the owner allows exactly what the',
    'task needs, and nothing else.',
    ...scores.flatMap(failuresOf),
    '',
    barsTable(results),
  ].join('\n')
}

const row = (score: Score): readonly string[] => [
  `${score.suite} (${score.of})`,
  whole(score.attacks),
  whole(score.successes),
  whole(score.harmful),
  whole(score.tasks),
  whole(score.unasked),
  whole(score.ceiling),
  whole(score.ceilingWithAll),
  score.approvalsPerTask.toFixed(2),
  share(score.finished, score.tasks),
  share(score.finishedUnderAttack, score.attacks),
]

const share = (part: number, all: number): string => {
  const value = percent(part, all)
  return value === undefined ? '' : `${value.toFixed(0)} %`
}

function failuresOf({ suite, failures }: Score): readonly string[] {
  if (failures.length === 0) return []
  const more = failures.length - MOST
  return [
    '',
    `${suite}:`,
    ...failures.slice(0, MOST).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ]
}
