/** Checks the text of a path and splits it into names below the root. Links are detected when the path is opened. */

import { posix } from 'node:path'
import { truncateText } from '../../../domain/truncate.ts'
import { pathRefused } from './file-errors.ts'

/** Half of the Linux limit for a path, because that limit includes the path of the root. */
const MAX_BYTES = 2048

/** Contract: an empty list means the root itself; no name is empty, `.` or `..`, or contains a slash. */
export function splitPathBelow(root: string, path: string): readonly string[] {
  const expected = `a path below ${root}`
  if (path === '') throw pathRefused(path, 'the path is empty', { expected })
  if (/\p{Cc}/u.test(path) || !path.isWellFormed())
    throw pathRefused(path, 'the path contains a NUL or another control character', { expected })
  if (/^file:/i.test(path)) throw pathRefused(path, 'this is a URL, not a path', { expected })
  if (/^~(\/|$)/.test(path)) throw pathRefused(path, 'the path is in the home folder', { expected })
  // A backslash separates names on Windows.
  if (path.includes('\\')) throw pathRefused(path, 'the path contains a backslash', { fix: 'separate names with /' })
  const relative = posix.relative(root, posix.resolve(root, path))
  if (relative === '..' || relative.startsWith('../'))
    throw pathRefused(path, 'the path is outside the workspace', { expected })
  // Checked before a folder is created: a folder with a longer path could not be removed by its path.
  if (Buffer.byteLength(relative) > MAX_BYTES)
    throw pathRefused(truncateText(path, 60), 'the path is too long', { expected: `at most ${MAX_BYTES} bytes` })
  return relative === '' ? [] : relative.split('/')
}

export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root === '/' ? '/' : `${root}/`)
}
