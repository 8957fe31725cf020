/** Behaviour: the strategy the engine drives; says what each phase means right now. All methods are pure. */

import type { z } from 'zod'
import type { CallResult, Decision, Verdict } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import type { MemoryQuery, MemoryView } from './memory.ts'
import type { Search } from './search.ts'

/** What surrounds a run as it observes. */
export interface EnvView {
  /** New since the last step. */
  readonly input: readonly Observation[]
  /** Why the last step was not enough: a critic's instruction, or what was wrong with it. */
  readonly feedback?: string
  readonly step: number
  /** What is left; null: no limit. */
  readonly budget: {
    readonly steps: number | null
    readonly ms: number | null
    readonly tokens: number | null
    readonly usd: number | null
  }
  readonly metadata: Readonly<Record<string, Json>>
  readonly env: { readonly root: string; readonly ops: readonly string[] }
  /** Contract: exactly what the model will be given of the past in this step. */
  readonly memory: MemoryView
}

/** A call as a behaviour wants it; the engine checks it and finds out its effect. */
export interface WantedCall {
  readonly tool: string
  readonly args?: Json
  readonly id?: string
  readonly timeoutMs?: number
}

/** A decision as a behaviour says it. */
export type Wish =
  | { readonly kind: 'act'; readonly calls: readonly WantedCall[]; readonly failFast?: boolean }
  | Extract<Decision, { kind: 'final' | 'wait' }>
  | { readonly kind: 'branch'; readonly candidates: readonly Wish[] }

export interface Reduced {
  readonly input: readonly Observation[]
  readonly observation: Json
  readonly decision: Decision
  readonly results: readonly CallResult[]
}

/** The shape of a behaviour's state. Checked after every step; a state of an older version is migrated when its run is opened. */
export interface StateShape<S = Json> {
  readonly version: number
  readonly schema: z.ZodType<S>
  migrate?(state: Json, from: number): S
}

/** In this order, whatever the order they are given in. `output_protocol` is where a text protocol's own rules go. */
export type SystemSection = 'role' | 'process_rules' | 'policy' | 'toolbox' | 'output_protocol' | 'unattended'

/** By section; a text is all of it. */
export type SystemPrompt = string | { readonly [S in SystemSection]?: string }

/** `S`: its state, plain data. */
export interface Behaviour<S = Json> {
  readonly name: string
  /** Tools offered; fixed for as long as the behaviour lasts. */
  readonly tools: readonly string[]
  readonly state?: StateShape<S>
  /** Used instead of what the run is set up with. */
  readonly parser?: string
  readonly memory?: string
  readonly critics?: readonly Critic<S>[]
  readonly search?: Search
  /** `metadata`: the dispatch's. */
  initState(task: string, metadata?: Readonly<Record<string, Json>>): S
  /** Contract: bounded. Without it the observation is the input as it came. */
  observe?(state: S, view: EnvView): Json
  /** Contract: a decision without a model, or nothing: then the model is asked. */
  decide?(state: S, observation: Json): Wish | undefined
  /** Contract: what the model is told in this step. Without it, the input in plain words. */
  prepare?(state: S, observation: Json): string
  /** Contract: asked once when the run is opened, and byte-stable from then on. */
  buildSystemPrompt(state: S): SystemPrompt
  /** Contract: what the past is asked about, given what is new. The answer is in the view that `observe` gets, and in the request. */
  buildMemoryQuery?(state: S, input: readonly Observation[]): MemoryQuery
  /** Contract: the new state, or nothing where it changed the one it was given. */
  reduce?(state: S, step: Reduced): S | undefined
  shouldStop?(state: S): boolean
}

export interface Behaviours {
  /** Contract: the behaviour of that name for that agent, or the one it begins with; throws `not_found` with the names there are. */
  get(agentId: string, name?: string): Behaviour
}

export interface Critic<S = Json> {
  readonly name: string
  judge(state: S, step: Reduced): Verdict | Promise<Verdict>
}

/** Gives a behaviour's author the types, and nothing else. */
export function defineBehaviour<S extends Json>(behaviour: Behaviour<S>): Behaviour {
  return behaviour
}
