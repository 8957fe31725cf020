/**
 * Scans a workspace for repositories and protected names, which git, an editor or another agent program would obey. The
 * scan visits every folder, however many there are, and follows no links. Names are bytes, because an agent may choose
 * names that are not valid text.
 */

import { createHash } from 'node:crypto'
import { type BigIntStats, chmodSync, type Dirent, lstatSync, readdirSync } from 'node:fs'
import { isGitName, isProtectedName } from '../protected-names.ts'

export interface ScanFinding {
  /** Relative to the root; each character is one byte (latin1). Empty for the root. */
  readonly path: string
  /** `link`: a `.git` that is not a folder. `too_deep`: a folder whose path is too long to read. */
  readonly kind: 'repository' | 'link' | 'name' | 'too_deep'
  /** Identifies one file until it is deleted, even if it is moved. */
  readonly id: string
  /**
   * Differs after each change of the file; for a folder of the kind `name`, also after changes inside the folder. Uses
   * ctime, which no program can reset.
   */
  readonly stamp: string
  /** For a repository: the stamps of files that git obeys, by name (`config`, `hooks/pre-commit`). */
  readonly parts?: Readonly<Record<string, string>>
}

export interface WorkspaceScan {
  readonly findings: readonly ScanFinding[]
  readonly folders: number
}

/** In bytes. System calls refuse paths above 4096 bytes; the rest is room for the name of an entry (at most 255). */
const MAX_PATH_LENGTH = 3500
const FOLDERS_PER_PAUSE = 200

/** Contract: returns all findings, outer folders before inner ones. */
export async function scanWorkspace(root: string): Promise<WorkspaceScan> {
  const findings: ScanFinding[] = []
  const queue: string[] = ['']
  for (let at = 0; at < queue.length; at += 1) {
    const folder = queue[at] as string
    // Frees the string's memory, because there may be many folders.
    queue[at] = ''
    if (at % FOLDERS_PER_PAUSE === FOLDERS_PER_PAUSE - 1) await new Promise((resolve) => setImmediate(resolve))
    if (root.length + folder.length > MAX_PATH_LENGTH) findings.push(...findingAt(root, folder, 'too_deep'))
    else scanFolder(root, folder, findings, queue)
  }
  return { findings, folders: queue.length }
}

function scanFolder(root: string, folder: string, findings: ScanFinding[], queue: string[]): void {
  const names = new Set<string>()
  for (const entry of entriesOf(pathToBytes(root, folder))) {
    const name = entry.name.toString('latin1')
    const path = folder === '' ? name : `${folder}/${name}`
    if (REPOSITORY_FILES.test(name)) names.add(name.toLowerCase())
    if (entry.isDirectory()) queue.push(path)
    const text = entry.name.toString('utf8')
    if (isGitName(text)) {
      if (!entry.isDirectory()) findings.push(...findingAt(root, path, 'link'))
    } else if (isProtectedName(text, folder === '' ? undefined : nameOf(folder)))
      findings.push(...findingAt(root, path, 'name'))
  }
  // A folder `.git` always counts: if the repository is incomplete, the next command may complete it.
  if (isRepository(names) || isGitName(nameOf(folder))) findings.push(...findingAt(root, folder, 'repository'))
}

const nameOf = (path: string): string => Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'latin1').toString('utf8')

const REPOSITORY_FILES = /^(HEAD|objects|refs|commondir)$/i

/** Git's own rule for a repository. If there is a `commondir`, objects and refs are in the folder that it names. */
const isRepository = (names: ReadonlySet<string>): boolean =>
  names.has('head') && (names.has('commondir') || (names.has('objects') && names.has('refs')))

/** Contract: empty if the path no longer exists. */
function findingAt(root: string, path: string, kind: ScanFinding['kind']): readonly ScanFinding[] {
  const stats = statsOf(pathToBytes(root, path))
  if (!stats) return []
  const parts = kind === 'repository' ? { parts: partsOf(pathToBytes(root, path)) } : {}
  const stamp = kind === 'name' ? deepStampOf(pathToBytes(root, path), stats) : stampOf(stats)
  return [{ path, kind, id: `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`, stamp, ...parts }]
}

/** The stamp of a folder includes everything in it, because rewriting a file does not change its folder's own stamp. */
function deepStampOf(path: Buffer, stats: BigIntStats): string {
  if (!stats.isDirectory()) return stampOf(stats)
  const digest = createHash('sha256')
  const queue = [path]
  for (const folder of queue) {
    // The scan reports a path that is too long as a finding of its own.
    if (folder.length > MAX_PATH_LENGTH) continue
    for (const entry of entriesOf(folder)) {
      const inner = below(folder, entry.name.toString('latin1'))
      const found = statsOf(inner)
      digest.update(inner).update(found ? stampOf(found) : '')
      if (entry.isDirectory()) queue.push(inner)
    }
  }
  return `${stampOf(stats)}:${digest.digest('hex')}`
}

/** File with the remaining steps of a rebase, which may name programs to run. */
export const REBASE_STEPS = 'rebase-merge/git-rebase-todo'

/** Stamps of the files in a git folder that name programs, or point to another folder. */
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

/** The entries of a folder. An unreadable folder is made readable first, because it could contain anything. */
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

export const pathToBytes = (root: string, path: string): Buffer => (path === '' ? Buffer.from(root) : below(root, path))

const below = (folder: string | Buffer, path: string): Buffer =>
  Buffer.concat([Buffer.from(folder as string), Buffer.from('/'), Buffer.from(path, 'latin1')])

/** Contract: the path as text, for messages and program arguments; undefined if it is not valid UTF-8. */
export function pathToText(path: string): string | undefined {
  const bytes = Buffer.from(path, 'latin1')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}
