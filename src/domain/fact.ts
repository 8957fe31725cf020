/** Fact: something an agent wants to know again in another session. One per key; what it says, who wrote it down and where. */

import type { Trust } from './trust.ts'

/** `known`: it can be recalled. The others are kept for a while, so that it can be seen what became of them. */
export const FACT_STATUSES = ['known', 'superseded', 'forgotten', 'expired', 'dropped'] as const
export type FactStatus = (typeof FACT_STATUSES)[number]

/** Where something was written down. */
export interface Origin {
  readonly agent_id: string
  readonly session_id: string
  readonly turn: number
}

export interface Fact extends Origin {
  /** The key of the call that wrote it: the same call writes it once. */
  readonly id: string
  readonly key: string
  readonly text: string
  readonly trust: Trust
  readonly private: boolean
  readonly status: FactStatus
  readonly created_at: string
  readonly expires_at: string | null
}

export type NewFact = Omit<Fact, 'status'>

/** More than this no agent knows: the oldest make room. And so many that are over are kept. */
export const MOST_FACTS = 2000
export const MOST_OVER = 500

export const MOST_KEY = 200
export const MOST_TEXT = 4000

/** A fact as a mind was shown it: `text` is key and text, perhaps cut. */
export type RecalledFact = Pick<Fact, 'id' | 'key' | 'text' | 'trust' | 'private' | 'created_at'>

/** What was recalled for a run, once, and journalled with its first input. By their keys: what was cut, and what found no room. */
export interface Recalled {
  readonly facts: readonly RecalledFact[]
  /** Where the task itself says where they belong, they stand there. */
  readonly placed?: true
  readonly cut?: readonly string[]
  readonly dropped?: readonly string[]
}
