/** Gives a path one spelling in all tools, so that a file has only one name in the list of viewed files. */

import { posix } from 'node:path'
import type { Env } from '../../ports/env.ts'

/** Contract: the path relative to the root, without `.` and `..`. Precondition: the env has accepted the path. */
export function normalizePath(env: Env, path: string): string {
  return posix.relative(env.root, posix.resolve(env.root, path)) || '.'
}

/** Escapes control characters: a line break in a file name must not look like another entry. */
export function escapeControls(path: string): string {
  return path.replaceAll(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
