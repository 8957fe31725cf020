/** ReceivedFiles: keeps the files that people send in workspaces. */

export interface ReceivedFiles {
  /**
   * Contract: the file is in the workspace, under these names, when it resolves; replaces an earlier version. Throws
   * `path_refused` if a folder of the path is a link, or the name is protected, and follows no link.
   */
  save(workspace: string, names: readonly string[], bytes: Uint8Array): Promise<void>
  /** Contract: the same file is in the other workspace when it resolves; throws as `save` does, or `not_found`. */
  copy(from: string, to: string, names: readonly string[]): Promise<void>
  /** Contract: the size in bytes of all files in this folder of the workspace; 0 if there is none. */
  sizeOf(workspace: string, names: readonly string[]): Promise<number>
}
