/** The days to come: when something is due, what it would cost, what gets in each other's way. */

import { z } from 'zod'
import type { Price } from '../domain/money.ts'
import { type Cost, simulate as foretell } from '../kernel/simulate.ts'
import { rowsOf } from '../kernel/timetable.ts'
import { ownZone } from '../kernel/zone.ts'
import { iso } from '../ports/clock.ts'
import type { Manifest } from '../trace/manifest.ts'
import { type Context, command } from './command.ts'
import { runCost } from './forecast.ts'

/** An agent's last runs say what its next will cost. */
const RUNS_LOOKED_AT = 1000

const conflict = { schedules: z.array(z.string()), first: z.string(), times: z.number() }

export const simulate = command({
  name: 'simulate',
  summary: 'the beats of the days to come, their cost and their conflicts; nothing is run',
  runsIn: 'any_process',
  input: z.object({
    days: z.int().min(1).max(366).default(1).describe('so many days from now'),
    limit: z.int().min(0).max(100_000).default(100).describe('list at most so many beats'),
  }),
  output: z.object({
    from: z.string(),
    until: z.string().describe('up to here; less than was asked for where there are too many beats'),
    timezone: z.string(),
    total: z.object({ beats: z.number(), dispatches: z.number(), usd_low: z.number(), usd_high: z.number() }),
    guessed: z.array(z.string()).describe('agents that have not run yet: their cost is a guess from their prompts'),
    unpriced: z.array(z.string()).describe('agents of which no cost is known: not in the sums'),
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
    const timezone = settings.timezone ?? ownZone()
    const known = costsOf(await traces.list(RUNS_LOOKED_AT))
    const guesses = await guessesOf(context)
    const foretold = foretell({
      rows: rowsOf(settings, await store.schedules()),
      ...{ agents, from, days, timezone, max_concurrent },
      timeoutOf(name) {
        const { timeout } = agents.find(({ agent_id }) => agent_id === name) ?? {}
        return timeout === undefined ? context.timeLimit() : timeout
      },
      costOf: (name) => known.get(name) ?? guesses.get(name) ?? null,
    })
    const { beats, usd_low, usd_high } = foretold
    const dispatches = foretold.days.reduce((sum, day) => sum + day.dispatches, 0)
    return {
      ...{ from: iso(from), until: iso(foretold.until), timezone },
      total: { beats: beats.length, dispatches, usd_low, usd_high },
      guessed: [...guesses.keys()].filter((name) => !known.has(name)),
      unpriced: [...foretold.unpriced],
      days: [...foretold.days],
      conflicts: foretold.conflicts.map((one) => ({ ...one, schedules: [...one.schedules], first: iso(one.first) })),
      beats: beats.slice(0, limit).map((beat) => ({ ...beat, at: iso(beat.at), agents: [...beat.agents] })),
    }
  },
})

/** From the cheapest to the dearest of its runs that are over and have a price. */
function costsOf(manifests: readonly Manifest[]): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>()
  for (const { agent_id, cost_usd, status } of manifests) {
    if (agent_id === null || cost_usd === null || status === 'running') continue
    const { usd_low, usd_high } = costs.get(agent_id) ?? { usd_low: cost_usd, usd_high: cost_usd }
    costs.set(agent_id, { usd_low: Math.min(usd_low, cost_usd), usd_high: Math.max(usd_high, cost_usd) })
  }
  return costs
}

/** By what each agent's model costs, where that is known. */
async function guessesOf({ settings, models }: Context): Promise<ReadonlyMap<string, Cost>> {
  const guesses = new Map<string, Cost>()
  for (const agent of settings().agents.filter(({ enabled }) => enabled)) {
    const [id] = await models.chain({ agent: agent.agent_id })
    const price = priceOf(models, id)
    const usd = price && runCost(agent, price)
    if (usd !== null) guesses.set(agent.agent_id, { usd_low: usd, usd_high: usd })
  }
  return guesses
}

/** One that cannot be asked has no price either. */
function priceOf(models: Context['models'], id: string | undefined): Price | null {
  try {
    return models.get(id).price ?? null
  } catch {
    return null
  }
}
