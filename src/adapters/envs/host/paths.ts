/** What a path says by its letters alone: the names below the root that lead to it, or a refusal. Links are found when it is opened. */

import { posix } from 'node:path'
import { refused } from './refusal.ts'

/** Contract: an empty list is the root itself; no name is empty, `.` or `..`, or holds a slash. */
export function namesBelow(root: string, path: string): readonly string[] {
  const expected = `a path below ${root}`
  if (path === '') throw refused(path, 'an empty path', { expected })
  if (/\p{Cc}/u.test(path) || !path.isWellFormed())
    throw refused(path, 'a NUL or another control character', { expected })
  if (/^file:/i.test(path)) throw refused(path, 'a URL', { expected })
  if (/^~(\/|$)/.test(path)) throw refused(path, 'a path in the home folder', { expected })
  // No name of ours holds one, and elsewhere it would be a separator.
  if (path.includes('\\')) throw refused(path, 'a backslash', { fix: 'separate names with /' })
  const relative = posix.relative(root, posix.resolve(root, path))
  if (relative === '..' || relative.startsWith('../')) throw refused(path, 'outside of the workspace', { expected })
  return relative === '' ? [] : relative.split('/')
}

export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root === '/' ? '/' : `${root}/`)
}
