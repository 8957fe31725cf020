/** Installs the packages of the peers from their own lock file. Only the bench needs them. */

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LOCK = join(import.meta.dirname, 'package-lock.json')
/** A copy of the lock file that was installed. */
const STAMP = join(import.meta.dirname, 'node_modules', '.installed.json')

/** Contract: why the peers cannot be installed; undefined if they are installed. */
export function ensurePeers(say: (line: string) => void): string | undefined {
  if (hasPeers()) return undefined
  say("bench: installing the peers' packages (only once) …")
  // Install scripts are not needed: native packages include their binaries.
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

/** Contract: the versions of those that are installed. */
export function peerVersions(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const manifest = join(import.meta.dirname, 'node_modules', name, 'package.json')
      return existsSync(manifest) ? [[name, String(JSON.parse(readFileSync(manifest, 'utf8')).version)]] : []
    }),
  )
}
