/**
 * Lists what a snapshot stores of a workspace, without reading contents, and decides what it leaves out: names that no
 * snapshot has, what cannot be listed, and of a workspace beyond the limits the large remainder, so that all else can
 * still be undone. Symbolic links are never followed. File names are bytes, because they need not be valid text.
 */

import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs'
import type { Omission } from '../../../domain/path-change.ts'
import { errno } from '../host/file-errors.ts'
import { nameKey } from './entry-names.ts'

export interface TreeLimits {
  readonly files: number
  readonly bytes: number
  /** Of each `.git` folder, counted apart. */
  readonly git: Readonly<Size>
}

export const TREE_LIMITS: TreeLimits = {
  files: 5_000,
  bytes: 128 * 1024 * 1024,
  git: { files: 10_000, bytes: 64 * 1024 * 1024 },
}

interface Size {
  files: number
  bytes: number
}

/** What earlier snapshots tell of the workspace; paths are bytes as text. */
export interface EarlierScan {
  /** Whether the last snapshot has the file. */
  readonly hasFile: (path: string) => boolean
  /** The size of a folder of loose objects of a repository, if it has not changed since. */
  readonly sizeOfObjects: (path: string, stats: Stats) => Readonly<Size> | undefined
  /** Folders that are not listed again, with the reason to leave them out. */
  readonly large: ReadonlyMap<string, Omission>
}

export interface ScannedEntry {
  readonly kind: 'file' | 'link' | 'folder'
  readonly name: Buffer
  readonly path: Buffer
  /** Missing for links, and for what is left out because of its name. */
  readonly stats?: Stats
  /** Why it is not stored; `gone`: it vanished meanwhile. */
  why?: Omission | 'gone'
  /** Of a folder. */
  entries: readonly ScannedEntry[]
  /** A folder of loose objects that is not listed, because it is as it was. */
  readonly isUnchanged?: boolean
  /** Of the file, or of all files below the folder; repositories do not count. */
  size: Readonly<Size>
  /** The part of `size` that the last snapshot does not have. */
  newSize: Readonly<Size>
}

export class WorkspaceTooLargeError extends Error {
  constructor(entries: number) {
    super(`the workspace has more than ${entries} entries beside each other in its top folder`)
  }
}

/** As a multiple of the files that are stored; folders beyond that are left out without being listed. */
const LISTED_PER_STORED = 4
const ENTRIES_PER_PAUSE = 200
const NOTHING: Readonly<Size> = { files: 0, bytes: 0 }

interface Scan {
  readonly earlier: EarlierScan
  readonly limits: TreeLimits
  untilPause: number
}

/** Contract: throws if the folder itself cannot be listed, and `WorkspaceTooLargeError` if it has too many entries. */
export async function listWorkspace(root: string, earlier: EarlierScan, limits: TreeLimits): Promise<ScannedEntry> {
  const scan: Scan = { earlier, limits, untilPause: ENTRIES_PER_PAUSE }
  const path = Buffer.from(root)
  const top = newEntry('folder', { name: Buffer.alloc(0), path, stats: lstatSync(path) })
  await listBelow(scan, top, { mostFiles: limits.files * LISTED_PER_STORED, isRepository: false })
  leaveOutBeyond(top, limits)
  return top
}

const newEntry = (
  kind: ScannedEntry['kind'],
  given: Pick<ScannedEntry, 'name' | 'path'> & Partial<ScannedEntry>,
): ScannedEntry => ({ kind, entries: [], size: NOTHING, newSize: NOTHING, ...given })

interface Listing {
  readonly mostFiles: number
  /** It is stored as a whole or not at all. */
  readonly isRepository: boolean
}

/** Breadth first: if there is too much to list, the deep remainder is left out. */
async function listBelow(scan: Scan, top: ScannedEntry, listing: Listing): Promise<void> {
  const folders = [top]
  let files = 0
  for (const folder of folders) {
    try {
      if (files > listing.mostFiles) throw new WorkspaceTooLargeError(listing.mostFiles)
      folder.entries = await listFolder(scan, folder, listing.mostFiles)
    } catch (thrown) {
      const isTooLarge = thrown instanceof WorkspaceTooLargeError
      if (folder === top || (isTooLarge && listing.isRepository)) throw thrown
      folder.why = isTooLarge ? 'too_large' : whyUnreadable(thrown)
    }
    for (const entry of folder.entries) {
      files += entry.size.files
      if (isToBeListed(entry)) folders.push(entry)
    }
  }
  for (const folder of folders.toReversed()) {
    folder.size = sumOf(folder.entries.map(({ size }) => size))
    folder.newSize = sumOf(folder.entries.map(({ newSize }) => newSize))
  }
}

/** A repository has been listed by itself. */
const isToBeListed = ({ kind, why, name, isUnchanged = false }: ScannedEntry): boolean =>
  kind === 'folder' && why === undefined && nameKey(name) !== GIT && !isUnchanged

const sumOf = (sizes: readonly Readonly<Size>[]): Readonly<Size> => {
  const sum = { files: 0, bytes: 0 }
  for (const { files, bytes } of sizes) {
    sum.files += files
    sum.bytes += bytes
  }
  return sum
}

const GIT = '.git'

async function listFolder(scan: Scan, { path }: ScannedEntry, mostEntries: number): Promise<readonly ScannedEntry[]> {
  const found = readdirSync(path, { withFileTypes: true, encoding: 'buffer' })
  if (found.length > mostEntries) throw new WorkspaceTooLargeError(mostEntries)
  const entries: ScannedEntry[] = []
  for (const dirent of found) {
    const entry = await scanEntry(scan, dirent, Buffer.concat([path, SLASH, dirent.name]))
    if (entry) entries.push(entry)
  }
  return entries
}

