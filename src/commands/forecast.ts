/** What a day of the agents will cost, before any of them has run: how often each is due, and what a run of such a prompt takes. Pure. */

import type { Agent } from '../domain/agent.ts'
import { costOf, MICROS, type Price } from '../domain/money.ts'
import type { Settings } from '../kernel/settings.ts'
import { simulate } from '../kernel/simulate.ts'
import { rowsOf } from '../kernel/timetable.ts'
import { ownZone } from '../kernel/zone.ts'

export interface ForecastItem {
  readonly agent_id: string
  readonly runs: number
  /** It runs when something is new, and nobody knows how often that is. */
  readonly guessed: boolean
  /** Of the day; null: no price is known. */
  readonly usd: number | null
}

/** Where whoever sees nothing new is left out: so often a day something is. */
const NEWS_A_DAY = 6

/** A run, as it goes: so many calls, each with all of the ones before it; system prompt and tools; what is filled in for a placeholder. */
const CALLS = 4
const FIXED_TOKENS = 2_000
const FILLED_TOKENS = 500
const GROWTH_TOKENS = 700
const ANSWER_TOKENS = 400
const BYTES_A_TOKEN = 3.5

export function forecastDay(settings: Settings, price: Price | null, from: number): readonly ForecastItem[] {
  const { agents, max_concurrent, planner } = settings
  const { beats } = simulate({
    rows: rowsOf(settings, []),
    ...{ agents, from, days: 1, timezone: settings.timezone ?? ownZone(), max_concurrent },
    timeoutOf: () => null,
    costOf: () => null,
  })
  return agents
    .filter(({ enabled }) => enabled)
    .map((agent) => {
      const due = beats.filter((beat) => beat.agents.includes(agent.agent_id)).length
      const guessed = agent.schedule === null && planner.mode !== 'static'
      const runs = guessed ? Math.min(due, NEWS_A_DAY) : due
      return { agent_id: agent.agent_id, runs, guessed, usd: price && runs * runCost(agent, price) }
    })
}

/** In US dollars, of one run. */
export const runCost = (agent: Agent, price: Price): number => costOf(price, usageOf(agent)) / MICROS

function usageOf({ prompt }: Agent): Parameters<typeof costOf>[1] {
  const filled = [...prompt.matchAll(/\{[A-Z_]+\}/g)].length * FILLED_TOKENS
  const first = FIXED_TOKENS + Buffer.byteLength(prompt) / BYTES_A_TOKEN + filled
  const growth = (GROWTH_TOKENS * CALLS * (CALLS - 1)) / 2
  return {
    input_tokens: Math.round(CALLS * first + growth),
    output_tokens: CALLS * ANSWER_TOKENS,
    cached_tokens: 0,
  }
}
