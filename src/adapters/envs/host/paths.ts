/** What a path says by its letters alone: the names below the root that lead to it, or a refusal. Links are found when it is opened. */

import { posix } from 'node:path'
import { refused } from './refusal.ts'

/** Linux takes twice as many, with the root before them. */
const MOST_BYTES = 2048

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
  // Before a folder is made for it: what lies too deep nobody can remove by its name.
  if (Buffer.byteLength(relative) > MOST_BYTES)
    throw refused(`${path.slice(0, 60)}…`, 'too long', { expected: `at most ${MOST_BYTES} bytes` })
  return relative === '' ? [] : relative.split('/')
}

export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root === '/' ? '/' : `${root}/`)
}
