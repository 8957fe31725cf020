/**
 * Changes paths of a workspace from one state to another, in place: path by path, so that it can be repeated after a
 * kill. A path that has neither state was written by someone else, and stays. One that cannot be changed stops no
 * other.
 */

import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { TirelessError } from '../../../domain/error.ts'
import { isFolderState, type PathChange, type PathState } from '../../../domain/path-change.ts'
import type { ChangeProgress, PathLeft } from '../../../ports/snapshots.ts'
import { errno, shortReason } from '../host/file-errors.ts'
import { isMixOf, progressOf } from './change-progress.ts'
import { blobId, fileIdentity, readPresentEntry } from './present-entry.ts'
import { atPath, atPathIfThere } from './rooted-path.ts'

export interface ChangingWorkspace {
  readonly root: string
  /** Of the change, to name unfinished files. */
  readonly id: string
  readonly contentOf: (state: PathState) => Promise<Uint8Array | null>
}

/** The paths of one file. */
type NamesOf = (change: PathChange) => readonly string[]

interface Applying extends ChangingWorkspace {
  readonly namesOf: NamesOf
  /** Folders that were made writable for a while, with their permission bits. */
  readonly relaxed: Map<string, number>
  readonly left: Map<string, PathLeft>
  /** Paths whose unfinished files show that they are partly written. */
  readonly torn: Set<string>
}

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
const OVERWRITE = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Contract: throws `conflict` if the folder is gone. A path that cannot be read is `to_do`: changing it fails. */
export async function findProgress(
  workspace: ChangingWorkspace,
  changes: readonly PathChange[],
): Promise<ReadonlyMap<string, ChangeProgress>> {
  requireFolder(workspace)
  const namesOf = findNames(changes)
  const found = new Map<string, ChangeProgress>()
  for (const change of changes) {
    try {
      const { state } = presentEntryAt(workspace, change.path)
      const progress = progressOf(change, state)
      const isPartly = progress === 'changed_since' && (await isPartlyWritten(workspace, change, state, namesOf))
      found.set(change.path, isPartly ? 'partly' : progress)
    } catch {
      found.set(change.path, 'to_do')
    }
  }
  return found
}

/**
 * Contract: afterwards every path that had the state `before`, or was partly written, has the state `after`; returns
 * the others, with the reason. A folder that is to go stays if it has other entries. Throws `conflict` if the workspace
 * is gone. `only: 'partly'`: changes no other paths.
 */
export async function applyChanges(
  workspace: ChangingWorkspace,
  changes: readonly PathChange[],
  only?: 'partly',
): Promise<readonly PathLeft[]> {
  requireFolder(workspace)
  const namesOf = findNames(changes)
  const applying: Applying = { ...workspace, namesOf, relaxed: new Map(), left: new Map(), torn: new Set() }
  const sorted = changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  if (only === undefined) {
    // Deepest first: what is in a folder goes before the folder.
    for (const change of sorted.toReversed())
      if (change.after === null || (isFolderState(change.before) && !isFolderState(change.after)))
        await attempt(applying, change, () => clear(applying, change))
  }
  for (const change of sorted)
    if (change.after !== null && !applying.left.has(change.path))
      await attempt(applying, change, () => put(applying, change, only))
  setFolderBits(applying, only === undefined ? sorted : [])
  removeDrafts(applying, sorted)
  return [...applying.left.values()]
}

function findNames(changes: readonly PathChange[]): NamesOf {
  const byFile = Map.groupBy(changes, ({ file }) => file)
  return ({ path, file }) => (file === undefined ? [path] : (byFile.get(file) ?? []).map((change) => change.path))
}

const requireFolder = ({ root }: ChangingWorkspace): void => atPath({ root, path: '.' }, () => {})

const presentEntryAt = ({ root }: ChangingWorkspace, path: string) =>
  atPathIfThere({ root, path }, readPresentEntry) ?? { state: null, stats: undefined }

