/** The peers' packages, from their own lock file: they are no part of the program, and nobody needs them but the bench. */

import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LOCK = join(import.meta.dirname, 'package-lock.json')
/** A copy of the lock file says that what is installed is what it names. */
const STAMP = join(import.meta.dirname, 'node_modules', '.installed.json')

/** Contract: says why they cannot be had, or nothing. Quick when they are there. */
export function ensurePeers(say: (line: string) => void): string | undefined {
  if (hasPeers()) return undefined
  say("bench: installing the peers' packages, once …")
  // Without their scripts: what is native among them brings its binaries along.
  const { status, stderr, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--loglevel=error'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (error || status !== 0) return `npm ci failed in bench/peers (${error?.message ?? stderr.trim()})`
  copyFileSync(LOCK, STAMP)
  return undefined
}

/** Contract: installs nothing. */
export function hasPeers(): boolean {
  try {
    return readFileSync(LOCK).equals(readFileSync(STAMP))
  } catch {
    return false
  }
}
