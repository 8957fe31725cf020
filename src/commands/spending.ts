/** What was spent: by day, agent and model, on which runs, and on beats that found nothing to do. */

import { z } from 'zod'
import { addDays } from '../domain/day.ts'
import { SPEND_GROUPS, type SpendSum } from '../domain/money.ts'
import { titleOfRun } from '../domain/title.ts'
import { sumOf, tallyShape } from './budget.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'

/** Number of recent runs among which the most expensive ones are found. */
const RUNS_COMPARED = 1000
const DAY_MS = 86_400_000

const keyShape = z.string().nullable().describe('the agent or model; empty: the whole day; null: all others')

const runShape = z.object({
  run_id: z.string(),
  agent_id: z.string().nullable(),
  task: z.string().nullable(),
  usd: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  steps: z.number(),
  started_at: z.string().nullable(),
})

export const budgetSpend = defineCommand({
  name: 'budget spend',
  summary: 'show what was spent in the last days, by day, agent or model, and on which runs',
  example: 'budget spend --days 7 --by agent',
  runsIn: 'any_process',
  needs: ['budgetLimits', 'clock', 'kernelId', 'redact', 'store', 'traces'],
  input: z.object({
    days: z.int().min(1).max(366).default(30).describe('number of days up to today'),
    by: z.enum(SPEND_GROUPS).default('day').describe('what is summed up for each day'),
    top: z.int().min(1).max(100).default(8).describe('maximum number of agents or models; the others are summed up'),
    runs: z.int().min(0).max(100).default(0).describe('maximum number of expensive runs to list'),
  }),
  output: z.object({
    from: z.string(),
    to: z.string().describe('today'),
    total: tallyShape,
    keys: z.array(tallyShape.extend({ key: keyShape })).describe('highest spending first'),
    items: z.array(tallyShape.extend({ day: z.string(), key: keyShape })).describe('days without calls are missing'),
    beats: z.object({
      ended: z.number(),
      quiet: z.number().describe('beats that found nothing to do: no model was called, so they cost nothing'),
    }),
    runs: z.array(runShape).describe(`most expensive first, among the last ${RUNS_COMPARED} runs`),
  }),
  async run(context, { days, by, top, runs }) {
    const { store, clock, budgetLimits, kernelId } = context
    const now = clock.now()
    const to = budgetLimits.dayOf(now)
    const from = addDays(to, 1 - days)
    const sums = await store.spendSums({ from, to, by })
    const sumsByKey = [...Map.groupBy(sums, ({ key }) => key)]
    const ranked = sumsByKey.map(([key, of]) => ({ key, ...sumOf(of) })).toSorted(bySpending)
    const kept = new Set(ranked.slice(0, top).map(({ key }) => key))
    const others = sums.filter(({ key }) => !kept.has(key))
    return {
      ...{ from, to, total: sumOf(sums) },
      keys: [...ranked.slice(0, top), ...(others.length === 0 ? [] : [{ key: null, ...sumOf(others) }])],
      items: [...Map.groupBy(sums, ({ day }) => day)].flatMap(([day, of]) => itemsOfDay(day, of, kept)),
      beats: await store.countCycles(kernelId, now - days * DAY_MS),
      runs: runs === 0 ? [] : await expensiveRuns(context, from, runs),
    }
  },
})

const bySpending = (a: { usd: number; calls: number }, b: { usd: number; calls: number }): number =>
  b.usd - a.usd || b.calls - a.calls

function itemsOfDay(day: string, sums: readonly SpendSum[], kept: ReadonlySet<string>) {
  const others = sums.filter(({ key }) => !kept.has(key))
  return [
    ...sums.filter(({ key }) => kept.has(key)).map((sum) => ({ day, key: sum.key, ...sumOf([sum]) })),
    ...(others.length === 0 ? [] : [{ day, key: null, ...sumOf(others) }]),
  ]
}

/** The costs of single runs are in their traces. */
async function expensiveRuns(
  { traces, budgetLimits, redact }: Needs<'traces' | 'budgetLimits' | 'redact'>,
  from: string,
  limit: number,
): Promise<z.input<typeof runShape>[]> {
  const found = (await traces.list(RUNS_COMPARED)).flatMap(({ run_id, agent_id, task, cost_usd, usage, ...run }) => {
    const { started_at, behaviour, step_count: steps } = run
    if (cost_usd === null || cost_usd === 0 || started_at === null) return []
    if (budgetLimits.dayOf(Date.parse(started_at)) < from) return []
    const { input_tokens, output_tokens } = usage
    const title = task === null ? null : titleOfRun(redact(task), behaviour)
    return [{ run_id, agent_id, task: title, usd: cost_usd, input_tokens, output_tokens, steps, started_at }]
  })
  return found.toSorted((a, b) => b.usd - a.usd).slice(0, limit)
}
