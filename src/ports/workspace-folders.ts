/** The folders of this home in which agents work, also those whose sessions are gone. */

/** A folder that its owner removed, and that can be brought back for some days. */
export interface RemovedWorkspace {
  /** Starts with `removed-`. */
  readonly id: string
  /** Where it was. */
  readonly workspace: string
  readonly bytes: number
  readonly files: number
  /** Borne-out time of the removal, and the end of the days in which it can be brought back. */
  readonly removed_at: number
  readonly until: number
}

export interface WorkspaceFolders {
  /** Contract: every folder of a workspace that is there, by its path; sorted. */
  list(): Promise<readonly string[]>
  /** Contract: whether the folder is one of them. */
  has(workspace: string): Promise<boolean>
  /** Contract: of everything in the folder, also of repositories; links are not followed. */
  size(workspace: string): Promise<{ readonly files: number; readonly bytes: number }>
  /**
   * Contract: moves the folder to where removed ones are kept; throws `conflict` if it is none of this home. A folder
   * that is a link moves as a link: what it points to stays.
   */
  remove(removed: Omit<RemovedWorkspace, 'until'>): Promise<RemovedWorkspace>
  /** Contract: deletes the folder at once. */
  delete(workspace: string): Promise<void>
  /** Contract: those that can be brought back, newest first. */
  removed(): Promise<readonly RemovedWorkspace[]>
  /** Contract: moves it back; throws `conflict` if something else is in its place, and changes nothing then. */
  bringBack(id: string): Promise<RemovedWorkspace>
  /** Contract: deletes those whose days are over by this instant; returns them. */
  deleteExpired(now: number): Promise<readonly RemovedWorkspace[]>
  /** Contract: deletes folders of these runs that are empty, and copies of sub-agents whose work is elsewhere. */
  deleteOfRuns(runs: readonly { readonly run_id: string; readonly isMerged: boolean }[]): Promise<void>
}
