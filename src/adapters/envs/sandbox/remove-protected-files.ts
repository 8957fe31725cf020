/**
 * Removes files that a command must not leave behind, after all of its processes have ended: new or changed files with
 * protected names, and, in repositories that it created or could change, files that would make git run a program.
 * Mounts at missing names are no alternative: every `ls` would show those names, and `git clone` would fail.
 */

import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isHarmlessConfig } from '../git-config.ts'
import { createQuarantine, type Quarantine } from './quarantine.ts'
import {
  pathToBytes,
  pathToText,
  REBASE_STEPS,
  type ScanFinding,
  scanWorkspace,
  type WorkspaceScan,
} from './workspace-scan.ts'

/** The state before a command; plain data, because it is saved as JSON in case of a crash. */
export interface BeforeCommand {
  readonly findings: readonly ScanFinding[]
  /** Paths of findings that were mounted, so that the command could not change them or their content. */
  readonly mounted: readonly string[]
  /** Files outside `.git` that git obeys. `path`: as in `ScanFinding`; `id`: null if the file did not exist. */
  readonly obeyed?: readonly { readonly path: string; readonly id: string | null }[]
}

interface SweepResult {
  /** Removed paths, relative to the root. */
  readonly taken: readonly string[]
  readonly scan: WorkspaceScan
}

/** `before`: the state before the command. `keep`: the home's folder for removed files. */
export async function removeProtectedFiles(root: string, before: BeforeCommand, keep: string): Promise<SweepResult> {
  const scan = await scanWorkspace(root)
  const quarantineFolder = createQuarantine(keep, root)
  const taken: string[] = []
  const take: Quarantine['take'] = (path) => {
    if (taken.some((outer) => path === outer || path.startsWith(`${outer}/`))) return
    quarantineFolder.take(path)
    taken.push(path)
  }
  const known = readKnownState(before)
  for (const finding of scan.findings) {
    if (finding.kind === 'too_deep' || (finding.kind === 'name' && !known.isSame(finding))) take(finding.path)
    if (finding.kind === 'repository') sweepRepository(root, finding, known, take)
  }
  for (const link of scan.findings.filter(({ kind }) => kind === 'link'))
    if (!known.isSame(link) && !leadsIntoWorkspace(root, link.path, scan.findings)) take(link.path)
  for (const { path, id } of before.obeyed ?? []) {
    const now = foundWithin(root, path)
    if (now && now.id !== id) take(now.path)
  }
  const isLeft = ({ path }: ScanFinding): boolean =>
    !taken.some((outer) => path === outer || path.startsWith(`${outer}/`))
  return { taken: taken.map(displayPath), scan: { ...scan, findings: scan.findings.filter(isLeft) } }
}

/** The path as messages show it: escaped if it is not valid text or contains invisible characters. */
function displayPath(path: string): string {
  const text = pathToText(path)
  return text === undefined || /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text) ? JSON.stringify(path) : text
}

interface KnownState {
  /** True if the file is unchanged: it was mounted and is at the same path, or it has the same stamp at any path. */
  isSame(finding: ScanFinding): boolean
  isSamePart(repository: ScanFinding, part: string): boolean
}

function readKnownState({ findings, mounted }: BeforeCommand): KnownState {
  const byId = new Map(findings.map((finding) => [finding.id, finding]))
  const guarded = new Set(mounted)
  const wasGuarded = (now: ScanFinding): boolean => guarded.has(now.path) && byId.get(now.id)?.path === now.path
  return {
    isSame: (now) => wasGuarded(now) || byId.get(now.id)?.stamp === now.stamp,
    isSamePart(now, part) {
      const stamp = byId.get(now.id)?.parts?.[part]
      return stamp !== undefined && (wasGuarded(now) || stamp === now.parts?.[part])
    },
  }
}

function sweepRepository(root: string, repository: ScanFinding, known: KnownState, take: Quarantine['take']): void {
  const parts = Object.keys(repository.parts ?? {}).filter((part) => !known.isSamePart(repository, part))
  for (const part of parts)
    if (isDangerous(root, repository.path, part)) take(repository.path === '' ? part : `${repository.path}/${part}`)
}

function isDangerous(root: string, repository: string, part: string): boolean {
  const path = pathToBytes(root, repository === '' ? part : `${repository}/${part}`)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return false
  if (part === 'hooks') return !stats.isDirectory()
  if (part.startsWith('hooks/')) return !part.endsWith('.sample')
  if (!stats.isFile()) return true
  const text = readText(path)
  if (part === REBASE_STEPS) return text === undefined || /^\s*(?:x|exec)\s/m.test(text)
  // Only the git folder of a linked worktree has a `commondir`, which must name the repository that contains it.
  if (part === 'commondir') return text?.trim() !== '../..' || !/(^|\/)worktrees\/[^/]+$/.test(repository)
  return text === undefined || !isHarmlessConfig(text, (value) => leadsInside(root, repository, value))
}

/** True for a `.git` file that points to a git folder inside the workspace. */
function leadsIntoWorkspace(root: string, link: string, findings: readonly ScanFinding[]): boolean {
  const path = pathToBytes(root, link)
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false
  const [, gitdir] = /^gitdir: (.+)\n?$/.exec(readText(path) ?? '') ?? []
  const [folder, top] = [pathToText(dirname(link)), pathToText(root)]
  if (gitdir === undefined || folder === undefined || top === undefined) return false
  const target = realPathOf(resolve(top, folder, gitdir))
  return findings.some(
    ({ kind, path: found }) => kind === 'repository' && join(root, pathToText(found) ?? '\0') === target,
  )
}

/** True if the work tree that `value` names, relative to the git folder `repository`, is inside the workspace. */
function leadsInside(root: string, repository: string, value: string): boolean {
  const folder = pathToText(repository)
  const target = folder === undefined ? undefined : realPathOf(resolve(root, folder, value))
  return target?.startsWith(`${root}/`) ?? false
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

const MAX_BYTES = 256 * 1024

function readText(path: Buffer): string | undefined {
  try {
    return lstatSync(path).size > MAX_BYTES ? undefined : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

interface FoundWithin {
  /** As in a scan finding; if a symbolic link is on the path, the first such link. */
  readonly path: string
  readonly id: string
}

/**
 * Contract: the file at `path`; undefined if there is none. Symbolic links are not followed, because they may lead to
 * files of other users: if `path` contains a link, the result is the first link.
 */
function foundWithin(root: string, path: string): FoundWithin | undefined {
  const names = path.split('/')
  for (const at of names.keys()) {
    const part = names.slice(0, at + 1).join('/')
    const stats = lstatSync(pathToBytes(root, part), { throwIfNoEntry: false })
    if (!stats) return undefined
    if (stats.isSymbolicLink() || at === names.length - 1)
      return { path: part, id: `${part} ${stats.dev}:${stats.ino}` }
  }
  return undefined
}

/** An id of the file at a path inside the root, to compare before and after a command; null if there is no file. */
export const fileIdWithin = (root: string, path: string): string | null =>
  foundWithin(root, Buffer.from(path.slice(root.length + 1)).toString('latin1'))?.id ?? null
