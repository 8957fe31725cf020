/** Behaviour: the strategy an agent follows; it defines what each phase of a step does. All methods are pure. */

import type { z } from 'zod'
import type { BehaviourChoice, CallResult, Decision, Verdict } from '../domain/decision.ts'
import { copyJson, type Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import type { SessionView, TodoResult } from '../domain/session-view.ts'
import type { TodoSummary } from '../domain/todo.ts'
import type { BranchSearch } from './branch-search.ts'
import type { WorkspaceAccess } from './env.ts'
import type { MemoryQuery, MemoryView } from './memory.ts'
import type { ParsedAnswer } from './parser.ts'

/** The situation of a run at the start of a step. */
export interface EnvView {
  /** Observations that arrived since the last step. */
  readonly input: readonly Observation[]
  /** Why the last step was rejected: a critic's instruction, or a description of the error. */
  readonly feedback?: string
  readonly step: number
  /** Remaining budget; null: no limit. */
  readonly budget: {
    readonly steps: number | null
    readonly ms: number | null
    readonly tokens: number | null
    readonly usd: number | null
  }
  readonly metadata: Readonly<Record<string, Json>>
  readonly env: { readonly root: string; readonly ops: readonly string[] }
  /** Contract: the earlier turns, exactly as the model gets them in this step. */
  readonly memory: MemoryView
  /** What the session has been about, from its journal. */
  readonly session: SessionView
}

/** What a behaviour has come to, when the model finishes it or its step limit is reached. */
export interface BehaviourEnd {
  readonly why: 'finished' | 'step_limit'
  /** The model's answer; empty at a step limit. */
  readonly answer: string
  /** What the owner wrote last in this run. */
  readonly asked?: string
  /** The behaviour that the model named. It is not given if a call of the last step failed. */
  readonly wanted?: string
  readonly params: Readonly<Record<string, string>>
  readonly todos: readonly TodoSummary[]
  /** Todos in progress whose sub-agents have ended. */
  readonly results: readonly TodoResult[]
  /** How often in a row this behaviour was asked to go on (`stay`). */
  readonly stays: number
  /** How often the run changed its behaviour. */
  readonly moves: number
}

/** What follows the end of a behaviour. */
export type AfterBehaviour =
  | ({ readonly kind: 'become' } & BehaviourChoice)
  /** The run goes on with this behaviour; the model reads the feedback. */
  | { readonly kind: 'stay'; readonly feedback: string }
  /** The run waits for a message or an event; the model reads it in this behaviour. */
  | { readonly kind: 'wait'; readonly reason: string }
  /** The run ends: with an answer, or as failed with an error (and an answer for the owner). */
  | { readonly kind: 'end'; readonly answer: string; readonly error?: string }

/** A tool call proposed by a behaviour; the engine validates it and determines its effect. */
export interface ProposedCall {
  readonly tool: string
  readonly args?: Json
  readonly id?: string
  readonly timeoutMs?: number
}

/** A decision proposed by a behaviour; the engine validates it like a decision of the model. */
export type ProposedDecision =
  | { readonly kind: 'act'; readonly calls: readonly ProposedCall[]; readonly failFast?: boolean }
  | Extract<Decision, { kind: 'final' | 'wait' }>
  | { readonly kind: 'branch'; readonly candidates: readonly ProposedDecision[] }

export interface CompletedStep {
  readonly input: readonly Observation[]
  readonly observation: Json
  readonly decision: Decision
  readonly results: readonly CallResult[]
  /** What the model wrote beside its decision. */
  readonly thought?: string
}

/**
 * Schema of a behaviour's state. The state is checked after every step. A state of an older version is migrated when
 * its run is opened.
 */
export interface StateShape<S = Json> {
  readonly version: number
  readonly schema: z.ZodType<S>
  migrate?(state: Json, from: number): S
}

/**
 * The sections of a system prompt, always rendered in this order. The rules of a text protocol are in
 * `output_protocol`.
 */
export type SystemSection = 'role' | 'process_rules' | 'policy' | 'toolbox' | 'output_protocol' | 'unattended'

/** A system prompt: one text per section, or a plain string as the whole prompt. */
export type SystemPrompt = string | { readonly [S in SystemSection]?: string }

/** `S` is the type of the behaviour's state: plain data that can be stored as JSON. */
export interface Behaviour<S = Json> {
  readonly name: string
  /** Tools offered to the model; must not change during a run. */
  readonly tools: readonly string[]
  readonly state?: StateShape<S>
  /** If set, `parser`, `memory`, `critics` and `search` replace those that the run would use. */
  readonly parser?: string
  readonly memory?: string
  readonly critics?: readonly Critic<S>[]
  readonly search?: BranchSearch
  /** What the behaviour may do to the workspace. Default: `write`. */
  readonly access?: WorkspaceAccess
  /** Number of steps after which `next` is asked. */
  readonly stepLimit?: number
  /** The behaviour that reads a message to a session whose last run has ended. Default: this behaviour. */
  readonly onMessage?: string
  /**
   * `metadata` is the metadata of the dispatch; `previous` is the last state of an earlier run of the session, if that
   * run had this behaviour too.
   */
  initState(task: string, metadata?: Readonly<Record<string, Json>>, previous?: Json): S
  /** Contract: returns the observation of this step, a value of bounded size. Default: the input, unchanged. */
  observe?(state: S, view: EnvView): Json
  /** Contract: returns a decision without a model call, or undefined to ask the model. */
  decide?(state: S, observation: Json): ProposedDecision | undefined
  /** Contract: returns the user message of this step's request. Default: the input, rendered as text. */
  prepare?(state: S, observation: Json): string
  /** Contract: called once, when the run is opened. The result must not change by a byte during the run. */
  buildSystemPrompt(state: S): SystemPrompt
  /**
   * Contract: returns the query for the memory. The memory's answer is in the view passed to `observe`, and in the
   * request to the model.
   */
  buildMemoryQuery?(state: S, input: readonly Observation[]): MemoryQuery
  /** Contract: whether the thoughts of the model are recorded. Default: they are. */
  keepsThought?(state: S): boolean
  /** Contract: pure; reads a text that the model gave without calling a tool. Default: it is the final answer. */
  readText?(text: string): ParsedAnswer
  /** Contract: returns the new state, or undefined if it changed the given state in place. */
  reduce?(state: S, step: CompletedStep): S | undefined
  /** Contract: whether the behaviour is over. Then `next` says what follows; without it the run ends. */
  shouldStop?(state: S): boolean
  /** Contract: returns what follows the end of this behaviour. Default: the run ends with the answer. */
  next?(state: S, end: BehaviourEnd): AfterBehaviour
}

export interface Behaviours {
  /**
   * Contract: returns the behaviour with this name (default: the default behaviour), limited to the tools that the
   * agent may use. Throws `not_found` for an unknown name and lists the known ones.
   */
  get(agentId: string, name?: string): Behaviour
}

export interface Critic<S = Json> {
  readonly name: string
  judge(state: S, step: CompletedStep): Verdict | Promise<Verdict>
}

/** A behaviour as its author writes it: what is the same for every run may be a value. */
export interface BehaviourDefinition<S>
  extends Omit<Behaviour<S>, 'tools' | 'state' | 'initState' | 'buildSystemPrompt'> {
  /** Default: none. */
  readonly tools?: readonly string[]
  /** A schema alone is that of version 1. */
  readonly state?: StateShape<S> | z.ZodType<S>
  /** Default: null. */
  readonly initState?: S | Behaviour<S>['initState']
  /** Default: an empty prompt. */
  readonly buildSystemPrompt?: SystemPrompt | Behaviour<S>['buildSystemPrompt']
}

/** Contract: the types of the methods are inferred; what is missing gets its default. The argument is not changed. */
export function defineBehaviour<S extends Json = null>(behaviour: BehaviourDefinition<S>): Behaviour {
  const { tools = [], state, initState = null, buildSystemPrompt = '' } = behaviour
  const isComplete = typeof initState === 'function' && typeof buildSystemPrompt === 'function'
  // A behaviour that is an instance of a class stays one.
  if (isComplete && behaviour.tools && !isSchema(state)) return behaviour as Behaviour
  return {
    ...behaviour,
    tools,
    ...(state && { state: isSchema(state) ? { version: 1, schema: state } : state }),
    initState: typeof initState === 'function' ? initState : () => copyJson(initState),
    buildSystemPrompt: typeof buildSystemPrompt === 'function' ? buildSystemPrompt : () => buildSystemPrompt,
  } as Behaviour
}

const isSchema = <S>(state: StateShape<S> | z.ZodType<S> | undefined): state is z.ZodType<S> =>
  state !== undefined && 'safeParse' in state
