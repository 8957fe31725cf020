/** Snapshots: the files of a workspace as a step left them, kept where no agent can reach them. */

export interface StepRef {
  readonly run_id: string
  readonly turn: number
}

/** `kept`: as that step left them. `now`: no snapshot was taken, so the files are copied as they are now. */
export type WorkspaceSource = 'kept' | 'now'

export interface Snapshots {
  /** Contract: keeps the files of the workspace under this step; never rejects. What cannot be kept is left out, see `copyTo`. */
  take(workspace: string, step: StepRef): Promise<void>
  /** Contract: whether this run has a snapshot. */
  hasAny(run_id: string): Promise<boolean>
  /**
   * Contract: the workspace as it was after that step, in a folder that does not exist yet. `as` gets the snapshots of the steps up to there, so
   * that it can be forked in turn.
   */
  copyTo(
    folder: string,
    of: { readonly workspace: string; readonly step: StepRef; readonly as: string },
  ): Promise<WorkspaceSource>
  /** Contract: removes the snapshots of these runs and whatever only they needed; never rejects. */
  forget(run_ids: readonly string[]): Promise<void>
}

export const NO_SNAPSHOTS: Snapshots = {
  take: async () => {},
  hasAny: async () => true,
  copyTo: async () => 'now',
  forget: async () => {},
}
