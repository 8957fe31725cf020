/**
 * Writes a workspace into the object store as a tree. Symbolic links are stored as links and never followed. File names
 * are bytes, because they need not be valid text. Left out, with the reason beside the tree: `node_modules`, a `.git`
 * that is a file (its repository is elsewhere), and a `.git` folder beyond its own limits.
 */

import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs'
import type { Omission } from '../../../domain/path-change.ts'
import { repositoryOf } from '../../../domain/path-change.ts'
import { errno } from '../host/file-errors.ts'
import { isReserved, MODES_ENTRY, nameKey, OMITTED_ENTRY, toStoredName } from './entry-names.ts'
import type { ObjectStore, TreeEntry } from './object-store.ts'
import { fileIdentity } from './present-entry.ts'

export interface TreeLimits {
  readonly files: number
  readonly bytes: number
  /** Of each `.git` folder, counted apart. */
  readonly git: { readonly files: number; readonly bytes: number }
}

export const TREE_LIMITS: TreeLimits = {
  files: 5_000,
  bytes: 128 * 1024 * 1024,
  git: { files: 10_000, bytes: 64 * 1024 * 1024 },
}

/** A file that changed less than this before it was read may change again without getting a new time stamp. */
const STAMP_RESOLUTION_MS = 100
const FILES_PER_PAUSE = 50

/** What is known of a workspace from its previous snapshot, so that only changed files are read again. */
export interface KnownFiles {
  /** Stamps and object ids, by path. */
  files: ReadonlyMap<string, KnownFile>
  /** Folders of loose objects of repositories. Git writes such a file once, so an unchanged folder has equal files. */
  objectFolders: ReadonlyMap<string, KnownFolder>
  /** Paths of `.git` folders that are too large. They are not tried again, because each attempt reads many files. */
  readonly largeGit: Set<string>
  /** Of the last snapshot: which files outside repositories have more than one link, by path in the workspace. */
  linked: ReadonlyMap<string, string>
}

interface KnownFile {
  readonly stamp: string
  readonly id: string
}

interface KnownFolder extends KnownFile {
  readonly files: number
  readonly bytes: number
}

export class WorkspaceTooLargeError extends Error {
  constructor({ files, bytes }: Pick<TreeLimits, 'files' | 'bytes'>) {
    super(`the workspace has more than ${files} files or ${bytes} bytes`)
  }
}

class GitTooLargeError extends Error {}

/** What is being counted against one limit: the workspace, or one of its `.git` folders. */
interface Count {
  files: number
  bytes: number
  readonly limits: { readonly files: number; readonly bytes: number }
  readonly tooLarge: () => Error
}

interface Walk {
  readonly store: ObjectStore
  readonly known: KnownFiles
  readonly seen: {
    readonly files: Map<string, KnownFile>
    readonly objectFolders: Map<string, KnownFolder>
    readonly linked: Map<string, string>
  }
  /** Length of the path of the workspace, with a slash. */
  readonly rootLength: number
  readonly startedAt: number
  readonly limits: TreeLimits
  untilPause: number
}

/** Contract: returns the id of the tree and updates `known`. Throws `WorkspaceTooLargeError` beyond the limits. */
export async function writeWorkspaceTree(
  store: ObjectStore,
  root: string,
  known: KnownFiles,
  { now, limits }: { readonly now: number; readonly limits: TreeLimits },
): Promise<string> {
  const seen = { files: new Map(), objectFolders: new Map(), linked: new Map() }
  const rootLength = Buffer.byteLength(root) + 1
  const walk: Walk = { store, known, seen, rootLength, startedAt: now, limits, untilPause: FILES_PER_PAUSE }
  const tooLarge = (): Error => new WorkspaceTooLargeError(limits)
  const id = await writeFolder(walk, Buffer.from(root), { files: 0, bytes: 0, limits, tooLarge })
  known.files = seen.files
  known.objectFolders = seen.objectFolders
  known.linked = seen.linked
  return id
}

async function writeFolder(walk: Walk, folder: Buffer, count: Count): Promise<string> {
  const entries: TreeEntry[] = []
  const [modes, omitted]: [Map<string, string>, Map<string, string>] = [new Map(), new Map()]
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
    const path = join(folder, entry.name)
    const written = await writeEntry(walk, path, entry, count)
    if (typeof written === 'string') omitted.set(nameKey(entry.name), written)
    else if (written) {
      const { odd, ...stored } = written
      entries.push({ ...stored, name: toStoredName(entry.name) })
      if (odd !== undefined) modes.set(nameKey(entry.name), odd)
    }
    if (walk.untilPause <= 0) await pause(walk)
  }
  for (const [name, notes] of [[MODES_ENTRY, modes] as const, [OMITTED_ENTRY, omitted] as const])
    if (notes.size > 0) entries.push({ mode: '100644', name: Buffer.from(name), id: writeNotes(walk, notes) })
  return walk.store.writeTree(entries)
}

function writeNotes({ store }: Walk, notes: ReadonlyMap<string, string>): string {
  const sorted = [...notes].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return store.writeBlob(Buffer.from(JSON.stringify(Object.fromEntries(sorted))))
}

