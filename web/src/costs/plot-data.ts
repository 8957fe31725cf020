/** Spending as bars: a column per day, divided by agent or model. Pure. */

import type { CommandOutput } from '../../../src/commands/lib/registry.ts'

export type Spending = CommandOutput<'budget spend'>
type Tally = Spending['total']

export const MEASURES = ['usd', 'calls', 'tokens'] as const
export type Measure = (typeof MEASURES)[number]

export const amountOf = (measure: Measure, { usd, calls, input_tokens, output_tokens }: Tally): number =>
  ({ usd, calls, tokens: input_tokens + output_tokens })[measure]

interface Segment {
  readonly key: string | null
  readonly amount: number
  /** Where it starts, from 0 (the bottom) to 1 (the top of the plot), and how high it is. */
  readonly from: number
  readonly height: number
}

export interface DayBar {
  readonly day: string
  readonly amount: number
  readonly segments: readonly Segment[]
}

export interface Plot {
  readonly bars: readonly DayBar[]
  /** The amount at the top. */
  readonly top: number
}

/** Contract: one bar for each day of the period, days without spending included; segments in the order of `keys`. */
export function plotOf({ from, to, keys, items }: Spending, measure: Measure): Plot {
  const byDay = Map.groupBy(items, ({ day }) => day)
  const amounts = daysBetween(from, to).map((day) => {
    const ofDay = byDay.get(day) ?? []
    const parts = keys.flatMap(({ key }) => {
      const item = ofDay.find((each) => each.key === key)
      return item ? [{ key, amount: amountOf(measure, item) }] : []
    })
    return { day, parts, amount: parts.reduce((sum, { amount }) => sum + amount, 0) }
  })
  const top = roundUp(Math.max(...amounts.map(({ amount }) => amount)))
  return { top, bars: amounts.map(({ day, amount, parts }) => ({ day, amount, segments: stack(parts, top) })) }
}

function stack(parts: readonly Pick<Segment, 'key' | 'amount'>[], top: number): readonly Segment[] {
  let from = 0
  return parts.map((part) => {
    const segment = { ...part, from, height: part.amount / top }
    from += segment.height
    return segment
  })
}

function daysBetween(from: string, to: string): readonly string[] {
  const days: string[] = []
  for (let at = Date.parse(`${from}T00:00:00Z`); at <= Date.parse(`${to}T00:00:00Z`); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10))
  return days
}

const STEPS = [1, 2, 4, 5, 10]

/** Contract: a round number, not smaller; 1 if there is nothing. */
function roundUp(amount: number): number {
  if (!(amount > 0)) return 1
  const size = 10 ** Math.floor(Math.log10(amount))
  return (STEPS.find((step) => step * size >= amount) ?? 10) * size
}
