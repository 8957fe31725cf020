/** Shows schedules, and the result of `simulate`, as tables. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { assertNever } from '../../domain/error.ts'
import { style } from '../terminal.ts'
import { formatTable } from './table.ts'

type Schedules = CommandOutput<'schedule list'>
type Spec = Schedules['items'][number]['schedule']
type Simulated = CommandOutput<'simulate'>
type Conflict = Simulated['conflicts'][number]

export const renderSchedules = ({ items }: Schedules): string =>
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
