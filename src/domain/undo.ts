/** Undo: the work of runs taken back: files, documents, facts. It is recorded before it begins, and can be undone. */

import type { FactStatus } from './fact.ts'
import type { PathChange } from './path-change.ts'

/** `running`: not finished, whether it is being performed, a kill interrupted it, or it was stopped. */
export const UNDO_STATUSES = ['running', 'done', 'given_up'] as const
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

/** `changed_since`: after the undo was planned. `failed`: the system refused. `given_up`: by the owner. */
export const KEPT_REASONS = ['changed_since', 'failed', 'given_up'] as const

/** What an undo left as it was. */
export interface KeptByUndo {
  /** The folder of a path; null: `name` is a document. */
  readonly workspace: string | null
  readonly name: string
  readonly why: (typeof KEPT_REASONS)[number]
  /** Of `failed`: the reason. */
  readonly error: string | null
}

export interface Undo extends NewUndo {
  readonly status: UndoStatus
  readonly created_at: string
  readonly ended_at: string | null
  /** Why it was stopped in the middle: its owner finishes it or gives it up. Absent: it was not stopped. */
  readonly stopped?: string | undefined
  /** Absent: nothing. */
  readonly kept?: readonly KeptByUndo[] | undefined
}

/** Contract: pure; `undos` newest first. Undos that ended, and that no later one took back. */
export function undosInForce(undos: readonly Undo[]): readonly Undo[] {
  const takenBack = new Set<string>()
  return undos.filter(({ id, status, undoes }) => {
    if (status === 'running' || takenBack.has(id)) return false
    if (undoes !== null && status === 'done') takenBack.add(undoes)
    return true
  })
}

/** Contract: pure; `undos` newest first. Which undo took back each run. */
export function undoneRuns(undos: readonly Undo[]): ReadonlyMap<string, string> {
  const work = undosInForce(undos).filter(({ undoes, status }) => undoes === null && status === 'done')
  return new Map(work.flatMap(({ id, runs }) => runs.map((run) => [run, id] as const)))
}
