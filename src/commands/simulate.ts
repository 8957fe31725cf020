/** Simulates the coming days: beats, their cost, and conflicts between schedules. */

import { z } from 'zod'
import type { Price } from '../domain/money.ts'
import { listSchedules } from '../kernel/schedule/all-schedules.ts'
import { type Cost, simulateSchedules as simulateBeats } from '../kernel/schedule/simulate.ts'
import { localZone } from '../kernel/schedule/time-zone.ts'
import { iso } from '../ports/clock.ts'
import type { TraceManifest } from '../trace/manifest.ts'
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
  needs: ['clock', 'models', 'settings', 'store', 'timeLimit', 'traces'],
  input: z.object({
    days: z.int().min(1).max(366).default(1).describe('number of days from now'),
    limit: z.int().min(0).max(100_000).default(100).describe('maximum number of beats to list'),
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
      }),
    ),
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
  async run(context, { days, limit }) {
    const { store, clock, traces } = context
    const from = clock.now()
    const settings = context.settings()
    const { agents, max_concurrent } = settings
    const timezone = settings.timezone ?? localZone()
    const known = costRanges(await traces.list(RUNS_FOR_ESTIMATE))
    const guesses = await guessCosts(context)
    const simulated = simulateBeats({
      rows: listSchedules(settings, await store.schedules()),
      ...{ agents, from, days, timezone, max_concurrent },
      timeoutOf(name) {
        const { timeout } = agents.find(({ agent_id }) => agent_id === name) ?? {}
        return timeout === undefined ? context.timeLimit() : timeout
      },
      costOf: (name) => known.get(name) ?? guesses.get(name) ?? null,
    })
    const { beats, usd_low, usd_high } = simulated
    const dispatches = simulated.days.reduce((sum, day) => sum + day.dispatches, 0)
    return {
      ...{ from: iso(from), until: iso(simulated.until), timezone },
      total: { beats: beats.length, dispatches, usd_low, usd_high },
      guessed: [...guesses.keys()].filter((name) => !known.has(name)),
      unpriced: [...simulated.unpriced],
      days: [...simulated.days],
      conflicts: simulated.conflicts.map((conflict) => ({
        ...conflict,
        schedules: [...conflict.schedules],
        first: iso(conflict.first),
      })),
      beats: beats.slice(0, limit).map((beat) => ({ ...beat, at: iso(beat.at), agents: [...beat.agents] })),
    }
  },
})

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
