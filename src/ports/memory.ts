/**
 * Memory: selects what the model gets of a run's earlier turns. Each run has its own memory; after a crash it is
 * rebuilt from all turns.
 */

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
}

export interface Memory {
  /** Contract: drops everything appended. Called once per run, before the first OBSERVE. */
  reset(): void
  append(turn: PastTurn): void
  /**
   * Contract: depends only on what was appended and evicted since `reset`, and on the query. Change the result rarely
   * and then by a lot, because every change invalidates the cached prompt prefix. A new result is used only if its
   * `from` is larger than before.
   */
  retrieve(query: MemoryQuery): MemoryView
  /** Contract: summarises turns [from, upto) in fewer characters; empty if this memory keeps no summaries. */
  summarise(from: number, upto: number): string
  /**
   * Contract: drops about half of the turns shown in full, oldest first; returns how many were dropped (0: none left).
   */
  evict(): number
}

/** A kind of memory that a configuration can name. */
export interface MemoryKind {
  readonly name: string
  open(): Memory
}
