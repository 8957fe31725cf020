/** Changes of paths in a workspace, as snapshots see them. Pure. */

/**
 * What is at a path: `f BITS ID` a file with permission bits, `l ID` a link, `d BITS` a folder; null: nothing. Equal
 * texts mean equal content and permissions.
 */
export type PathState = string | null

export interface PathChange {
  /** Bytes of the path as Latin-1 text, because names need not be valid UTF-8. */
  readonly path: string
  readonly before: PathState
  readonly after: PathState
  /** When the file before, and the file after, was last modified, in ms; missing if that is not known. */
  readonly beforeTime?: number | undefined
  readonly afterTime?: number | undefined
  /** Which file was there before, if it had more than one link: one that is still the same is changed in place. */
  readonly file?: string | undefined
}

/**
 * Why an entry is not in a snapshot. `unreadable`: the user who runs Tireless may not read it. `lost`: its stored
 * content was missing or damaged, and doctor took it out.
 */
export const OMISSIONS = ['dependencies', 'git_file', 'git_too_large', 'too_large', 'unreadable', 'lost'] as const
export type Omission = (typeof OMISSIONS)[number]

/** Contract: the path as people write it. */
export const readablePath = (path: string): string =>
  new TextDecoder().decode(Uint8Array.from(path, (char) => char.charCodeAt(0)))

export const isFolderState = (state: PathState): boolean => state?.startsWith('d ') ?? false
export const isFileState = (state: PathState): boolean => state?.startsWith('f ') ?? false

/** Contract: the path of the repository's folder that contains the path; undefined if none does. */
export function repositoryOf(path: string): string | undefined {
  const names = path.split('/')
  const at = names.indexOf('.git')
  return at < 0 ? undefined : names.slice(0, at + 1).join('/')
}

/** Paths as people see them, sorted. */
export interface PathSummary {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** Repositories of which something changed; their files are not listed. */
  readonly repositories: readonly string[]
}

/** Contract: a folder is listed, with a slash, only if nothing in it is. */
export function summarizeChanges(changes: readonly PathChange[]): PathSummary {
  const outside = changes.filter(({ path }) => repositoryOf(path) === undefined)
  const within = new Set(outside.flatMap(({ path }) => parentsOf(path)))
  const shown = outside.filter(
    ({ path, before, after }) =>
      !(isFolderState(before ?? after) && isFolderState(after ?? before) && within.has(path)),
  )
  const named = (pick: (change: PathChange) => boolean): string[] =>
    shown
      .filter(pick)
      .map(({ path, before, after }) => `${readablePath(path)}${isFolderState(after ?? before) ? '/' : ''}`)
      .sort()
  return {
    added: named(({ before }) => before === null),
    changed: named(({ before, after }) => before !== null && after !== null),
    removed: named(({ after }) => after === null),
    repositories: [...new Set(changes.flatMap(({ path }) => repositoryOf(path) ?? []))].map(readablePath).sort(),
  }
}

/** Contract: the folders that contain the path, outermost first. */
export function parentsOf(path: string): readonly string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, i) => names.slice(0, i + 1).join('/'))
}
