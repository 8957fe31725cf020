/** Shows spending, limits and forecast; changes limits. */

import { z } from 'zod'
import { addDays } from '../domain/day.ts'
import { TirelessError } from '../domain/error.ts'
import { type Cap, forecastCost, MICROS_PER_USD, type Spend } from '../domain/money.ts'
import { defineCommand } from './lib/command.ts'

const DAYS_BACK = 7

const tallyShape = z.object({
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
      }),
    ),
    by_agent: z.array(tallyShape.extend({ agent_id: z.string() })),
    by_model: z.array(tallyShape.extend({ model: z.string() })),
    forecast: z.object({ day_usd: z.number().nullable(), month_usd: z.number().nullable(), days: z.number() }),
  }),
  async run({ store, clock, budgetLimits: purse }) {
    const now = clock.now()
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
    return {
      day,
      today: sumOf(today),
      month: sumOf(month),
      caps: purse.caps().flatMap((cap) => capUsage(cap, today, month)),
      by_agent: [...byKey(today, (row) => row.agent_id)].map(([agent_id, of]) => ({ agent_id, ...sumOf(of) })),
      by_model: [...byKey(today, (row) => row.model)].map(([model, of]) => ({ model, ...sumOf(of) })),
      forecast: forecastCost(
        sumOf(today).usd * MICROS_PER_USD,
        [...before.values()].map((of) => sumOf(of).usd * MICROS_PER_USD),
        elapsedDay(purse.dayOf, now),
      ),
    }
  },
})

/** In the result, `usd` is the amount that counts against a limit: spent plus reserved. */
function sumOf(rows: readonly Spend[]): z.output<typeof tallyShape> {
  const sum = (of: (row: Spend) => number): number => rows.reduce((all, row) => all + of(row), 0)
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
    return { name, of, limit: allowed, used, left: Math.max(0, allowed - used) }
  })
}

const HOUR_MS = 3_600_000

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