async function attempt(applying: Applying, { path }: PathChange, work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    if (errno(thrown) === 'ENOTEMPTY') applying.left.set(path, { path, why: 'changed_since', error: null })
    else applying.left.set(path, { path, why: 'failed', error: shortReason(thrown) })
  }
}

const leaveChanged = ({ left }: Applying, path: string): unknown =>
  left.set(path, { path, why: 'changed_since', error: null })

const bitsOf = (state: string): number => Number.parseInt(state.split(' ')[1] ?? '', 8)

const statOf = (at: Buffer): Stats | undefined => lstatSync(at, { throwIfNoEntry: false })

const enterOf =
  ({ relaxed }: Applying) =>
  (folder: number, path: string): void => {
    const mode = fstatSync(folder).mode & 0o7777
    if ((mode & 0o300) === 0o300 || path === '') return
    relaxed.set(path, mode)
    fchmodSync(folder, mode | 0o700)
  }

/** Removes what is at the path, if it is still what was there before. */
function clear(applying: Applying, change: PathChange): void {
  const { path, after } = change
  atPathIfThere({ root: applying.root, path, enter: enterOf(applying) }, (at) => {
    const { state, stats } = readPresentEntry(at)
    if (!stats) return
    const progress = progressOf(change, state)
    if (progress === 'changed_since') leaveChanged(applying, path)
    if (progress !== 'to_do') return
    try {
      if (stats.isDirectory()) rmdirSync(at)
      else unlinkSync(at)
    } catch (thrown) {
      if (errno(thrown) !== 'ENOTEMPTY' || after !== null) throw thrown
    }
  })
}

/** The check and the write have nothing asynchronous in between: nobody else of this process writes meanwhile. */
async function put(applying: Applying, change: PathChange, only: 'partly' | undefined): Promise<void> {
  const { root, contentOf } = applying
  const { path, after } = change
  if (after === null) return
  const enter = enterOf(applying)
  const seen = presentEntryAt(applying, path)
  const isPartly =
    progressOf(change, seen.state) === 'changed_since' &&
    (await isPartlyWritten(applying, change, seen.state, applying.namesOf))
  if (only === 'partly' && !isPartly) return
  const content = isFolderState(after) ? null : await contentOf(after)
  if (content === null && !isFolderState(after))
    throw new TirelessError('internal', 'its stored content is missing or damaged')
  const { state, stats } = presentEntryAt(applying, path)
  const progress = isPartly && state === seen.state ? 'partly' : progressOf(change, state)
  if (progress === 'changed_since') return void leaveChanged(applying, path)
  if (progress === 'done') return
  createParents(applying, path)
  if (content === null) return atPath({ root, path, enter }, makeFolder)
  atPath({ root, path: draftOf(applying, path), enter }, (draft) => {
    const name = Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'latin1')
    const at = Buffer.concat([draft.subarray(0, draft.lastIndexOf('/') + 1), name])
    if (statOf(draft)) unlinkSync(draft)
    if (after.startsWith('l')) symlinkSync(Buffer.from(content), draft)
    else writeDraft(draft, content, change)
    if (!after.startsWith('l') && stats && hasOtherNames(change, stats)) {
      applying.torn.add(path)
      overwrite(at, content, change)
      applying.torn.delete(path)
      unlinkSync(draft)
    } else renameSync(draft, at)
  })
}

/** Whether it is the same file as before, with another name: then that name gets the content, too. */
const hasOtherNames = ({ file }: PathChange, stats: Stats): boolean =>
  file !== undefined && stats.isFile() && stats.nlink > 1 && fileIdentity(stats) === file

/** A name beside the file, by which it is known what it is for. */
function draftOf({ id }: ChangingWorkspace, path: string): string {
  const at = path.lastIndexOf('/') + 1
  const mark = createHash('sha1').update(path, 'latin1').digest('hex').slice(0, 8)
  return `${path.slice(0, at)}.${id}-${mark}.tmp`
}

