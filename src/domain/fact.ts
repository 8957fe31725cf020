/** Fact: a note that an agent keeps for other sessions. An agent has one known fact per key. */

import type { Trust } from './label.ts'

/** Only `known` facts are recalled. Facts with another status are kept for a while as history. */
export const FACT_STATUSES = ['known', 'superseded', 'forgotten', 'expired', 'dropped', 'undone'] as const
export type FactStatus = (typeof FACT_STATUSES)[number]

/** The session and turn in which a fact was written. */
export interface FactOrigin {
  readonly agent_id: string
  readonly session_id: string
  readonly turn: number
}

export interface Fact extends FactOrigin {
  /** The key of the call that wrote the fact, so that a repeated call writes it once. */
  readonly id: string
  readonly key: string
  readonly text: string
  readonly trust: Trust
  readonly private: boolean
  readonly status: FactStatus
  readonly created_at: string
  readonly expires_at: string | null
  /** The id of the fact that took its place, or of the undo that ended it. */
  readonly ended_by: string | null
}

export type NewFact = Omit<Fact, 'status' | 'ended_by'>

/** Limits per agent: for known facts (beyond it, the oldest fact is dropped), and for facts kept as history. */
export const MAX_FACTS = 2000
export const MAX_ENDED_FACTS = 500

export const MAX_FACT_KEY = 200
export const MAX_FACT_TEXT = 4000

/** A fact as the model sees it: `text` holds key and text, perhaps truncated. */
export type RecalledFact = Pick<Fact, 'id' | 'key' | 'text' | 'trust' | 'private' | 'created_at'>

/**
 * The facts recalled for a run, journalled with its first input. `cut`, `dropped`: keys of facts truncated or left out.
 */
export interface RecalledFacts {
  readonly facts: readonly RecalledFact[]
  /** True: the task has a placeholder for the facts, and they are shown there. */
  readonly placed?: true
  readonly cut?: readonly string[]
  readonly dropped?: readonly string[]
}
