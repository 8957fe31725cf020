/** Snapshots: the files of a workspace after a step, stored where agents cannot reach them. */

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

export interface Snapshots {
  /** Contract: stores the files of the workspace for this step; never rejects. A failed snapshot is skipped. */
  take(workspace: string, step: StepRef): Promise<void>
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
  /** Contract: what changed between neighbouring snapshots of the run, oldest first. */
  changesOf(run_id: string): Promise<readonly StepChanges[]>
  /** Contract: the file in each snapshot of the run, oldest first; the first one precedes every write of the run. */
  versionsOf(run_id: string, path: string): Promise<readonly FileVersion[]>
  /** Contract: deletes the snapshots of these runs, with the stored files that no other run uses; never rejects. */
  forget(run_ids: readonly string[]): Promise<void>
}

export const NO_SNAPSHOTS: Snapshots = {
  take: async () => {},
  hasAny: async () => true,
  copyTo: async () => 'now',
  changesOf: async () => [],
  versionsOf: async () => [],
  forget: async () => {},
}
