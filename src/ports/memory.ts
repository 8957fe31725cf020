/**
 * Memory: selects what the model gets of a run's earlier turns, and may add messages of its own. Each run has its own
 * memory; after a crash it is rebuilt from all turns.
 */

import type { Json } from '../domain/json.ts'
import type { Label } from '../domain/label.ts'
import type { Observation } from '../domain/observation.ts'
import type { ModelMessage } from './model.ts'

/** A committed turn as the model saw it: input, answer, results of calls. */
export interface PastTurn {
  readonly turn: number
  readonly messages: readonly ModelMessage[]
}

export interface MemoryQuery {
  /** Topic of the current turn. */
  readonly text: string
  /** Limit for the summary, in characters; default: chosen by the memory. */
  readonly maxChars?: number
  /** The behaviour's state, and the observations of the turn; copies. Built-in memories do not get them. */
  readonly state?: Json
  readonly input?: readonly Observation[]
}

/** A text that a memory adds to the conversation of a turn. The model sees it in a data fence. */
export interface MemoryMessage {
  readonly text: string
  /** Default: untrusted. The label of the session becomes at least as low (I12). */
  readonly label?: Label
}

/**
 * What the model gets of turns that are not shown in full. The engine adds the task and the owner's messages.
 * Behaviours get it as `EnvView.memory`.
 */
export interface MemoryView {
  /** The first turn shown in full; earlier turns are in `summary` and `recalled`, or dropped. */
  readonly from: number
  readonly summary: string
  readonly recalled: readonly string[]
  /** Shown before the input of this turn, and kept in the conversation. */
  readonly messages?: readonly MemoryMessage[]
}

/** Contract for every method: may return a promise; a promise that takes longer than ten seconds has failed. */
export interface Memory {
  /** Contract: drops everything appended. Called once per run, before the first OBSERVE. */
  reset(): void | Promise<void>
  append(turn: PastTurn): void | Promise<void>
  /**
   * Contract: called once per turn, in OBSERVE, and again if the conversation is too long. Change the result rarely and
   * then by a lot, because every change invalidates the cached prompt prefix. A new result is used only if its `from`
   * is larger than before; `messages` are used in any case. The result is recorded, so a replay does not ask again.
   */
  retrieve(query: MemoryQuery): MemoryView | Promise<MemoryView>
  /** Contract: summarises turns [from, upto) in fewer characters; empty if this memory keeps no summaries. */
  summarise?(from: number, upto: number): string | Promise<string>
  /**
   * Contract: drops about half of the turns shown in full, oldest first; returns how many were dropped (0: none left).
   */
  evict(): number | Promise<number>
}

/** A memory none of whose methods returns a promise. */
export interface DeterministicMemory extends Memory {
  reset(): void
  append(turn: PastTurn): void
  retrieve(query: MemoryQuery): MemoryView
  summarise(from: number, upto: number): string
  evict(): number
}

export interface DeterministicMemoryKind extends MemoryKind {
  readonly isDeterministic: true
  open(): DeterministicMemory
}

/** A kind of memory that a configuration can name. */
export interface MemoryKind {
  readonly name: string
  /**
   * Contract: true: what `retrieve` returns depends only on what was appended and evicted since `reset`, and on the
   * text of the query. Then it is not recorded but asked again, also by a replay.
   */
  readonly isDeterministic?: boolean
  open(): Memory | Promise<Memory>
}
