/**
 * What of a workspace git, an editor or another agent's program would obey. Found by a walk of our own through all of it: no number of folders
 * is too large, none is left out, links are not followed, and names are bytes, because an agent may choose bytes that are no text.
 */

import { createHash } from 'node:crypto'
import { type BigIntStats, chmodSync, type Dirent, lstatSync, readdirSync } from 'node:fs'
import { isGitName, isProtectedName } from '../protected.ts'

export interface ScanFinding {
  /** Relative to the root, a byte for each character (latin1); empty for the root. */
  readonly path: string
  /** `link`: a `.git` that is no folder. `too_deep`: a folder whose path is too long to be looked into. */
  readonly kind: 'repository' | 'link' | 'name' | 'too_deep'
  /** Names one file as long as it lives, wherever it is moved. */
  readonly id: string
  /** Another one after each change, also of what lies in it where it is a name; the kernel sets it, and nobody can set it back. */
  readonly stamp: string
  /** Of a repository: what git obeys in it, by name (`config`, `hooks/pre-commit`), with the stamps. */
  readonly parts?: Readonly<Record<string, string>>
}

export interface WorkspaceScan {
  readonly findings: readonly ScanFinding[]
  readonly folders: number
}

/** Beyond, system calls refuse a path; a name has at most 255 bytes. */
const LONGEST_PATH = 3500
const FOLDERS_A_TURN = 200

/** Contract: all there are, outer ones before inner ones. */
export async function scanWorkspace(root: string): Promise<WorkspaceScan> {
  const findings: ScanFinding[] = []
  const queue: string[] = ['']
  for (let at = 0; at < queue.length; at += 1) {
    const folder = queue[at] as string
    // Behind us nobody needs it any more, and there may be many.
    queue[at] = ''
    if (at % FOLDERS_A_TURN === FOLDERS_A_TURN - 1) await new Promise((resolve) => setImmediate(resolve))
    if (root.length + folder.length > LONGEST_PATH) findings.push(...findingAt(root, folder, 'too_deep'))
    else lookInto(root, folder, findings, queue)
  }
  return { findings, folders: queue.length }
}

function lookInto(root: string, folder: string, findings: ScanFinding[], queue: string[]): void {
  const names = new Set<string>()
  for (const entry of entriesOf(bytesOfPath(root, folder))) {
    const name = entry.name.toString('latin1')
    const path = folder === '' ? name : `${folder}/${name}`
    if (PARTS_OF_LAYOUT.test(name)) names.add(name.toLowerCase())
    if (entry.isDirectory()) queue.push(path)
    const text = entry.name.toString('utf8')
    if (isGitName(text)) {
      if (!entry.isDirectory()) findings.push(...findingAt(root, path, 'link'))
    } else if (isProtectedName(text, folder === '' ? undefined : nameOf(folder)))
      findings.push(...findingAt(root, path, 'name'))
  }
  // One that is not whole yet may be so after the next command.
  if (isLayout(names) || isGitName(nameOf(folder))) findings.push(...findingAt(root, folder, 'repository'))
}

const nameOf = (path: string): string => Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'latin1').toString('utf8')

const PARTS_OF_LAYOUT = /^(HEAD|objects|refs|commondir)$/i

/** As git decides it: with a common folder, objects and references are looked for there. */
const isLayout = (names: ReadonlySet<string>): boolean =>
  names.has('head') && (names.has('commondir') || (names.has('objects') && names.has('refs')))

/** Contract: empty where it is gone. */
function findingAt(root: string, path: string, kind: ScanFinding['kind']): readonly ScanFinding[] {
  const stats = statsOf(bytesOfPath(root, path))
  if (!stats) return []
  const parts = kind === 'repository' ? { parts: partsOf(bytesOfPath(root, path)) } : {}
  const stamp = kind === 'name' ? deepStampOf(bytesOfPath(root, path), stats) : stampOf(stats)
  return [{ path, kind, id: `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`, stamp, ...parts }]
}

/** Of a folder, with everything in it: a file that is rewritten leaves its folder as it was. */
function deepStampOf(path: Buffer, stats: BigIntStats): string {
  if (!stats.isDirectory()) return stampOf(stats)
  const digest = createHash('sha256')
  const queue = [path]
  for (const folder of queue) {
    // Too long a path is found by itself.
    if (folder.length > LONGEST_PATH) continue
    for (const entry of entriesOf(folder)) {
      const inner = below(folder, entry.name.toString('latin1'))
      const found = statsOf(inner)
      digest.update(inner).update(found ? stampOf(found) : '')
      if (entry.isDirectory()) queue.push(inner)
    }
  }
  return `${stampOf(stats)}:${digest.digest('hex')}`
}

/** What is left to do of a rebase: it may name programs, too. */
export const REBASE_STEPS = 'rebase-merge/git-rebase-todo'

/** What names programs or leads elsewhere. */
function partsOf(gitFolder: Buffer): Readonly<Record<string, string>> {
  const hooks = entriesOf(below(gitFolder, 'hooks')).map(({ name }) => `hooks/${name.toString('latin1')}`)
  const stamps = ['config', 'config.worktree', 'commondir', REBASE_STEPS, 'hooks', ...hooks].flatMap((name) => {
    const stats = statsOf(below(gitFolder, name))
    return stats ? [[name, stats.isSymbolicLink() ? 'link' : stampOf(stats)] as const] : []
  })
  return Object.fromEntries(stamps)
}

const stampOf = ({ ino, size, ctimeNs, mode }: BigIntStats): string => `${ino}:${size}:${ctimeNs}:${mode}`

const statsOf = (path: Buffer): BigIntStats | undefined => {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** A folder that its owner has shut is opened: what cannot be looked into could hold anything. */
function entriesOf(folder: Buffer): Dirent<NonSharedBuffer>[] {
  const list = () => readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
  try {
    return list()
  } catch {
    try {
      if (!lstatSync(folder).isDirectory()) return []
      chmodSync(folder, 0o700)
      return list()
    } catch {
      return []
    }
  }
}

export const bytesOfPath = (root: string, path: string): Buffer => (path === '' ? Buffer.from(root) : below(root, path))

const below = (folder: string | Buffer, path: string): Buffer =>
  Buffer.concat([Buffer.from(folder as string), Buffer.from('/'), Buffer.from(path, 'latin1')])

/** Contract: the path as text, for people and arguments of programs; undefined where it is none. */
export function textOfPath(path: string): string | undefined {
  const bytes = Buffer.from(path, 'latin1')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}
