/**
 * Snapshots: the files of a workspace before and after the steps of a run, stored where agents cannot reach them. Undos
 * and merges write in workspaces too, so a writer is a run, or another change with an id of its own.
 */

import type { Omission, PathChange, PathState } from '../domain/path-change.ts'

interface StepRef {
  readonly run_id: string
  readonly turn: number
}

/**
 * Where the copied files come from. `kept`: the snapshot of that step. `now`: there is no such snapshot, so the current
 * files were copied.
 */
type WorkspaceSource = 'kept' | 'now'

/** A step whose snapshot differs from the one before it. Paths are relative to the workspace. */
export interface StepChanges {
  readonly turn: number
  readonly paths: readonly string[]
}

/** A file as one snapshot has it; null: there was no such file. */
export interface FileVersion {
  readonly turn: number
  readonly content: Uint8Array | null
}

/** The files of a workspace as they are now. */
export interface PresentFiles {
  readonly files: number
  readonly bytes: number
  readonly paths: readonly { readonly path: string; readonly bytes: number }[]
}

/** `partly`: an interrupted write left it between both states. `changed_since`: it has neither state. */
export type ChangeProgress = 'to_do' | 'partly' | 'done' | 'changed_since'

/** A path that was not changed. `error`: the reason, of `failed`. */
export interface PathLeft {
  readonly path: string
  readonly why: 'changed_since' | 'failed'
  readonly error: string | null
}

/** A time in which one writer held the workspace: from its first write, or the first one after a wait, to its last. */
export interface WriteSpan {
  readonly writer: string
  readonly workspace: string
  readonly from: number
  readonly to: number
  /** Ids of the snapshots. */
  readonly before: string
  readonly after: string
  /** From a crash to the restart: the writer's interrupted calls may have written, or anybody else. */
  readonly isUncertain?: true
  /** At its start: files with more than one link, by path, as `PathChange.file` names them. */
  readonly linked?: Readonly<Record<string, string>>
}

/** The copy of a workspace that is merged into the original. */
interface WorkspaceMerge {
  /** The run that worked in the copy; its first snapshot is the base of the merge. */
  readonly run_id: string
  readonly from: string
  readonly into: string
}

/** Paths relative to the original. */
export interface MergeResult {
  readonly files: readonly string[]
  /** `kept_at`: where in the original the copy's version is; null: the copy has none. */
  readonly conflicts: readonly { readonly path: string; readonly kept_at: string | null }[]
}

/** What a writer's snapshots have lost; null: at least one of them as a whole. */
export interface LostFiles {
  readonly writer: string
  readonly paths: readonly string[] | null
}

/** What a snapshot leaves out, by path; or why there can be none at all. */
export type Uncovered = ReadonlyMap<string, Omission> | 'not_listed' | 'too_many_entries'

interface SnapshotCheck {
  readonly snapshots: number
  /** Of a large store, the newest snapshots only. */
  readonly checked: number
  readonly objects: number
  readonly bytes: number
  /** Objects whose content was read; of the others it is known that they are there. */
  readonly read: number
  /** After a repair: what was taken out of the snapshots. */
  readonly lost: readonly LostFiles[]
  readonly isFixed: boolean
  /** Writers whose snapshots are whole again. */
  readonly repaired: number
}

