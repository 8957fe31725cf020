/** Simulates the coming days: beats, their cost, and conflicts between schedules. */

import { z } from 'zod'
import { MICROS_PER_USD, type Price } from '../domain/money.ts'
import { listSchedules } from '../kernel/schedule/all-schedules.ts'
import { type Cost, type SimulatedBeat, simulateSchedules as simulateBeats } from '../kernel/schedule/simulate.ts'
import { localZone } from '../kernel/schedule/time-zone.ts'
import type { KernelSettings } from '../kernel/settings.ts'
import { iso } from '../ports/clock.ts'
import type { TraceManifest } from '../trace/manifest.ts'
import { busyHours, frequentSchedules, likelyCosts } from './lib/calendar.ts'
import { defineCommand } from './lib/command.ts'
import type { CommandContext, Needs } from './lib/context.ts'
import { runCost } from './lib/forecast.ts'

/** Number of past runs from which the cost of future runs is estimated. */
const RUNS_FOR_ESTIMATE = 1000

const conflict = { schedules: z.array(z.string()), first: z.string(), times: z.number() }

export const simulate = defineCommand({
  name: 'simulate',
  summary: 'list the coming beats with their cost and conflicts; runs nothing',
  example: 'simulate --days 7',
  runsIn: 'any_process',
  needs: ['budgetLimits', 'clock', 'models', 'settings', 'store', 'timeLimit', 'traces'],
  input: z.object({
    days: z.int().min(1).max(366).default(1).describe('number of days from now'),
    limit: z.int().min(0).max(100_000).default(100).describe('maximum number of beats to list'),
    fold: z.int().min(1).optional().describe('sum up schedules with more beats on a day instead of listing them'),
  }),
  output: z.object({
    from: z.string(),
    until: z.string().describe('end of the simulation; earlier than requested if there are too many beats'),
    timezone: z.string(),
    total: z.object({ beats: z.number(), dispatches: z.number(), usd_low: z.number(), usd_high: z.number() }),
    guessed: z.array(z.string()).describe('agents that have not run yet; their cost is guessed from their prompts'),
    unpriced: z.array(z.string()).describe('agents without a known cost; not in the totals'),
    days: z.array(
      z.object({
        date: z.string(),
        beats: z.number(),
        dispatches: z.number(),
        usd_low: z.number(),
        usd_high: z.number(),
        usd_likely: z.number().describe('agents that run only on changes counted as a few runs a day'),
      }),
    ),
    max_concurrent: z.number(),
    cap_usd: z.number().nullable().describe('limit of a day; null: none'),
    only_on_change: z.array(z.string()).describe('due agents that run only if something has changed'),
    hours: z
      .array(z.object({ at: z.string(), dispatches: z.number(), at_once: z.number() }))
      .describe('hours with beats; at_once: the most that are due at one instant'),
    frequent: z
      .array(
        z.object({
          ...{ schedule_id: z.string(), agents: z.array(z.string()), words: z.string(), words_zh: z.string() },
          ...{ beats: z.number(), per_day: z.number() },
        }),
      )
      .describe('schedules that --fold summed up'),
    conflicts: z.array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('together'), ...conflict }),
        z.object({ kind: z.literal('crowded'), ...conflict, due: z.number(), max_concurrent: z.number() }),
        z.object({
          kind: z.literal('too_close'),
          ...conflict,
          ...{ agent: z.string(), interval_ms: z.number(), timeout_ms: z.number() },
        }),
      ]),
    ),
    beats: z.array(z.object({ at: z.string(), schedule_id: z.string(), agents: z.array(z.string()) })),
  }),
  async run(context, { days, limit, fold }) {
    const { store, clock, traces } = context
    const from = clock.now()
    const settings = context.settings()
    const { agents, max_concurrent } = settings
    const timezone = settings.timezone ?? localZone()
    const known = costRanges(await traces.list(RUNS_FOR_ESTIMATE))
    const guesses = await guessCosts(context)
    const rows = listSchedules(settings, await store.schedules())
    const costOf = (name: string): Cost | null => known.get(name) ?? guesses.get(name) ?? null
    const simulated = simulateBeats({
      ...{ rows, agents, from, days, timezone, max_concurrent, costOf },
      timeoutOf(name) {
        const { timeout } = agents.find(({ agent_id }) => agent_id === name) ?? {}
        return timeout === undefined ? context.timeLimit() : timeout
      },
    })
    const { beats, usd_low, usd_high } = simulated
    const frequent = fold === undefined ? [] : frequentSchedules(beats, rows, fold, timezone)
    const listed = beats.filter(({ schedule_id }) => !frequent.some((one) => one.schedule_id === schedule_id))
    const onChange = onlyOnChange(settings, beats)
    const likely = likelyCosts(beats, { onChange: new Set(onChange), timezone, costOf })
    const dispatches = simulated.days.reduce((sum, day) => sum + day.dispatches, 0)
    return {
      ...{ from: iso(from), until: iso(simulated.until), timezone },
      total: { beats: beats.length, dispatches, usd_low, usd_high },
      guessed: [...guesses.keys()].filter((name) => !known.has(name)),
      unpriced: [...simulated.unpriced],
      days: simulated.days.map((day) => ({ ...day, usd_likely: likely.get(day.date) ?? 0 })),
      ...{ max_concurrent, cap_usd: dayLimit(context), only_on_change: onChange, frequent },
      hours: busyHours(beats, from, timezone).map((hour) => ({ ...hour, at: iso(hour.at) })),
      conflicts: simulated.conflicts.map((conflict) => ({
        ...conflict,
        schedules: [...conflict.schedules],
        first: iso(conflict.first),
      })),
      beats: listed.slice(0, limit).map((beat) => ({ ...beat, at: iso(beat.at), agents: [...beat.agents] })),
    }
  },
})

