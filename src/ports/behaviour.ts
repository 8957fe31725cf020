/** Behaviour: the strategy the engine drives; says what each phase means right now. All methods are pure. */

import type { CallResult, Decision, Verdict } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'

export interface Reduced {
  readonly input: readonly Observation[]
  readonly decision: Decision
  readonly results: readonly CallResult[]
}

export interface Behaviour {
  readonly name: string
  /** Tools offered; fixed for as long as the behaviour lasts. */
  readonly tools: readonly string[]
  /** Contract: byte-stable for as long as the behaviour lasts. */
  systemPrompt(): string
  initState(task: string): Json
  /** Contract: a decision without a model, or nothing: then the model is asked. */
  decide?(state: Json, input: readonly Observation[]): Decision | undefined
  reduce?(state: Json, step: Reduced): Json
  shouldStop?(state: Json): boolean
}

export interface Behaviours {
  /** Contract: the behaviour of that name for that agent, or the one it begins with; throws `not_found` with the names there are. */
  get(agentId: string, name?: string): Behaviour
}

export interface Critic {
  readonly name: string
  judge(state: Json, step: Reduced): Verdict | Promise<Verdict>
}
