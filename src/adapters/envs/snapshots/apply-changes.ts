/**
 * Brings paths of a workspace to given states, in place: path by path, so that it can be repeated after a kill. Folders
 * are opened one inside the other and links never followed, so that nothing outside the workspace is touched.
 */

import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { TirelessError } from '../../../domain/error.ts'
import { type PathState, readablePath } from '../../../domain/path-change.ts'
import { errno } from '../host/file-errors.ts'

interface PathTarget {
  /** Bytes as Latin-1 text. */
  readonly path: string
  readonly state: PathState
}

interface Applying {
  readonly root: string
  /** The name of a file while it is written. */
  readonly draft: string
  readonly contentOf: (state: PathState) => Promise<Uint8Array | null>
  /** Folders that were made writable for a while, with their permission bits. */
  readonly relaxed: Map<string, number>
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
const isAnchored = existsSync('/proc/self/fd')

/** Contract: afterwards every path has its state. A folder that is to go stays if it has other entries. */
export async function applyChanges(
  { root, draft, contentOf }: Omit<Applying, 'relaxed'>,
  targets: readonly PathTarget[],
): Promise<void> {
  const applying: Applying = { root, draft, contentOf, relaxed: new Map() }
  const sorted = targets.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  // Deepest first: what is in a folder goes before the folder.
  for (const { path, state } of sorted.toReversed())
    if (state === null || !state.startsWith('d')) inFolderOf(applying, path, (at) => clear(at, state), true)
  for (const target of sorted) if (target.state !== null) await put(applying, target)
  const bits = new Map(applying.relaxed)
  for (const { path, state } of sorted) if (state?.startsWith('d')) bits.set(path, bitsOf(state))
  for (const [path, mode] of [...bits].toSorted(([a], [b]) => (a < b ? 1 : -1)))
    inFolderOf(applying, path, (at) => {
      if (statOf(at)?.isDirectory()) chmodSync(at, mode)
    })
}

const bitsOf = (state: string): number => Number.parseInt(state.split(' ')[1] ?? '', 8)

/** Contract: calls `work` with a path of the entry for system calls; not at all if a folder above it is missing. */
function inFolderOf(applying: Applying, path: string, work: (at: Buffer) => void, isLenient = false): void {
  const names = path.split('/')
  const [name = ''] = names.splice(-1)
  const handles: number[] = []
  try {
    let at = Buffer.from(applying.root)
    for (let depth = 0; depth <= names.length; depth += 1) {
      const folder = openFolder(at, names.slice(0, depth).join('/'), isLenient)
      if (folder === undefined) return
      handles.push(folder)
      makeWritable(applying, folder, names.slice(0, depth).join('/'))
      at = Buffer.concat([
        isAnchored ? Buffer.from(`/proc/self/fd/${folder}`) : at,
        Buffer.from(`/${names[depth] ?? name}`, 'latin1'),
      ])
    }
    work(at)
  } finally {
    for (const handle of handles) closeSync(handle)
  }
}

/** `isLenient`: where no folder is, nothing is to be done. */
function openFolder(at: Buffer, path: string, isLenient: boolean): number | undefined {
  try {
    return openSync(at, FOLDER)
  } catch (thrown) {
    if (errno(thrown) === 'ENOENT' || isLenient) return undefined
    throw new TirelessError(
      'conflict',
      { what: 'a link or a file has taken the place of a folder', where: readablePath(path) },
      { cause: thrown },
    )
  }
}

function makeWritable({ relaxed }: Applying, folder: number, path: string): void {
  const mode = fstatSync(folder).mode & 0o7777
  if ((mode & 0o300) === 0o300 || path === '') return
  relaxed.set(path, mode)
  fchmodSync(folder, mode | 0o700)
}

const statOf = (at: Buffer): Stats | undefined => lstatSync(at, { throwIfNoEntry: false })

/** Removes what is at the path, if nothing is to be there, or a folder is where none is to be. */
function clear(at: Buffer, state: PathState): void {
  const stats = statOf(at)
  if (!stats || (state !== null && !stats.isDirectory())) return
  try {
    if (stats.isDirectory()) rmdirSync(at)
    else unlinkSync(at)
  } catch (thrown) {
    if (errno(thrown) !== 'ENOTEMPTY' || state !== null) throw thrown
  }
}

async function put(applying: Applying, { path, state }: PathTarget): Promise<void> {
  if (state === null) return
  ensureParents(applying, path)
  if (state.startsWith('d')) return inFolderOf(applying, path, makeFolder)
  const content = await applying.contentOf(state)
  if (content === null) throw new TirelessError('internal', `the stored content of ${readablePath(path)} is gone`)
  const draftPath = [...path.split('/').slice(0, -1), applying.draft].join('/')
  inFolderOf(applying, draftPath, (draft) => {
    const name = Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'latin1')
    const at = Buffer.concat([draft.subarray(0, draft.lastIndexOf('/') + 1), name])
    if (statOf(draft)) unlinkSync(draft)
    if (state.startsWith('l')) symlinkSync(Buffer.from(content), draft)
    else writeDraft(draft, content, bitsOf(state))
    renameSync(draft, at)
  })
}

function ensureParents(applying: Applying, path: string): void {
  const names = path.split('/').slice(0, -1)
  for (let depth = 1; depth <= names.length; depth += 1)
    inFolderOf(applying, names.slice(0, depth).join('/'), (at) => {
      if (!statOf(at)) mkdirSync(at, { mode: 0o755 })
    })
}

function makeFolder(at: Buffer): void {
  const stats = statOf(at)
  if (stats?.isDirectory()) return
  if (stats) unlinkSync(at)
  mkdirSync(at, { mode: 0o755 })
}

function writeDraft(draft: Buffer, content: Uint8Array, bits: number): void {
  const file = openSync(draft, CREATE, 0o600)
  try {
    for (let at = 0; at < content.length; ) at += writeSync(file, content, at)
    fchmodSync(file, bits)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
