/**
 * Writes a workspace into the object store as a tree. What is left out stands beside the tree, with the reason: what
 * the scan leaves out, and files that cannot be read. Times of files stand beside it, too, except in repositories.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { type Omission, repositoryOf } from '../../../domain/path-change.ts'
import {
  isReserved,
  MODES_ENTRY,
  type NotesEntry,
  nameKey,
  OMITTED_ENTRY,
  TIMES_ENTRY,
  toStoredName,
} from './entry-names.ts'
import {
  type EarlierScan,
  listWorkspace,
  OBJECT_FOLDER,
  type ScannedEntry,
  type TreeLimits,
  whyUnreadable,
} from './list-workspace.ts'
import { type ObjectBatch, type ObjectStore, orIfLost, type TreeEntry } from './object-store.ts'
import { fileIdentity } from './present-entry.ts'

/** A file that changed less than this before it was read may change again without getting a new time stamp. */
const STAMP_RESOLUTION_MS = 100
const FILES_PER_PAUSE = 50
/** How often a file that changes while it is read is read; the last content counts. */
const MAX_READS = 3

/** What is known of a workspace from its previous snapshot, so that only changed files are read again. */
export interface KnownFiles {
  /** Stamps and object ids of all stored files, by path; the stamp is empty if the file may have changed since. */
  files: ReadonlyMap<string, KnownFile>
  /** Folders of loose objects of repositories. Git writes such a file once, so an unchanged folder has equal files. */
  objectFolders: ReadonlyMap<string, KnownFolder>
  /** Paths that were left out though they may matter: unreadable ones, and folders that were too large. */
  leftOut: ReadonlyMap<string, Omission>
  /** Of the last snapshot: which files outside repositories have more than one link, by path in the workspace. */
  linked: ReadonlyMap<string, string>
}

interface KnownFile {
  readonly stamp: string
  readonly id: string
}

interface KnownFolder extends KnownFile {
  readonly size: ScannedEntry['size']
}

export const newKnownFiles = (): KnownFiles => ({
  files: new Map(),
  objectFolders: new Map(),
  leftOut: new Map(),
  linked: new Map(),
})

interface Walk {
  readonly batch: ObjectBatch
  readonly known: KnownFiles
  readonly seen: {
    readonly files: Map<string, KnownFile>
    readonly objectFolders: Map<string, KnownFolder>
    readonly leftOut: Map<string, Omission>
    readonly linked: Map<string, string>
  }
  readonly isThorough: boolean
  /** Length of the path of the workspace, with a slash. */
  readonly rootLength: number
  readonly startedAt: number
  untilPause: number
}

interface WriteOptions {
  readonly now: number
  readonly limits: TreeLimits
  /**
   * Whether it lists folders again that were too large, and looks whether the content of unchanged files is still
   * stored. The snapshot before a run's first write does; those after its steps follow soon, and are to be quick.
   */
  readonly isThorough: boolean
}

/**
 * Contract: returns the id of the tree, which is on disk, and updates `known`. What does not fit or cannot be read is
 * left out; throws if that is the workspace itself.
 */
export async function writeWorkspaceTree(
  store: ObjectStore,
  root: string,
  known: KnownFiles,
  { now, limits, isThorough }: WriteOptions,
): Promise<string> {
  const seen: Walk['seen'] = { files: new Map(), objectFolders: new Map(), leftOut: new Map(), linked: new Map() }
  const rootLength = Buffer.byteLength(root) + 1
  const id = await store.write(async (batch) => {
    const earlier: EarlierScan = {
      hasFile: (path) => known.files.has(path),
      sizeOfObjects(path, stats) {
        const folder = known.objectFolders.get(path)
        return folder?.stamp === stampOf(stats) && batch.has(folder.id) ? folder.size : undefined
      },
      large: new Map([...known.leftOut].filter(([, why]) => !isThorough && why !== 'unreadable')),
    }
    const top = await listWorkspace(root, earlier, limits)
    const walk: Walk = { batch, known, seen, isThorough, rootLength, startedAt: now, untilPause: FILES_PER_PAUSE }
    return writeFolder(walk, top, false)
  })
  known.files = seen.files
  known.objectFolders = seen.objectFolders
  known.leftOut = seen.leftOut
  known.linked = seen.linked
  return id
}

async function writeFolder(walk: Walk, folder: ScannedEntry, isInRepository: boolean): Promise<string> {
  const entries: TreeEntry[] = []
  const notes = new Map<NotesEntry, Map<string, string>>()
  const note = (kind: NotesEntry, name: string, text: string): void => {
    notes.set(kind, (notes.get(kind) ?? new Map<string, string>()).set(name, text))
  }
  for (const entry of folder.entries) {
    const name = nameKey(entry.name)
    const written = await writeEntry(walk, entry, isInRepository || name === '.git')
    if (written === 'gone') continue
    if (typeof written === 'string') {
      note(OMITTED_ENTRY, name, written)
      if (NOTABLE.has(written)) walk.seen.leftOut.set(nameKey(entry.path), written)
      continue
    }
    entries.push({ mode: written.mode, id: written.id, name: toStoredName(entry.name) })
    if (written.odd !== undefined) note(MODES_ENTRY, name, written.odd)
    if (written.time !== undefined && !isInRepository) note(TIMES_ENTRY, name, String(written.time))
    if (walk.untilPause <= 0) await pause(walk)
  }
  for (const [kind, texts] of notes) entries.push(writeNotes(walk.batch, kind, texts))
  return walk.batch.writeTree(entries)
}

