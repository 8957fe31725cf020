/** Moves files that a command must not leave in a workspace to a folder of the home; the files keep their names. */

import { execFileSync } from 'node:child_process'
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeNewFile } from '../../../files/whole-files.ts'
import { errno } from '../host/file-errors.ts'
import { pathToBytes, pathToText } from './workspace-scan.ts'

/** Number of quarantine folders to keep; older folders are deleted. */
const MAX_KEPT = 100
/** If the home is on another disk, files are copied. A folder with more entries than this is deleted instead. */
const MAX_COPIED_ENTRIES = 10_000

export interface Quarantine {
  /** Contract: removes `path` (as in `ScanFinding`) from the workspace, even if it cannot be kept. */
  take(path: string): void
}

/** `folder`: a folder of the home, created on first use. */
export function createQuarantine(folder: string, root: string): Quarantine {
  let target: string | undefined
  const open = (): string => {
    if (target !== undefined) return target
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    deleteOldest(folder)
    target = mkdtempSync(join(folder, 'taken-'))
    writeNewFile(join(target, 'from'), `${root}\n`)
    return target
  }
  return {
    take(path) {
      try {
        const to = pathToBytes(join(open(), 'files'), path === '' ? 'root' : path)
        mkdirSync(to.subarray(0, to.lastIndexOf('/')), { recursive: true, mode: 0o700 })
        move(root, path, to)
      } catch {
        // A file that cannot be kept must not stay in the workspace either.
        remove(root, path)
      }
    },
  }
}

function move(root: string, path: string, to: Buffer): void {
  const from = pathToBytes(root, path)
  try {
    renameSync(from, to)
  } catch (thrown) {
    const [source, target] = [pathToText(from.toString('latin1')), pathToText(to.toString('latin1'))]
    if (errno(thrown) !== 'EXDEV' || source === undefined || target === undefined || isLarge(source)) throw thrown
    cpSync(source, target, { recursive: true, verbatimSymlinks: true, errorOnExist: true })
    remove(root, path)
  }
}

const isLarge = (path: string): boolean =>
  lstatSync(path).isDirectory() && readdirSync(path, { recursive: true }).length > MAX_COPIED_ENTRIES

function remove(root: string, path: string): void {
  try {
    rmSync(pathToBytes(root, path), { recursive: true, force: true })
  } catch (thrown) {
    // A tree may be deeper than the longest path; rm descends step by step.
    const text = pathToText(path)
    if (text === undefined) throw thrown
    execFileSync('/bin/rm', ['-rf', '--', `./${text}`], { cwd: root, stdio: 'ignore' })
  }
}

function deleteOldest(folder: string): void {
  const kept = readdirSync(folder)
    .map((name) => ({ name, at: lstatSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at)
  for (const { name } of kept.slice(MAX_KEPT - 1)) rmSync(join(folder, name), { recursive: true, force: true })
}
