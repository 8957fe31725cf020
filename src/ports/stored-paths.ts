/** Paths in records: one below the home is stored relative to it, so that it stays right when the home moves. */

import { isAbsolute, join, relative, sep } from 'node:path'

export interface StoredPaths {
  /** The home folder, as a real path. */
  readonly root: string
  /** Where the home was before; newest last. */
  readonly formerRoots: readonly string[]
  /** Contract: pure; relative to the home, with slashes, if the path is the home or below it; else unchanged. */
  toStored(path: string): string
  /** Contract: pure; the absolute path of what `toStored` returned. */
  fromStored(stored: string): string
  /**
   * Contract: pure; as `fromStored`, of a path that a version before stored, which stored every path as absolute. What
   * was a folder for work in a former place of the home is that folder of this home.
   */
  fromEarlier(stored: string): string
}

/** The folders of a home that agents, and servers of tools, work in; paths of others were never stored. */
const FOR_WORK = /^(workspaces|inbox|servers|copies)(\/|$)/

export function createStoredPaths(root: string, formerRoots: readonly string[] = []): StoredPaths {
  const fromStored = (stored: string): string => (isAbsolute(stored) ? stored : join(root, stored))
  return {
    ...{ root, formerRoots },
    toStored: (path) => pathBelow(root, path) ?? path,
    fromStored,
    fromEarlier: (stored) => fromStored(relativeToHome(stored, [root, ...formerRoots])),
  }
}

/** Contract: pure; where the home is, and where it was. */
export const placesOf = ({ root, formerRoots }: StoredPaths): readonly string[] => [root, ...formerRoots]

/** Contract: pure; relative to the home if the path is a folder for work below one of its places; else unchanged. */
export function relativeToHome(path: string, roots: readonly string[]): string {
  for (const root of roots) {
    const below = pathBelow(root, path)
    if (below !== undefined && FOR_WORK.test(below)) return below
  }
  return path
}

/** Contract: pure; the path below a folder, with slashes, `.` for the folder itself; undefined if it is elsewhere. */
export function pathBelow(folder: string, path: string): string | undefined {
  if (!isAbsolute(path)) return undefined
  const below = relative(folder, path)
  if (below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) return undefined
  return below === '' ? '.' : below.split(sep).join('/')
}

/** Paths that are stored as they are: outside of any home. */
export const PATHS_AS_THEY_ARE: StoredPaths = {
  ...{ root: '/', formerRoots: [] },
  toStored: (path) => path,
  fromStored: (stored) => stored,
  fromEarlier: (stored) => stored,
}