const SLASH = Buffer.from('/')

/** Contract: undefined for what has no content: sockets, pipes, devices. */
async function scanEntry(scan: Scan, dirent: Dirent<NonSharedBuffer>, path: Buffer): Promise<ScannedEntry | undefined> {
  scan.untilPause -= 1
  if (scan.untilPause <= 0) await pause(scan)
  const [key, pathKey, { name }] = [nameKey(dirent.name), nameKey(path), dirent]
  const kind = dirent.isDirectory() ? 'folder' : 'file'
  if (key === 'node_modules') return newEntry(kind, { name, path, why: 'dependencies' })
  if (dirent.isSymbolicLink()) return newEntry('link', { name, path })
  if (key === GIT && dirent.isFile()) return newEntry(kind, { name, path, why: 'git_file' })
  if (!dirent.isFile() && !dirent.isDirectory()) return undefined
  const large = scan.earlier.large.get(pathKey)
  if (large !== undefined) return newEntry(kind, { name, path, why: large })
  const stats = statOf(path)
  if (typeof stats === 'string') return newEntry(kind, { name, path, why: stats })
  if (key === GIT) return scanRepository(scan, newEntry(kind, { name, path, stats }))
  if (kind === 'folder') {
    const size = OBJECT_FOLDER.test(pathKey) ? scan.earlier.sizeOfObjects(pathKey, stats) : undefined
    return newEntry(kind, { name, path, stats, ...(size && { size, isUnchanged: true }) })
  }
  const size = { files: 1, bytes: stats.size }
  return newEntry(kind, { name, path, stats, size, newSize: scan.earlier.hasFile(pathKey) ? NOTHING : size })
}

export const OBJECT_FOLDER = /\/\.git\/(?:.*\/)?objects\/[0-9a-f]{2}$/s

async function pause(scan: Scan): Promise<void> {
  scan.untilPause = ENTRIES_PER_PAUSE
  await new Promise((resolve) => setImmediate(resolve))
}

/** A repository is stored as a whole or not at all, because its files need each other. It has limits of its own. */
async function scanRepository(scan: Scan, repository: ScannedEntry): Promise<ScannedEntry> {
  const { git } = scan.limits
  const { name, path, stats } = repository
  try {
    await listBelow(scan, repository, { mostFiles: git.files, isRepository: true })
  } catch (thrown) {
    const why = thrown instanceof WorkspaceTooLargeError ? 'git_too_large' : whyUnreadable(thrown)
    return newEntry('folder', { name, path, why })
  }
  if (!fits(repository.size, git)) return newEntry('folder', { name, path, why: 'git_too_large' })
  return newEntry('folder', { name, path, ...(stats && { stats }), entries: repository.entries })
}

function statOf(path: Buffer): Stats | Omission | 'gone' {
  try {
    return lstatSync(path)
  } catch (thrown) {
    return whyUnreadable(thrown)
  }
}

/** The machine has too little of something now: that says nothing of the file. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])

/** Contract: why a file or folder is not stored; throws what does not come from the file system. */
export function whyUnreadable(thrown: unknown): Omission | 'gone' {
  const code = errno(thrown)
  if (code === undefined || EXHAUSTED.has(code)) throw thrown
  return code === 'ENOENT' ? 'gone' : 'unreadable'
}

const fits = (size: Readonly<Size>, room: Readonly<Size>): boolean =>
  size.files <= room.files && size.bytes <= room.bytes

/** What the last snapshot has stays covered, so that one that is too large takes no undo away. */
function leaveOutBeyond(top: ScannedEntry, { files, bytes }: TreeLimits): void {
  const limits = { files, bytes }
  if (fits(top.size, limits)) return
  const left = { files: files - top.size.files + top.newSize.files, bytes: bytes - top.size.bytes + top.newSize.bytes }
  const isGrown = left.files < 0 || left.bytes < 0
  if (isGrown) countAllAsNew(top)
  keepWithin(top, { room: isGrown ? { files, bytes } : left, limits })
}

/** What was stored has grown beyond the limits by itself. */
function countAllAsNew(entry: ScannedEntry): void {
  entry.newSize = entry.size
  for (const inner of entry.entries) countAllAsNew(inner)
}

interface Room {
  readonly room: Size
  readonly limits: Readonly<Size>
}

const shareOf = ({ newSize: { files, bytes } }: ScannedEntry, { limits }: Room): number =>
  Math.max(files / limits.files, bytes / limits.bytes)

/** A file of so many of the bytes is left out alone; the other files of a folder only together. */
const LARGE_SHARE = 1 / 16

/** Small parts first. A new folder whose own files do not fit is left out as a whole: it is named instead of them. */
function keepWithin(top: ScannedEntry, given: Room): void {
  const { room } = given
  const keep = (entry: ScannedEntry, isTop = false): void => {
    if (fits(entry.newSize, room)) {
      room.files -= entry.newSize.files
      room.bytes -= entry.newSize.bytes
      return
    }
    const mostBytes = given.limits.bytes * LARGE_SHARE
    const own = entry.entries.filter(({ kind, newSize }) => kind === 'file' && newSize.bytes < mostBytes)
    const isNew = entry.newSize.files === entry.size.files
    if (entry.kind === 'file' || (!isTop && isNew && !fits(sumOf(own.map(({ newSize }) => newSize)), room))) {
      entry.why = 'too_large'
      return
    }
    const parts = entry.entries.filter(({ newSize, why }) => why === undefined && newSize.files > 0)
    const byName = (a: ScannedEntry, b: ScannedEntry): number => Buffer.compare(a.name, b.name)
    for (const part of parts.toSorted((a, b) => shareOf(a, given) - shareOf(b, given) || byName(a, b))) keep(part)
  }
  keep(top, true)
}
