/** Undo: the work of runs taken back: files, documents, facts. It is recorded before it begins, and can be undone. */

import type { FactStatus } from './fact.ts'
import type { PathChange } from './path-change.ts'

export const UNDO_STATUSES = ['running', 'done'] as const
type UndoStatus = (typeof UNDO_STATUSES)[number]

/** A fact that changes its status. `ended_by` is its new value; null while it is known. */
export interface FactChange {
  readonly id: string
  readonly from: FactStatus
  readonly to: FactStatus
  readonly ended_by: string | null
}

/** The paths of a workspace that an undo changes: from what is there now to what it puts there. */
interface WorkspaceUndo {
  readonly workspace: string
  readonly changes: readonly PathChange[]
}

/** Versions of a document that an undo takes back, newest first. */
interface DocumentUndo {
  readonly name: string
  readonly versions: readonly number[]
}

/** Everything that an undo does, so that another process of its home can finish it. */
export interface NewUndo {
  readonly id: string
  /** What was asked for: a run, a session, a day, an undo. */
  readonly target: string
  /** The runs whose work is taken back, or comes back. */
  readonly runs: readonly string[]
  /** The undo that is taken back; null: the work of runs. */
  readonly undoes: string | null
  readonly workspaces: readonly WorkspaceUndo[]
  readonly documents: readonly DocumentUndo[]
  readonly facts: readonly FactChange[]
  /** Dispatches that have not started. */
  readonly cancelled: readonly string[]
  /** The home whose files it changes, if several homes share the store. */
  readonly home?: string | undefined
}

export interface Undo extends NewUndo {
  readonly status: UndoStatus
  readonly created_at: string
  readonly ended_at: string | null
}

/** Contract: pure; `undos` newest first. Undos that no later one took back. */
export function undosInForce(undos: readonly Undo[]): readonly Undo[] {
  const takenBack = new Set<string>()
  return undos.filter(({ id, status, undoes }) => {
    if (status !== 'done' || takenBack.has(id)) return false
    if (undoes !== null) takenBack.add(undoes)
    return true
  })
}

/** Contract: pure; `undos` newest first. Which undo took back each run. */
export function undoneRuns(undos: readonly Undo[]): ReadonlyMap<string, string> {
  const work = undosInForce(undos).filter(({ undoes }) => undoes === null)
  return new Map(work.flatMap(({ id, runs }) => runs.map((run) => [run, id] as const)))
}