export interface Snapshots {
  /**
   * Contract: stores the files of the workspace for this step, and returns the snapshot's id; never rejects: a snapshot
   * that fails is skipped, with undefined, and earlier ones stay. What cannot be read is left out, and so is the large
   * remainder of a workspace that is too large. `before`: precedes the next write of this writer; what others changed
   * since its last snapshot is not its work. `recovered`: the same after a crash in a write, so that it is uncertain
   * whose work it is.
   */
  take(
    workspace: string,
    step: StepRef & { readonly before?: true; readonly recovered?: true },
  ): Promise<string | undefined>
  /** Contract: whether this run has a snapshot. */
  hasAny(run_id: string): Promise<boolean>
  /**
   * Contract: writes the workspace as it was after that step into `folder`, which must not exist. Also gives run `as` a
   * copy of the snapshots of all steps up to that one, so that run `as` can be forked, too.
   */
  copyTo(
    folder: string,
    of: { readonly workspace: string; readonly step: StepRef; readonly as: string },
  ): Promise<WorkspaceSource>
  /** Contract: what changed between neighbouring snapshots of the run, oldest first; no files of repositories. */
  changesOf(run_id: string): Promise<readonly StepChanges[]>
  /**
   * Contract: the files that the run added or changed, without those that it removed again and those of repositories,
   * sorted; never rejects. Empty if the run has no snapshots.
   */
  filesMadeBy(run_id: string): Promise<readonly string[]>
  /** Contract: the file in each snapshot of the run, oldest first; the first one precedes every write of the run. */
  versionsOf(run_id: string, path: string): Promise<readonly FileVersion[]>
  /** Contract: an id for the present files, which no writer keeps; undefined if they cannot be stored. */
  look(workspace: string): Promise<string | undefined>
  /**
   * Contract: how far each change has come, by path; writes nothing. Throws `conflict` if the folder is gone. `id`: of
   * the change, which names unfinished files.
   */
  progress(workspace: string, changes: readonly PathChange[], id: string): Promise<ReadonlyMap<string, ChangeProgress>>
  /**
   * Contract: every path that has the state `before`, or is partly written, gets the state `after`; returns the others.
   * Can be repeated after a kill. Follows no link, and leaves a folder that is to go if it has other entries. Throws
   * `conflict` if the folder is gone. `only: 'partly'`: no other paths; removes unfinished files, too.
   */
  restore(workspace: string, changes: readonly PathChange[], id: string, only?: 'partly'): Promise<readonly PathLeft[]>
  /** Contract: who wrote where and when, oldest first; without `writers`: all that are kept. */
  spans(writers?: readonly string[]): Promise<readonly WriteSpan[]>
  /**
   * Contract: every path that differs between two snapshots, folders and repositories included, sorted; without paths
   * that one of the two left out, as nothing is known of them.
   */
  compare(before: string, after: string): Promise<readonly PathChange[]>
  /** Contract: what any of the snapshots left out, by path. */
  omittedFrom(...snapshots: readonly string[]): Promise<ReadonlyMap<string, Omission>>
  /** Contract: what a snapshot of the workspace would leave out now, by path; reads no contents. */
  uncovered(workspace: string): Promise<Uncovered>
  /** Contract: paths of changes whose stored content is missing or damaged, so that `restore` could not put it back. */
  lostOf(changes: readonly PathChange[]): Promise<readonly string[]>
  /**
   * Contract: the content of a file, or the target of a link; null for a folder or nothing. Rejects if it is missing or
   * damaged.
   */
  contentOf(state: PathState): Promise<Uint8Array | null>
  /**
   * Contract: takes over what the copy changed, without its repositories. A path that the original changed too is
   * merged by lines, or stays as it is and is a conflict. Repeated after a kill, it ends the same. No other process may
   * write to the original meanwhile. The merge is a writer of its own, `merge-RUN`. Undefined: it could not be done.
   */
  merge(merge: WorkspaceMerge): Promise<MergeResult | undefined>
  /** Contract: counts the files without repositories and `node_modules`, and names up to `limit` of them. */
  presentFiles(workspace: string, limit: number): Promise<PresentFiles>
  /** Contract: deletes the snapshots of these runs, with the stored files that no other run uses; never rejects. */
  forget(run_ids: readonly string[]): Promise<void>
  /**
   * Contract: whether what snapshots name is stored and intact. `fix`: writes again what a workspace still has, and
   * takes the rest out of the snapshots, where it then counts as left out.
   */
  check(fix: boolean): Promise<SnapshotCheck>
}

export const NO_SNAPSHOTS: Snapshots = {
  take: async () => undefined,
  hasAny: async () => true,
  copyTo: async () => 'now',
  changesOf: async () => [],
  filesMadeBy: async () => [],
  versionsOf: async () => [],
  look: async () => undefined,
  progress: async (_, changes) => new Map(changes.map(({ path }) => [path, 'to_do'])),
  restore: async () => [],
  spans: async () => [],
  compare: async () => [],
  omittedFrom: async () => new Map(),
  uncovered: async () => new Map(),
  lostOf: async () => [],
  contentOf: async () => null,
  presentFiles: async () => ({ files: 0, bytes: 0, paths: [] }),
  merge: async () => undefined,
  forget: async () => {},
  check: async () => ({
    snapshots: 0,
    checked: 0,
    objects: 0,
    bytes: 0,
    read: 0,
    lost: [],
    isFixed: false,
    repaired: 0,
  }),
}
