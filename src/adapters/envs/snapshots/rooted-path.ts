/**
 * Reaches a path of a workspace for system calls: folders are opened one inside the other and links never followed, so
 * that nothing outside the workspace is touched.
 */

import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { TirelessError } from '../../../domain/error.ts'
import { readablePath } from '../../../domain/path-change.ts'
import { errno } from '../host/file-errors.ts'

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const isAnchored = existsSync('/proc/self/fd')

interface RootedPath {
  readonly root: string
  /** Bytes as Latin-1 text. */
  readonly path: string
  /** Called with each folder on the way, before anything in it is used. */
  readonly enter?: (folder: number, path: string) => void
}

/** Contract: calls `work` with a path of the entry; undefined, without calling it, if no folder is there. */
export function atPathIfThere<T>(rooted: RootedPath, work: (at: Buffer) => T): T | undefined {
  return walk(rooted, work, isMissing)
}

/** Contract: calls `work` with a path of the entry; throws if no folder is there. */
export function atPath<T>(rooted: RootedPath, work: (at: Buffer) => T): T {
  return walk(rooted, work, () => false) as T
}

function walk<T>(
  { root, path, enter }: RootedPath,
  work: (at: Buffer) => T,
  isNothing: (thrown: unknown) => boolean,
): T | undefined {
  const names = path.split('/')
  const [name = ''] = names.splice(-1)
  const handles: number[] = []
  try {
    let at = Buffer.from(root)
    for (let depth = 0; depth <= names.length; depth += 1) {
      const folder = names.slice(0, depth).join('/')
      try {
        handles.push(openSync(at, FOLDER))
      } catch (thrown) {
        if (isNothing(thrown)) return undefined
        throw isMissing(thrown) ? notAFolder(folder === '' ? root : readablePath(folder), thrown) : thrown
      }
      const handle = handles.at(-1) ?? -1
      enter?.(handle, folder)
      at = Buffer.concat([
        isAnchored ? Buffer.from(`/proc/self/fd/${handle}`) : at,
        Buffer.from(`/${names[depth] ?? name}`, 'latin1'),
      ])
    }
    return work(at)
  } finally {
    for (const handle of handles) closeSync(handle)
  }
}

const isMissing = (thrown: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errno(thrown) ?? '')

const notAFolder = (where: string, cause: unknown): TirelessError =>
  new TirelessError(
    'conflict',
    { what: 'this is no folder any more: it is gone, or a link or a file has taken its place', where },
    { cause },
  )
