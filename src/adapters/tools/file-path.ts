/** A path as every tool spells it, so that a file has one name in what a session has seen. */

import { posix } from 'node:path'
import type { Env } from '../../ports/env.ts'

/** Contract: relative to the root, without `.` and `..`; only for a path that the env has accepted. */
export function spelled(env: Env, path: string): string {
  return posix.relative(env.root, posix.resolve(env.root, path)) || '.'
}

/** Names come from anybody; a line break in one must not look like another entry. */
export function shown(path: string): string {
  return path.replaceAll(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