/**
 * Contract: whether this change was interrupted while it overwrote the file, under this name or another one. The
 * complete new content lies beside it then, and the file is a mix of both contents; otherwise someone else has written
 * it.
 */
async function isPartlyWritten(
  workspace: ChangingWorkspace,
  change: PathChange,
  present: PathState,
  namesOf: NamesOf,
): Promise<boolean> {
  const { path, before, after } = change
  if (!present?.startsWith('f') || !before?.startsWith('f') || !after?.startsWith('f')) return false
  const id = after.split(' ')[2]
  const drafts = namesOf(change).map((name) => presentEntryAt(workspace, draftOf(workspace, name)).state)
  if (!drafts.some((draft) => draft?.startsWith('f') && draft.split(' ')[2] === id)) return false
  const [old, fresh] = [await workspace.contentOf(before), await workspace.contentOf(after)]
  const { root } = workspace
  const content = atPathIfThere({ root, path }, (at) => readFileSync(at))
  return old !== null && fresh !== null && content !== undefined && blobId(fresh) === id && isMixOf(content, old, fresh)
}

function createParents(applying: Applying, path: string): void {
  const names = path.split('/').slice(0, -1)
  for (let depth = 1; depth <= names.length; depth += 1)
    atPath({ root: applying.root, path: names.slice(0, depth).join('/'), enter: enterOf(applying) }, (at) => {
      if (!statOf(at)) mkdirSync(at, { mode: 0o755 })
    })
}

function makeFolder(at: Buffer): void {
  const stats = statOf(at)
  if (stats?.isDirectory()) return
  if (stats) unlinkSync(at)
  mkdirSync(at, { mode: 0o755 })
}

function setFolderBits(applying: Applying, sorted: readonly PathChange[]): void {
  const bits = new Map(applying.relaxed)
  for (const { path, after } of sorted)
    if (after?.startsWith('d') && !applying.left.has(path)) bits.set(path, bitsOf(after))
  for (const [path, mode] of [...bits].toSorted(([a], [b]) => (a < b ? 1 : -1)))
    try {
      atPathIfThere({ root: applying.root, path }, (at) => {
        if (statOf(at)?.isDirectory()) chmodSync(at, mode)
      })
    } catch (thrown) {
      applying.left.set(path, { path, why: 'failed', error: shortReason(thrown) })
    }
}

function removeDrafts(applying: Applying, changes: readonly PathChange[]): void {
  for (const { path } of changes)
    if (!applying.torn.has(path))
      atPathIfThere({ root: applying.root, path: draftOf(applying, path) }, (at) => {
        if (statOf(at)) unlinkSync(at)
      })
}

function writeDraft(draft: Buffer, content: Uint8Array, change: PathChange): void {
  const file = openSync(draft, CREATE, 0o600)
  try {
    writeWhole(file, content)
    setBitsAndTime(file, change)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function overwrite(at: Buffer, content: Uint8Array, change: PathChange): void {
  syncFolder(at)
  const file = openForWriting(at)
  try {
    writeWhole(file, content)
    ftruncateSync(file, content.length)
    setBitsAndTime(file, change)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function setBitsAndTime(file: number, { after, afterTime }: PathChange): void {
  fchmodSync(file, bitsOf(after ?? ''))
  if (afterTime !== undefined) futimesSync(file, afterTime / 1000, afterTime / 1000)
}

/** The unfinished file must be there after a power loss, too. */
function syncFolder(at: Buffer): void {
  const folder = openSync(at.subarray(0, at.lastIndexOf('/')), constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function openForWriting(at: Buffer): number {
  try {
    return openSync(at, OVERWRITE)
  } catch (thrown) {
    if (errno(thrown) !== 'EACCES') throw thrown
    chmodSync(at, 0o600)
    return openSync(at, OVERWRITE)
  }
}

function writeWhole(file: number, content: Uint8Array): void {
  for (let at = 0; at < content.length; ) at += writeSync(file, content, at, content.length - at, at)
}