/** Contract: the notes beside the entries of a folder, by the real name; empty if it has none. */
export async function readNotes(
  store: ObjectStore,
  entries: readonly TreeEntry[],
  kind: typeof MODES_ENTRY | typeof OMITTED_ENTRY,
): Promise<ReadonlyMap<string, string>> {
  const entry = entries.find(({ name }) => isReserved(name) && nameKey(name) === kind)
  if (!entry) return new Map()
  return new Map(Object.entries(JSON.parse((await store.readBlob(entry.id)).toString()) as Record<string, string>))
}

async function pause(walk: Walk): Promise<void> {
  walk.untilPause = FILES_PER_PAUSE
  await new Promise((resolve) => setImmediate(resolve))
}

interface WrittenEntry extends Omit<TreeEntry, 'name'> {
  /** Permission bits that the mode does not say. */
  readonly odd?: string
}

/** Contract: undefined for what has no content (sockets, pipes, devices), or vanished meanwhile. */
async function writeEntry(
  walk: Walk,
  path: Buffer,
  entry: Dirent<NonSharedBuffer>,
  count: Count,
): Promise<WrittenEntry | Omission | undefined> {
  const name = nameKey(entry.name)
  if (name === 'node_modules') return 'dependencies'
  if (name === '.git' && entry.isFile()) return 'git_file'
  try {
    if (entry.isDirectory())
      return name === '.git' ? await writeGitFolder(walk, path) : await writeSub(walk, path, count)
    if (entry.isSymbolicLink())
      return { mode: '120000', id: walk.store.writeBlob(readlinkSync(path, { encoding: 'buffer' })) }
    return entry.isFile() ? writeFileEntry(walk, path, lstatSync(path), count) : undefined
  } catch (thrown) {
    if (errno(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}

async function writeSub(walk: Walk, path: Buffer, count: Count): Promise<WrittenEntry> {
  const stats = lstatSync(path)
  const bits = stats.mode & 0o7777
  const key = nameKey(path)
  const id = OBJECT_FOLDER.test(key)
    ? await writeObjectFolder(walk, path, stats, count)
    : await writeFolder(walk, path, count)
  return { mode: '40000', id, ...(bits === 0o755 ? {} : { odd: octal(bits) }) }
}

const OBJECT_FOLDER = /\/\.git\/(?:.*\/)?objects\/[0-9a-f]{2}$/s

async function writeObjectFolder(walk: Walk, path: Buffer, stats: Stats, count: Count): Promise<string> {
  const [key, stamp] = [nameKey(path), stampOf(stats)]
  const known = walk.known.objectFolders.get(key)
  if (known?.stamp === stamp) {
    countFiles(count, known)
    walk.seen.objectFolders.set(key, known)
    return known.id
  }
  const { files, bytes } = count
  const id = await writeFolder(walk, path, count)
  if (isSettled(walk, stats))
    walk.seen.objectFolders.set(key, { stamp, id, files: count.files - files, bytes: count.bytes - bytes })
  return id
}

async function writeGitFolder(walk: Walk, path: Buffer): Promise<WrittenEntry | Omission> {
  const { largeGit } = walk.known
  const key = nameKey(path)
  if (largeGit.has(key)) return 'git_too_large'
  const tooLarge = (): Error => new GitTooLargeError()
  try {
    return await writeSub(walk, path, { files: 0, bytes: 0, limits: walk.limits.git, tooLarge })
  } catch (thrown) {
    if (!(thrown instanceof GitTooLargeError)) throw thrown
    largeGit.add(key)
    return 'git_too_large'
  }
}

function writeFileEntry(walk: Walk, path: Buffer, stats: Stats, count: Count): WrittenEntry {
  walk.untilPause -= 1
  countFiles(count, { files: 1, bytes: stats.size })
  const [key, stamp] = [nameKey(path), stampOf(stats)]
  const before = walk.known.files.get(key)
  const id = before?.stamp === stamp ? before.id : walk.store.writeBlob(readWithoutFollowing(path))
  if (isSettled(walk, stats)) walk.seen.files.set(key, { stamp, id })
  const inWorkspace = key.slice(walk.rootLength)
  if (stats.nlink > 1 && repositoryOf(inWorkspace) === undefined) walk.seen.linked.set(inWorkspace, fileIdentity(stats))
  const bits = stats.mode & 0o7777
  const mode = (bits & 0o100) === 0 ? '100644' : '100755'
  return { mode, id, ...(bits === (mode === '100644' ? 0o644 : 0o755) ? {} : { odd: octal(bits) }) }
}

function countFiles(count: Count, { files, bytes }: { readonly files: number; readonly bytes: number }): void {
  count.files += files
  count.bytes += bytes
  if (count.files > count.limits.files || count.bytes > count.limits.bytes) throw count.tooLarge()
}

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`

const isSettled = ({ startedAt }: Walk, { ctimeMs }: Stats): boolean => ctimeMs < startedAt - STAMP_RESOLUTION_MS

const octal = (bits: number): string => bits.toString(8).padStart(3, '0')

function readWithoutFollowing(path: Buffer): Buffer {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return readFileSync(handle)
  } finally {
    closeSync(handle)
  }
}

const join = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, Buffer.from('/'), name])