/** Every planner but the static one passes over an agent that would see nothing new. */
function onlyOnChange({ agents, planner }: KernelSettings, beats: readonly SimulatedBeat[]): string[] {
  const due = new Set(beats.flatMap((beat) => beat.agents))
  return agents
    .filter(({ agent_id, schedule }) => schedule === null && due.has(agent_id))
    .filter(({ only_on_change }) => planner.mode !== 'static' || only_on_change === true)
    .map(({ agent_id }) => agent_id)
}

/** Null: there is no limit. */
function dayLimit({ budgetLimits }: Needs<'budgetLimits'>): number | null {
  const cap = budgetLimits.caps().find(({ name }) => name === 'per_day_usd')
  return cap ? cap.limit / MICROS_PER_USD : null
}

/** Lowest and highest cost of each agent's finished runs. */
function costRanges(manifests: readonly TraceManifest[]): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>()
  for (const { agent_id, cost_usd, status } of manifests) {
    if (agent_id === null || cost_usd === null || status === 'running') continue
    const { usd_low, usd_high } = costs.get(agent_id) ?? { usd_low: cost_usd, usd_high: cost_usd }
    costs.set(agent_id, { usd_low: Math.min(usd_low, cost_usd), usd_high: Math.max(usd_high, cost_usd) })
  }
  return costs
}

/** The cost of a run of each agent, guessed from the price of its model; agents without a known price are left out. */
async function guessCosts({ settings, models }: Needs<'settings' | 'models'>): Promise<ReadonlyMap<string, Cost>> {
  const guesses = new Map<string, Cost>()
  for (const agent of settings().agents.filter(({ enabled }) => enabled)) {
    const [id] = await models.fallbackChain({ agent: agent.agent_id })
    const price = priceOf(models, id)
    const usd = price && runCost(agent, price)
    if (usd !== null) guesses.set(agent.agent_id, { usd_low: usd, usd_high: usd })
  }
  return guesses
}

/** Null: the price is unknown, or the model cannot be used. */
function priceOf(models: CommandContext['models'], id: string | undefined): Price | null {
  try {
    return models.get(id).price ?? null
  } catch {
    return null
  }
}
