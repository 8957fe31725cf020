/** Shows schedules, and the result of `simulate`, as tables. */

import { style } from '../terminal.ts'
import { formatTable } from './table.ts'

type Spec = string | { readonly every: number } | { readonly at: string }

interface Schedule {
  readonly id: string
  readonly schedule: Spec
  readonly timezone: string
  readonly agents: readonly string[]
  readonly paused: boolean
  readonly next: string | null
  readonly last: string | null
}

export const renderSchedules = ({ items }: { readonly items: readonly Schedule[] }): string =>
  formatTable(
    items.map(({ id, schedule, timezone, agents, paused, next, last }) => ({
      ...{ id, when: whenText(schedule), timezone, agents: agents.join(', ') || null, last },
      next: paused ? 'paused' : next,
    })),
    ['id', 'when', 'timezone', 'agents', 'next', 'last'],
  )

function whenText(spec: Spec): string {
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

interface Simulation {
  readonly until: string
  readonly timezone: string
  readonly total: Omit<Day, 'date'>
  readonly guessed: readonly string[]
  readonly unpriced: readonly string[]
  readonly days: readonly Day[]
  readonly conflicts: readonly Conflict[]
}

export function renderSimulation({ until, timezone, total, guessed, unpriced, days, conflicts }: Simulation): string {
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

function conflictText({ kind, schedules, first, times, ...more }: Conflict): string {
  const often = `${times === 1 ? 'once' : `${times} times`}, first at ${first}`
  const who = schedules.join(', ')
  if (kind === 'together') return `${who} are due at the same time: ${often}`
  if (kind === 'crowded') return `${who}: ${more.due} due at once, but at most ${more.max_concurrent} can run: ${often}`
  const [interval, timeout] = [span(more.interval_ms ?? 0), span(more.timeout_ms ?? 0)]
  return `${who}: ${more.agent} is due again after ${interval} but may run for ${timeout}: ${often}`
}

const money = ({ usd_low, usd_high }: Cost): string => `$${usd_low.toFixed(2)} to $${usd_high.toFixed(2)}`

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
