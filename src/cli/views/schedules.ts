/** Schedules, and the days to come, for people. */

import { style } from '../terminal.ts'
import { table } from './table.ts'

type Spec = string | { readonly every: number } | { readonly at: string }

interface Scheduled {
  readonly id: string
  readonly schedule: Spec
  readonly timezone: string
  readonly agents: readonly string[]
  readonly paused: boolean
  readonly next: string | null
  readonly last: string | null
}

export const scheduleList = ({ items }: { readonly items: readonly Scheduled[] }): string =>
  table(
    items.map(({ id, schedule, timezone, agents, paused, next, last }) => ({
      ...{ id, when: when(schedule), timezone, agents: agents.join(', ') || null, last },
      next: paused ? 'paused' : next,
    })),
    ['id', 'when', 'timezone', 'agents', 'next', 'last'],
  )

function when(spec: Spec): string {
  if (typeof spec === 'string') return spec
  return 'at' in spec ? `at ${spec.at}` : `every ${span(spec.every)}`
}

interface Cost {
  readonly usd_low: number
  readonly usd_high: number
}

interface Day extends Cost {
  readonly date: string
  readonly beats: number
  readonly dispatches: number
}

interface Conflict {
  readonly kind: 'together' | 'crowded' | 'too_close'
  readonly schedules: readonly string[]
  readonly first: string
  readonly times: number
  readonly agent?: string
  readonly due?: number
  readonly max_concurrent?: number
  readonly interval_ms?: number
  readonly timeout_ms?: number
}

interface Foretold {
  readonly until: string
  readonly timezone: string
  readonly total: Omit<Day, 'date'>
  readonly guessed: readonly string[]
  readonly unpriced: readonly string[]
  readonly days: readonly Day[]
  readonly conflicts: readonly Conflict[]
}

export function foretold({ until, timezone, total, guessed, unpriced, days, conflicts }: Foretold): string {
  const lines = [
    `until ${until} (${timezone}): ${total.beats} beats, at most ${total.dispatches} dispatches, ${money(total)}`,
    ...(guessed.length > 0 && total.usd_high > 0
      ? [`a guess, because they have not run yet: ${guessed.join(', ')}`]
      : []),
    ...(unpriced.length > 0 ? [`no cost is known of: ${unpriced.join(', ')}`] : []),
    table(
      days.map((day) => ({ ...day, usd: money(day) })),
      ['date', 'beats', 'dispatches', 'usd'],
    ),
    ...conflicts.map((conflict) => `${style('yellow', conflict.kind)}  ${told(conflict)}`),
  ]
  return lines.join('\n')
}

function told({ kind, schedules, first, times, ...more }: Conflict): string {
  const often = `${times === 1 ? 'once' : `${times} times`}, first at ${first}`
  const who = schedules.join(', ')
  if (kind === 'together') return `${who} are due at one instant: ${often}`
  if (kind === 'crowded') return `${who}: ${more.due} due at one instant, ${more.max_concurrent} at a time: ${often}`
  return `${who}: ${more.agent} is due again after ${span(more.interval_ms ?? 0)} and may take ${span(more.timeout_ms ?? 0)}: ${often}`
}

const money = ({ usd_low, usd_high }: Cost): string => `$${usd_low.toFixed(2)} to $${usd_high.toFixed(2)}`

/** In the largest unit that leaves nothing over. */
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
