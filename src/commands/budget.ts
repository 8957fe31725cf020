/** Shows spending, limits and forecast; changes limits. */

import { z } from 'zod'
import { addDays } from '../domain/day.ts'
import { TirelessError } from '../domain/error.ts'
import { type Cap, forecastCost, MICROS_PER_USD, reachedAt, type Spend } from '../domain/money.ts'
import { iso } from '../ports/clock.ts'
import { defineCommand } from './lib/command.ts'

const DAYS_BACK = 7

export const tallyShape = z.object({
  usd: z.number(),
  reserved_usd: z.number().describe('included in usd: reserved for running calls, or lost in a crash'),
  calls: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cached_tokens: z.number(),
})

export const budgetShow = defineCommand({
  name: 'budget show',
  summary: 'show spending, what is left under each limit, and the forecast for a day',
  example: 'budget show',
  runsIn: 'any_process',
  needs: ['budgetLimits', 'clock', 'store'],
  input: z.object({}),
  output: z.object({
    day: z.string(),
    today: tallyShape,
    month: tallyShape,
    caps: z.array(
      z.object({
        name: z.string(),
        of: z.string().nullable().describe('the agent or kernel that the limit is for, or null'),
        limit: z.number(),
        used: z.number(),
        left: z.number(),
        reached_at: z.string().nullable().describe('when the limit is reached at the present pace; null: not in time'),
      }),
    ),
    by_agent: z.array(tallyShape.extend({ agent_id: z.string() })),
    by_model: z.array(tallyShape.extend({ model: z.string() })),
    forecast: z.object({
      day_usd: z.number().nullable(),
      month_usd: z.number().nullable().describe('of 30 days'),
      days: z.number(),
      this_month_usd: z.number().nullable().describe('of this calendar month, with what is spent already'),
    }),
  }),
  async run({ store, clock, budgetLimits: purse }) {
    const now = clock.budgetNow()
    const day = purse.dayOf(now)
    const firstOfMonth = `${day.slice(0, 8)}01`
    const from = [firstOfMonth, addDays(day, -DAYS_BACK)].toSorted()[0] ?? day
    const rows = await store.spend(from, day)
    const today = rows.filter((row) => row.day === day)
    const month = rows.filter((row) => row.day >= firstOfMonth)
    const before = byKey(
      rows.filter((row) => row.day < day && row.day >= addDays(day, -DAYS_BACK)),
      (row) => row.day,
    )
    const forecast = forecastCost(
      sumOf(today).usd * MICROS_PER_USD,
      [...before.values()].map((of) => sumOf(of).usd * MICROS_PER_USD),
      elapsedDay(purse.dayOf, now),
    )
    const outlook = { now, day: dayLimits(purse.dayOf, now), usdPerDay: forecast.day_usd ?? 0, daysLeft: daysLeft(day) }
    return {
      day,
      today: sumOf(today),
      month: sumOf(month),
      caps: purse
        .caps()
        .flatMap((cap) => capUsage(cap, today, month))
        .map(({ scope, ...cap }) => ({ ...cap, reached_at: whenReached({ ...cap, scope }, outlook) })),
      by_agent: [...byKey(today, (row) => row.agent_id)].map(([agent_id, of]) => ({ agent_id, ...sumOf(of) })),
      by_model: [...byKey(today, (row) => row.model)].map(([model, of]) => ({ model, ...sumOf(of) })),
      forecast: { ...forecast, this_month_usd: restOfMonth(forecast.day_usd, sumOf(today).usd, sumOf(month).usd, day) },
    }
  },
})

/** What is spent in this month, the rest of a usual day, and usual days until the month ends. */
function restOfMonth(usual: number | null, today: number, month: number, day: string): number | null {
  return usual === null ? null : month + Math.max(0, usual - today) + usual * daysLeft(day)
}

/** Contract: the number of days of the month that follow this day. */
function daysLeft(day: string): number {
  let left = 0
  while (addDays(day, left + 1).startsWith(day.slice(0, 8))) left += 1
  return left
}

interface Outlook {
  readonly now: number
  /** When this day began and ends. */
  readonly day: { readonly from: number; readonly to: number }
  readonly usdPerDay: number
  readonly daysLeft: number
}

