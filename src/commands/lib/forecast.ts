/** Forecasts the cost of a day from the agents' schedules and prompt sizes, before any run. Pure. */

import type { Agent } from '../../domain/agent.ts'
import { costOf, MICROS_PER_USD, type Price } from '../../domain/money.ts'
import { listSchedules } from '../../kernel/schedule/all-schedules.ts'
import { simulateSchedules } from '../../kernel/schedule/simulate.ts'
import { localZone } from '../../kernel/schedule/time-zone.ts'
import type { KernelSettings } from '../../kernel/settings.ts'

interface ForecastItem {
  readonly agent_id: string
  readonly runs: number
  /** True: the agent runs only if something changed, so the number of runs is a guess. */
  readonly guessed: boolean
  /** Cost of the day in US dollars; null: no price is known. */
  readonly usd: number | null
}

/** Assumed number of changes per day, for agents that run only if something changed. */
export const CHANGES_PER_DAY = 6

/**
 * Assumptions about a typical run: model calls; then tokens: of system prompt and tools, of each placeholder, of the
 * growth of the transcript per call, and of each answer.
 */
const CALLS_PER_RUN = 4
const FIXED_TOKENS = 2_000
const PLACEHOLDER_TOKENS = 500
const GROWTH_TOKENS = 700
const ANSWER_TOKENS = 400
const BYTES_PER_TOKEN = 3.5

export function forecastDay(settings: KernelSettings, price: Price | null, from: number): readonly ForecastItem[] {
  const { agents, max_concurrent, planner } = settings
  const { beats } = simulateSchedules({
    rows: listSchedules(settings, []),
    ...{ agents, from, days: 1, timezone: settings.timezone ?? localZone(), max_concurrent },
    timeoutOf: () => null,
    costOf: () => null,
  })
  return agents
    .filter(({ enabled }) => enabled)
    .map((agent) => {
      const due = beats.filter((beat) => beat.agents.includes(agent.agent_id)).length
      const guessed = agent.schedule === null && (planner.mode !== 'static' || agent.only_on_change === true)
      const runs = guessed ? Math.min(due, CHANGES_PER_DAY) : due
      return { agent_id: agent.agent_id, runs, guessed, usd: price && runs * runCost(agent, price) }
    })
}

/** Cost of one run in US dollars. */
export const runCost = (agent: Pick<Agent, 'prompt'>, price: Price): number =>
  costOf(price, estimateUsage(agent)) / MICROS_PER_USD

function estimateUsage({ prompt }: Pick<Agent, 'prompt'>): Parameters<typeof costOf>[1] {
  const placeholders = [...prompt.matchAll(/\{[A-Z_]+\}/g)].length * PLACEHOLDER_TOKENS
  const first = FIXED_TOKENS + Buffer.byteLength(prompt) / BYTES_PER_TOKEN + placeholders
  const growth = (GROWTH_TOKENS * CALLS_PER_RUN * (CALLS_PER_RUN - 1)) / 2
  return {
    input_tokens: Math.round(CALLS_PER_RUN * first + growth),
    output_tokens: CALLS_PER_RUN * ANSWER_TOKENS,
    cached_tokens: 0,
  }
}
