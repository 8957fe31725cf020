/**
 * Planner: decides which agents are dispatched in a cycle. Returns a plan, idle or an error; only after
 * an error may another planner be used instead.
 * Must not know: how dispatches are made, what becomes of them.
 */

import type { Agent } from '../../../domain/agent.ts'
import type { Dispatch } from '../../../domain/dispatch.ts'
import type { OwnerNote } from '../../../domain/owner-note.ts'

/** An agent that a planner can choose, with the facts to choose by. */
export interface AgentCandidate {
  readonly agent: Agent
  /** The agent's last dispatches, newest first. */
  readonly recent: readonly Dispatch[]
  /** Hash of everything that the agent can see; the same as long as nothing changes. */
  readonly fingerprint: string
  /** True: the agent is due by its own schedule. */
  readonly due: boolean
}

export interface PlannedDispatch {
  readonly agent_id: string
  readonly reason: string
  readonly priority?: number | undefined
  /** Replaces the agent's own prompt. */
  readonly prompt?: string | undefined
  /** True: a model wrote the prompt, so its words do not count as the owner's. */
  readonly by_model?: boolean
}

/** `notes`: notes for the owner, sent whatever the kind of the plan is. */
export type Plan = { readonly notes: readonly OwnerNote[] } & (
  | { readonly kind: 'plan'; readonly planned: readonly PlannedDispatch[] }
  | { readonly kind: 'idle'; readonly reason: string }
  | { readonly kind: 'error'; readonly error: string }
)

/** The timing of the kernel's beats. */
export interface BeatTiming {
  /** Milliseconds between beats. */
  readonly beatMs: number
  /** Contract: wall time of the first beat at or after `instant`; undefined if there is none. */
  nextBeat(instant: number): string | undefined
}

export interface PlanningContext {
  readonly cycle_id: string
  readonly at: number
  /** STATE.md without the runtime block. */
  readonly state: string
  readonly goal: string
  readonly candidates: readonly AgentCandidate[]
  /** True: a person requested this cycle. */
  readonly isManual: boolean
  readonly rhythm: BeatTiming
}

export interface Planner {
  /** Contract: never rejects; a failure is a plan of kind `error`. */
  plan(occasion: PlanningContext, signal: AbortSignal): Promise<Plan>
}

export const dispatchPlan = (planned: readonly PlannedDispatch[], notes: readonly OwnerNote[] = []): Plan => ({
  kind: 'plan',
  planned,
  notes,
})
export const idlePlan = (reason: string, notes: readonly OwnerNote[] = []): Plan => ({ kind: 'idle', reason, notes })
export const failedPlan = (error: string, notes: readonly OwnerNote[] = []): Plan => ({ kind: 'error', error, notes })
