/** Memory: what a run's mind is given of its own past. Made anew for every run, and told every committed turn in order, also after a crash. */

import type { Message } from './model.ts'

/** A committed turn, as the model has seen it: what it was told, what it answered, what its calls brought. */
export interface PastTurn {
  readonly turn: number
  readonly messages: readonly Message[]
}

export interface MemoryQuery {
  /** What the present turn is about. */
  readonly text: string
  /** Characters that the summary may take; absent: as many as this kind of memory likes. */
  readonly room?: number
}

/**
 * What the model gets of turns that are not shown whole, beside the task and the owner's words, which the engine keeps; also what
 * `env_view.memory` shows.
 */
export interface MemoryView {
  /** The first turn that is shown whole; those before it are in `summary` and `recalled`, or gone. */
  readonly from: number
  readonly summary: string
  readonly recalled: readonly string[]
}

export interface Memory {
  /** Contract: as if nothing had ever been appended. Called once per run, before its first OBSERVE. */
  reset(): void
  append(turn: PastTurn): void
  /**
   * Contract: a function of what was appended and evicted since `reset`, and of the query. The prefix of a prompt is only as stable as this
   * answer is: it changes seldom, and then by a good deal. Another answer is heeded only where its `from` has moved on.
   */
  retrieve(query: MemoryQuery): MemoryView
  /** Contract: of turns [from, upto) a text that is shorter than they are; empty where this kind keeps none. */
  summarise(from: number, upto: number): string
  /** Contract: gives up about half of what is shown whole, oldest first; how many turns that were (0: there is nothing left to give). */
  evict(): number
}

/** A kind of memory, by the name that a set-up gives it. */
export interface MemoryKind {
  readonly name: string
  open(): Memory
}
