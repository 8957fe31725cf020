/** Shows schedules, and the result of `simulate`, as tables. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { assertNever } from '../../domain/error.ts'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import { describeSchedule } from '../../schedule-words/describe-schedule.ts'
import { style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'
import { sayIfInstant } from './times.ts'

type Simulated = CommandOutput<'simulate'>
type Conflict = Simulated['conflicts'][number]

const TEXTS = {
  en: {
    columns: { when: 'when', cron: 'cron line', zone: 'timezone', agents: 'agents', next: 'next', last: 'last' },
    paused: 'paused',
  },
  zh: {
    columns: { when: '时间', cron: 'cron 行', zone: '时区', agents: '智能体', next: '下次', last: '上次' },
    paused: '已暂停',
  },
} as const

export function renderSchedules({ items }: CommandOutput<'schedule list'>): string {
  const { columns, paused: pausedWord } = TEXTS[terminalLanguage()]
  return formatTable(
    items.map(({ id, schedule, timezone, agents, paused, next, last }) => ({
      id,
      [columns.when]: sayWhen(schedule),
      [columns.cron]: typeof schedule === 'string' ? schedule : null,
      [columns.zone]: timezone,
      [columns.agents]: agents.join(', ') || null,
      [columns.next]: paused ? pausedWord : next,
      [columns.last]: last,
    })),
    ['id', ...Object.values(columns)],
  )
}

function sayWhen(schedule: ScheduleSpec): string {
  const isOnce = typeof schedule === 'object' && 'at' in schedule
  return describeSchedule(isOnce ? { at: sayIfInstant(schedule.at) } : schedule, terminalLanguage())
}

export function renderSimulation({ until, timezone, total, guessed, unpriced, days, conflicts }: Simulated): string {
  const lines = [
    `until ${until} (${timezone}): ${total.beats} beats, at most ${total.dispatches} dispatches, ${money(total)}`,
    ...(guessed.length > 0 && total.usd_high > 0 ? [`cost is a guess, no run yet: ${guessed.join(', ')}`] : []),
    ...(unpriced.length > 0 ? [`no cost known: ${unpriced.join(', ')}`] : []),
    formatTable(
      days.map((day) => ({ ...day, usd: money(day) })),
      ['date', 'beats', 'dispatches', 'usd'],
    ),
    ...conflicts.map((conflict) => `${style('yellow', conflict.kind)}  ${conflictText(conflict)}`),
  ]
  return lines.join('\n')
}

function conflictText(conflict: Conflict): string {
  const { schedules, first, times } = conflict
  const often = `${times === 1 ? 'once' : `${times} times`}, first at ${first}`
  const who = schedules.join(', ')
  switch (conflict.kind) {
    case 'together':
      return `${who} are due at the same time: ${often}`
    case 'crowded':
      return `${who}: ${conflict.due} due at once, but at most ${conflict.max_concurrent} can run: ${often}`
    case 'too_close': {
      const [interval, timeout] = [span(conflict.interval_ms), span(conflict.timeout_ms)]
      return `${who}: ${conflict.agent} is due again after ${interval} but may run for ${timeout}: ${often}`
    }
    default:
      return assertNever(conflict)
  }
}

const money = ({ usd_low, usd_high }: Pick<Simulated['total'], 'usd_low' | 'usd_high'>): string =>
  `$${usd_low.toFixed(2)} to $${usd_high.toFixed(2)}`

/** A duration as text, in the largest unit that divides it without a remainder. */
function span(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const)
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`
  return `${ms}ms`
}
