/** Where things go that a command must not leave in a workspace: they are kept aside in the home, under the names they had. */

import { execFileSync } from 'node:child_process'
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errno } from '../host/refusal.ts'
import { bytesOfPath, textOfPath } from './workspace-scan.ts'

/** How often things were taken away that are still kept. */
const MOST_KEPT = 100
/** On another disk it has to be copied; what is larger is removed. */
const MOST_COPIED_ENTRIES = 10_000

export interface Quarantine {
  /** Contract: `path` as a scan tells it; afterwards nothing is there, whatever came of keeping it. */
  take(path: string): void
}

/** `folder`: of the home; made when something is taken. */
export function quarantine(folder: string, root: string): Quarantine {
  let place: string | undefined
  const open = (): string => {
    if (place !== undefined) return place
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    forgetOldest(folder)
    place = mkdtempSync(join(folder, 'taken-'))
    writeFileSync(join(place, 'from'), `${root}\n`)
    return place
  }
  return {
    take(path) {
      try {
        const to = bytesOfPath(join(open(), 'files'), path === '' ? 'root' : path)
        mkdirSync(to.subarray(0, to.lastIndexOf('/')), { recursive: true, mode: 0o700 })
        move(root, path, to)
      } catch {
        // What cannot be kept must not stay either.
        remove(root, path)
      }
    },
  }
}

function move(root: string, path: string, to: Buffer): void {
  const from = bytesOfPath(root, path)
  try {
    renameSync(from, to)
  } catch (thrown) {
    const [source, target] = [textOfPath(from.toString('latin1')), textOfPath(to.toString('latin1'))]
    if (errno(thrown) !== 'EXDEV' || source === undefined || target === undefined || isLarge(source)) throw thrown
    cpSync(source, target, { recursive: true, verbatimSymlinks: true, errorOnExist: true })
    remove(root, path)
  }
}

const isLarge = (path: string): boolean =>
  lstatSync(path).isDirectory() && readdirSync(path, { recursive: true }).length > MOST_COPIED_ENTRIES

function remove(root: string, path: string): void {
  try {
    rmSync(bytesOfPath(root, path), { recursive: true, force: true })
  } catch (thrown) {
    // A tree may be deeper than any path is long; this program goes down step by step.
    const text = textOfPath(path)
    if (text === undefined) throw thrown
    execFileSync('/bin/rm', ['-rf', '--', `./${text}`], { cwd: root, stdio: 'ignore' })
  }
}

function forgetOldest(folder: string): void {
  const kept = readdirSync(folder)
    .map((name) => ({ name, at: lstatSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at)
  for (const { name } of kept.slice(MOST_KEPT - 1)) rmSync(join(folder, name), { recursive: true, force: true })
}
