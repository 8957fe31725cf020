/** One folder of a workspace, as people look at it. */

/** A link is listed, but not followed. */
interface FolderEntry {
  readonly name: string
  readonly kind: 'folder' | 'file' | 'link' | 'other'
  readonly bytes: number
  /** When its content last changed, in epoch milliseconds. */
  readonly modified: number
}

/**
 * Contract: a part of the entries of a folder inside the workspace, folders first, then by name; entries that disappear
 * meanwhile are left out. Throws `path_refused` as the tools do, `not_found` if there is no such folder. The path `.`
 * is the workspace itself, which must be a path without symbolic links.
 */
export type ListFolder = (
  workspace: string,
  path: string,
  page: { readonly offset: number; readonly limit: number },
) => Promise<{ readonly entries: readonly FolderEntry[]; readonly total: number }>
