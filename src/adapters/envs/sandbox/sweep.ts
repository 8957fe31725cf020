/**
 * What a command must not leave behind, taken away when nothing of it runs any more: files of protected names that were not there
 * before (to mask a missing name would show it to every `ls` and stop a `git clone` into the folder), and in repositories that it has
 * made or could change whatever would have another git run a program.
 */

import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isHarmlessConfig } from '../git-config.ts'
import { type Quarantine, quarantine } from './quarantine.ts'
import {
  bytesOfPath,
  REBASE_STEPS,
  type ScanFinding,
  scanWorkspace,
  textOfPath,
  type WorkspaceScan,
} from './workspace-scan.ts'

/** What was there before a command began; plain data, because a crash may lie between. */
export interface BeforeCommand {
  readonly findings: readonly ScanFinding[]
  /** Paths of findings that lay under a mount, so that nothing could change them or what they held. */
  readonly mounted: readonly string[]
  /** What repositories obey outside of themselves, as a scan tells paths; what it was, or null where nothing was there. */
  readonly obeyed?: readonly { readonly path: string; readonly id: string | null }[]
}

export interface Swept {
  /** What was taken away, relative to the root. */
  readonly taken: readonly string[]
  readonly scan: WorkspaceScan
}

/** `keep`: a folder of the home. */
export async function sweep(root: string, before: BeforeCommand, keep: string): Promise<Swept> {
  const scan = await scanWorkspace(root)
  const aside = quarantine(keep, root)
  const taken: string[] = []
  const take: Quarantine['take'] = (path) => {
    if (taken.some((outer) => path === outer || path.startsWith(`${outer}/`))) return
    aside.take(path)
    taken.push(path)
  }
  const known = knownFrom(before)
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
  return { taken: taken.map(shownPath), scan: { ...scan, findings: scan.findings.filter(isLeft) } }
}

/** For people: what is no text, or could be taken for something else, is shown as letters. */
function shownPath(path: string): string {
  const text = textOfPath(path)
  return text === undefined || /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text) ? JSON.stringify(path) : text
}

interface Known {
  /** It is what it was: under a mount in the same place, or unchanged wherever it is. */
  isSame(finding: ScanFinding): boolean
  isSamePart(repository: ScanFinding, part: string): boolean
}

function knownFrom({ findings, mounted }: BeforeCommand): Known {
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

function sweepRepository(root: string, repository: ScanFinding, known: Known, take: Quarantine['take']): void {
  const parts = Object.keys(repository.parts ?? {}).filter((part) => !known.isSamePart(repository, part))
  for (const part of parts)
    if (isDangerous(root, repository.path, part)) take(repository.path === '' ? part : `${repository.path}/${part}`)
}

function isDangerous(root: string, repository: string, part: string): boolean {
  const path = bytesOfPath(root, repository === '' ? part : `${repository}/${part}`)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return false
  if (part === 'hooks') return !stats.isDirectory()
  if (part.startsWith('hooks/')) return !part.endsWith('.sample')
  if (!stats.isFile()) return true
  const text = textIn(path)
  if (part === REBASE_STEPS) return text === undefined || /^\s*(?:x|exec)\s/m.test(text)
  // Only a worktree has one, which leads to the repository it lies in.
  if (part === 'commondir') return text?.trim() !== '../..' || !/(^|\/)worktrees\/[^/]+$/.test(repository)
  return text === undefined || !isHarmlessConfig(text, (value) => leadsInside(root, repository, value))
}

/** A file that leads to a repository of the workspace, or to a worktree or submodule of one. */
function leadsIntoWorkspace(root: string, link: string, findings: readonly ScanFinding[]): boolean {
  const path = bytesOfPath(root, link)
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false
  const [, said] = /^gitdir: (.+)\n?$/.exec(textIn(path) ?? '') ?? []
  const [folder, top] = [textOfPath(dirname(link)), textOfPath(root)]
  if (said === undefined || folder === undefined || top === undefined) return false
  const target = realPathOf(resolve(top, folder, said))
  return findings.some(
    ({ kind, path: found }) => kind === 'repository' && join(root, textOfPath(found) ?? '\0') === target,
  )
}

/** A work tree inside of the workspace. */
function leadsInside(root: string, repository: string, value: string): boolean {
  const folder = textOfPath(repository)
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

const MOST_BYTES = 256 * 1024

function textIn(path: Buffer): string | undefined {
  try {
    return lstatSync(path).size > MOST_BYTES ? undefined : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

interface FoundWithin {
  /** As a scan tells it; the first link on the way, where there is one. */
  readonly path: string
  readonly id: string
}

/** Contract: what lies there, or the link that leads on: whoever follows one may come to files of others. */
function foundWithin(root: string, path: string): FoundWithin | undefined {
  const names = path.split('/')
  for (const at of names.keys()) {
    const part = names.slice(0, at + 1).join('/')
    const stats = lstatSync(bytesOfPath(root, part), { throwIfNoEntry: false })
    if (!stats) return undefined
    if (stats.isSymbolicLink() || at === names.length - 1)
      return { path: part, id: `${part} ${stats.dev}:${stats.ino}` }
  }
  return undefined
}

/** Names what lies at a path inside the root, before and after a command; null where there is nothing. */
export const idWithin = (root: string, path: string): string | null =>
  foundWithin(root, Buffer.from(path.slice(root.length + 1)).toString('latin1'))?.id ?? null
