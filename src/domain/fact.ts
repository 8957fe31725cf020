/** Fact: a note that an agent keeps for other sessions. An agent has one known fact per key. */

import type { Trust } from './label.ts'
import { EMPTY_NEED, type NewNeed } from './need.ts'

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

/**
 * Limits per agent. Beyond the number of known facts, the oldest is dropped: it is no longer recalled, but can be
 * restored, so dropped facts are counted apart from those that ended otherwise and are kept as history.
 */
export const MAX_FACTS = 2000
export const MAX_ENDED_FACTS = 500
export const MAX_DROPPED_FACTS = 10_000

/** More facts of one agent than are ever kept. */
export const MAX_ALL_FACTS = MAX_FACTS + MAX_ENDED_FACTS + MAX_DROPPED_FACTS + 1

/** Says once per agent that facts were dropped; the same need is not opened again after it was answered. */
export const droppedFactsNeed = (agent_id: string): NewNeed => ({
  ...EMPTY_NEED,
  id: `dropped-facts-${agent_id}`,
  kind: 'limit',
  agent_id,
  same_as: `dropped facts ${agent_id}`,
  title: {
    text: `${agent_id} remembers more than ${MAX_FACTS} facts; the oldest ones are no longer recalled`,
    zh: `${agent_id} 记住的事实超过 ${MAX_FACTS} 条，最旧的不再被想起`,
  },
  body: {
    text: [
      `They are kept, up to ${MAX_DROPPED_FACTS}: tireless memory list --agent ${agent_id} --status dropped.`,
      `To bring one back: tireless memory restore KEY --agent ${agent_id}.`,
      `To make room: tireless memory forget KEY --agent ${agent_id}.`,
    ].join('\n'),
    zh: [
      `它们仍被保留，最多 ${MAX_DROPPED_FACTS} 条：tireless memory list --agent ${agent_id} --status dropped。`,
      `恢复其中一条：tireless memory restore KEY --agent ${agent_id}。`,
      `腾出位置：tireless memory forget KEY --agent ${agent_id}。`,
    ].join('\n'),
  },
  choices: [
    {
      id: 'seen',
      text: { text: 'Seen', zh: '已看' },
      does: { text: 'Nothing changes. You are not told again.', zh: '什么也不改变。不再提醒。' },
      command: null,
    },
  ],
})

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