function whenReached({ scope, used, left }: { scope: Cap['scope']; used: number; left: number }, outlook: Outlook) {
  const { now, day, usdPerDay } = outlook
  const pace =
    scope === 'month'
      ? { per_ms: usdPerDay / DAY_MS, until: day.to + outlook.daysLeft * DAY_MS }
      : { per_ms: used / Math.max(HOUR_MS, now - day.from), until: day.to }
  const at = reachedAt({ left, now, ...pace })
  return at === null ? null : iso(Math.round(at / MINUTE_MS) * MINUTE_MS)
}

/** In the result, `usd` is the amount that counts against a limit: spent plus reserved. */
export function sumOf(
  rows: readonly Omit<Spend, 'day' | 'kernel_id' | 'agent_id' | 'model'>[],
): z.output<typeof tallyShape> {
  const sum = (of: (row: (typeof rows)[number]) => number): number => rows.reduce((all, row) => all + of(row), 0)
  return {
    usd: sum((row) => row.usd + row.reserved) / MICROS_PER_USD,
    reserved_usd: sum((row) => row.reserved) / MICROS_PER_USD,
    calls: sum((row) => row.calls),
    input_tokens: sum((row) => row.input_tokens),
    output_tokens: sum((row) => row.output_tokens),
    cached_tokens: sum((row) => row.cached_tokens),
  }
}

function byKey(rows: readonly Spend[], keyOf: (row: Spend) => string): ReadonlyMap<string, readonly Spend[]> {
  return Map.groupBy(rows, keyOf)
}

function capUsage({ name, scope, unit, limit }: Cap, today: readonly Spend[], month: readonly Spend[]) {
  const groups: [string | null, readonly Spend[]][] =
    scope === 'agent'
      ? [...byKey(today, (row) => row.agent_id)]
      : scope === 'kernel'
        ? [...byKey(today, (row) => row.kernel_id)]
        : [[null, scope === 'month' ? month : today]]
  return groups.map(([of, rows]) => {
    const { usd, calls, input_tokens, output_tokens } = sumOf(rows)
    const used = { usd, calls, tokens: input_tokens + output_tokens }[unit]
    const allowed = unit === 'usd' ? limit / MICROS_PER_USD : limit
    return { name, scope, of, limit: allowed, used, left: Math.max(0, allowed - used) }
  })
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Contract: when the day of `now` began and ends in the configured time zone, to a second. */
function dayLimits(dayOf: (now: number) => string, now: number): Outlook['day'] {
  const edge = (direction: 1 | -1): number => {
    let [inside, outside] = [0, 26 * HOUR_MS]
    while (outside - inside > 1000) {
      const middle = (inside + outside) / 2
      if (dayOf(now + direction * middle) === dayOf(now)) inside = middle
      else outside = middle
    }
    return now + direction * outside
  }
  return { from: edge(-1), to: edge(1) }
}

/** The part of the day that has passed, from 0 to 1, in started hours of the configured time zone. */
function elapsedDay(dayOf: (now: number) => string, now: number): number {
  let hours = 0
  while (hours < 25 && dayOf(now - (hours + 1) * HOUR_MS) === dayOf(now)) hours += 1
  return Math.min(1, (hours + 1) / 24)
}

export const budgetSet = defineCommand({
  name: 'budget set',
  summary: 'change a spending limit in the configuration',
  example: 'budget set per_day_usd 5',
  runsIn: 'any_process',
  needs: ['changeConfig'],
  positional: ['key', 'value'],
  input: z.object({
    key: z.string().describe('limit, such as per_day_usd'),
    value: z.string().describe('a number above 0, or "none" for no limit'),
  }),
  output: z.object({ key: z.string(), value: z.number().nullable() }),
  async run({ changeConfig: configure }, { key, value }) {
    const limit = value === 'none' || value === 'null' ? null : Number(value)
    if (value.trim() === '' || (limit !== null && !Number.isFinite(limit)))
      throw new TirelessError('usage', {
        what: `invalid value for budget.${key}`,
        got: JSON.stringify(value),
        expected: 'a number above 0, or "none"',
      })
    configure([{ path: ['budget', key], value: limit }])
    return { key, value: limit }
  },
})
