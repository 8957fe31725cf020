/** Says how to bring back what a command removed or replaced: commands that people can paste into a shell. */

import { writeDuration } from '../../domain/duration.ts'
import type { ScheduleEntry, ScheduleSpec } from '../../domain/schedule.ts'
import type { Progress } from './progress.ts'

/** Contract: the words as one line of a shell. */
export const shellLine = (...words: readonly string[]): string => words.map(quoteWord).join(' ')

const quoteWord = (word: string): string =>
  /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Contract: the commands that add the schedule again. */
export function addScheduleAgain({ id, spec, timezone, agent_id, prompt, paused }: ScheduleEntry): readonly string[] {
  const what = prompt === null ? [] : ['--prompt', prompt]
  const add = [
    'tireless',
    'schedule',
    'add',
    '--agent',
    agent_id,
    ...specWords(spec),
    '--timezone',
    timezone,
    '--id',
    id,
  ]
  return [shellLine(...add, ...what), ...(paused ? [shellLine('tireless', 'schedule', 'pause', id)] : [])]
}

function specWords(spec: ScheduleSpec): readonly string[] {
  if (typeof spec === 'string') return ['--cron', spec]
  return 'at' in spec ? ['--at', spec.at] : ['--every', writeDuration(spec.every)]
}

/** Says where the text of a file is that was replaced or removed. */
export function tellKept(tell: (progress: Progress) => void, kept: string | null): void {
  if (kept === null) return
  tell({ kind: 'note', text: `The file as it was before: ${kept}`, zh: `修改前的文件：${kept}` })
}
