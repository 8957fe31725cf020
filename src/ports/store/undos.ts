/** Undos: what each takes back, and whether it is finished. */

import type { FactChange, KeptByUndo, NewUndo, Undo } from '../../domain/undo.ts'
import type { PageLimit } from './page-limit.ts'

export type UndoOp =
  /** Records an undo before it changes anything; a `conflict` if its id is known. */
  | { readonly op: 'undo_begin'; readonly undo: NewUndo; readonly now: number }
  /** Records why the undo stopped in the middle; `not_found` unless it is running. */
  | {
      readonly op: 'undo_stop'
      readonly id: string
      readonly why: string
      readonly kept: readonly KeptByUndo[]
    }
  /** Ends the undo; `not_found` unless it is running. */
  | {
      readonly op: 'undo_end'
      readonly id: string
      readonly how: 'done' | 'given_up'
      readonly kept: readonly KeptByUndo[]
      readonly now: number
    }
  /** Changes the status of facts, all or none; a `conflict` if one of them has another status than `from`. */
  | { readonly op: 'change_facts'; readonly changes: readonly FactChange[] }

export interface UndoResults {
  undo_begin: null
  undo_stop: null
  undo_end: null
  change_facts: null
}

export interface UndoReads {
  undo(id: string): Promise<Undo | undefined>
  /** Contract: newest first. */
  undos(page: PageLimit): Promise<readonly Undo[]>
  /** Contract: the undos that are not finished, oldest first. */
  unfinishedUndos(): Promise<readonly Undo[]>
}