const NOTABLE: ReadonlySet<Omission> = new Set(['too_large', 'git_too_large', 'unreadable'])

/** Contract: the entry that keeps the notes beside the entries of a folder. */
export function writeNotes(batch: ObjectBatch, kind: NotesEntry, notes: ReadonlyMap<string, string>): TreeEntry {
  const sorted = [...notes].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const id = batch.writeBlob(Buffer.from(JSON.stringify(Object.fromEntries(sorted))))
  return { mode: '100644', name: Buffer.from(kind), id }
}

/** Contract: the notes beside the entries of a folder, by the real name; empty if it has none. */
export async function readNotes(
  store: ObjectStore,
  entries: readonly TreeEntry[],
  kind: NotesEntry,
): Promise<ReadonlyMap<string, string>> {
  const entry = entries.find(({ name }) => isReserved(name) && nameKey(name) === kind)
  if (!entry) return new Map()
  // Without its times, everything else of a folder can still be used.
  const read = store.readBlob(entry.id)
  const text = kind === TIMES_ENTRY ? await orIfLost(read, Buffer.from('{}')) : await read
  return new Map(Object.entries(JSON.parse(text.toString()) as Record<string, string>))
}

async function pause(walk: Walk): Promise<void> {
  walk.untilPause = FILES_PER_PAUSE
  await new Promise((resolve) => setImmediate(resolve))
}

interface WrittenEntry extends Omit<TreeEntry, 'name'> {
  /** Permission bits that the mode does not say. */
  readonly odd?: string
  /** When the file was last modified, in ms. */
  readonly time?: number
}

async function writeEntry(
  walk: Walk,
  entry: ScannedEntry,
  isInRepository: boolean,
): Promise<WrittenEntry | Omission | 'gone'> {
  if (entry.why !== undefined) return entry.why
  if (entry.kind === 'link') return writeLink(walk, entry.path)
  const { stats } = entry
  if (!stats) return 'gone'
  if (entry.kind === 'file') return writeFileEntry(walk, entry.path, stats)
  return writeSub(walk, entry, stats, isInRepository)
}

async function writeSub(
  walk: Walk,
  folder: ScannedEntry,
  stats: Stats,
  isInRepository: boolean,
): Promise<WrittenEntry> {
  const key = nameKey(folder.path)
  const before = folder.isUnchanged === true ? walk.known.objectFolders.get(key) : undefined
  const id = before?.id ?? (await writeFolder(walk, folder, isInRepository))
  if (OBJECT_FOLDER.test(key) && isSettled(walk, stats))
    walk.seen.objectFolders.set(key, { stamp: stampOf(stats), id, size: folder.size })
  const bits = stats.mode & 0o7777
  return { mode: '40000', id, ...(bits === 0o755 ? {} : { odd: octal(bits) }) }
}

function writeLink({ batch }: Walk, path: Buffer): WrittenEntry | Omission | 'gone' {
  let target: Buffer
  try {
    target = readlinkSync(path, { encoding: 'buffer' })
  } catch (thrown) {
    return whyUnreadable(thrown)
  }
  return { mode: '120000', id: batch.writeBlob(target) }
}

function writeFileEntry(walk: Walk, path: Buffer, scanned: Stats): WrittenEntry | Omission | 'gone' {
  walk.untilPause -= 1
  const key = nameKey(path)
  const before = walk.known.files.get(key)
  const stamp = stampOf(scanned)
  const isStored = before?.stamp === stamp && (!walk.isThorough || walk.batch.has(before.id))
  let [id, stats] = [before?.id ?? '', scanned]
  if (!isStored) {
    const read = readWithoutFollowing(path)
    if (typeof read === 'string') return read
    stats = read.stats
    id = walk.batch.writeBlob(read.content)
  }
  const isKept = isStored && before !== undefined
  walk.seen.files.set(key, isKept ? before : { stamp: isSettled(walk, stats) ? stampOf(stats) : '', id })
  const inWorkspace = key.slice(walk.rootLength)
  if (stats.nlink > 1 && repositoryOf(inWorkspace) === undefined) walk.seen.linked.set(inWorkspace, fileIdentity(stats))
  const bits = stats.mode & 0o7777
  const mode = (bits & 0o100) === 0 ? '100644' : '100755'
  const odd = bits === (mode === '100644' ? 0o644 : 0o755) ? {} : { odd: octal(bits) }
  return { mode, id, time: stats.mtimeMs, ...odd }
}

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`

const isSettled = ({ startedAt }: Walk, { ctimeMs }: Stats): boolean => ctimeMs < startedAt - STAMP_RESOLUTION_MS

const octal = (bits: number): string => bits.toString(8).padStart(3, '0')

interface ReadFile {
  readonly content: Buffer
  readonly stats: Stats
}

/** A file that is written meanwhile is read again, so that its content is of one moment if that can be had. */
function readWithoutFollowing(path: Buffer): ReadFile | Omission | 'gone' {
  try {
    for (let reads = 1; ; reads += 1) {
      const { content, stats, isSteady } = readOnce(path)
      if (!stats.isFile()) return 'gone'
      if (isSteady || reads === MAX_READS) return { content, stats }
    }
  } catch (thrown) {
    return whyUnreadable(thrown)
  }
}

function readOnce(path: Buffer): ReadFile & { readonly isSteady: boolean } {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const before = fstatSync(handle)
    const content = readFileSync(handle)
    const stats = fstatSync(handle)
    return { content, stats, isSteady: stampOf(before) === stampOf(stats) && content.length === stats.size }
  } finally {
    closeSync(handle)
  }
}
