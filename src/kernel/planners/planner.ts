/**
 * Planner: who is dispatched in a cycle. Returns a plan, idle, or an error; only an error lets anybody fall back to anything.
 * Must not know: how dispatches are made, what becomes of them.
 */

import type { Agent } from '../../domain/agent.ts'
import type { Dispatch } from '../../domain/dispatch.ts'
import type { Note } from '../../domain/note.ts'

/** An agent, and how it stands. */
export interface Candidate {
  readonly agent: Agent
  /** Its last dispatches, newest first. */
  readonly recent: readonly Dispatch[]
  /** What it can see, as one word: the same as long as nothing of it changes. */
  readonly sight: string
  /** By a schedule of its own. */
  readonly due: boolean
}

export interface Planned {
  readonly agent_id: string
  readonly reason: string
  readonly priority?: number | undefined
  /** Instead of the agent's own. */
  readonly prompt?: string | undefined
  /** A model wrote the prompt: whatever stands in it, the owner did not say it. */
  readonly by_model?: boolean
}

/** `notes`: what its owner should hear of, whatever was planned. */
export type Plan = { readonly notes: readonly Note[] } & (
  | { readonly kind: 'plan'; readonly planned: readonly Planned[] }
  | { readonly kind: 'idle'; readonly reason: string }
  | { readonly kind: 'error'; readonly error: string }
)

/** When the kernel beats. */
export interface Rhythm {
  /** From one beat to the next. */
  readonly beatMs: number
  /** Contract: when the first beat at `instant` or later comes, in words; undefined where none does. */
  nextBeat(instant: number): string | undefined
}

export interface Occasion {
  readonly cycle_id: string
  readonly at: number
  /** STATE.md without the runtime's own block. */
  readonly state: string
  readonly goal: string
  readonly candidates: readonly Candidate[]
  /** Somebody has asked for this cycle. */
  readonly isByHand: boolean
  readonly rhythm: Rhythm
}

export interface Planner {
  /** Contract: never rejects. */
  plan(occasion: Occasion, signal: AbortSignal): Promise<Plan>
}

export const plan = (planned: readonly Planned[], notes: readonly Note[] = []): Plan => ({
  kind: 'plan',
  planned,
  notes,
})
export const idle = (reason: string, notes: readonly Note[] = []): Plan => ({ kind: 'idle', reason, notes })
export const failed = (error: string, notes: readonly Note[] = []): Plan => ({ kind: 'error', error, notes })
