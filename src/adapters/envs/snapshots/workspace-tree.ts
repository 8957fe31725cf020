/**
 * Writes a workspace into the object store as a tree, and restores it. Symbolic links are stored as links and never
 * followed. File names are bytes, because they need not be valid text. `.git` and `node_modules` are excluded.
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
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import type { ObjectStore, TreeEntry } from './object-store.ts'

const EXCLUDED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

export interface TreeLimits {
  readonly files: number
  readonly bytes: number
}

export const TREE_LIMITS: TreeLimits = { files: 5_000, bytes: 128 * 1024 * 1024 }

/** A file that changed less than this before it was read may change again without getting a new time stamp. */
const STAMP_RESOLUTION_MS = 100
const FILES_PER_PAUSE = 50

/** Stamps and object ids of a workspace's files, from the previous snapshot, by path. */
export type KnownFiles = Map<string, { readonly stamp: string; readonly id: string }>

export class WorkspaceTooLargeError extends Error {
  constructor({ files, bytes }: TreeLimits) {
    super(`the workspace has more than ${files} files or ${bytes} bytes`)
  }
}

interface Walk {
  readonly store: ObjectStore
  readonly known: KnownFiles
  readonly seen: KnownFiles
  readonly startedAt: number
  readonly limits: TreeLimits
  files: number
  bytes: number
  pauseAt: number
}

/** Contract: returns the id of the tree and updates `known`. Throws `WorkspaceTooLargeError` beyond the limits. */
export async function writeWorkspaceTree(
  store: ObjectStore,
  root: string,
  known: KnownFiles,
  { now, limits }: { readonly now: number; readonly limits: TreeLimits },
): Promise<string> {
  const walk: Walk = {
    store,
    known,
    seen: new Map(),
    startedAt: now,
    limits,
    files: 0,
    bytes: 0,
    pauseAt: FILES_PER_PAUSE,
  }
  const id = await writeFolder(walk, Buffer.from(root))
  known.clear()
  for (const [path, file] of walk.seen) known.set(path, file)
  return id
}

async function writeFolder(walk: Walk, folder: Buffer): Promise<string> {
  const entries: TreeEntry[] = []
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (EXCLUDED.has(entry.name.toString())) continue
    const path = join(folder, entry.name)
    const written = entry.isDirectory()
      ? ({ mode: '40000', id: await writeFolder(walk, path) } as const)
      : writeEntry(walk, path, entry)
    if (written) entries.push({ ...written, name: entry.name })
    if (walk.files >= walk.pauseAt) await pause(walk)
  }
  return walk.store.writeTree(entries)
}

async function pause(walk: Walk): Promise<void> {
  walk.pauseAt = walk.files + FILES_PER_PAUSE
  await new Promise((resolve) => setImmediate(resolve))
}

function writeEntry(walk: Walk, path: Buffer, entry: Dirent<NonSharedBuffer>): Omit<TreeEntry, 'name'> | undefined {
  if (entry.isSymbolicLink())
    return { mode: '120000', id: walk.store.writeBlob(readlinkSync(path, { encoding: 'buffer' })) }
  // Sockets, pipes and devices are skipped: they have no content.
  return entry.isFile() ? writeFileEntry(walk, path, lstatSync(path)) : undefined
}

function writeFileEntry(walk: Walk, path: Buffer, stats: Stats): Omit<TreeEntry, 'name'> {
  walk.files += 1
  walk.bytes += stats.size
  if (walk.files > walk.limits.files || walk.bytes > walk.limits.bytes) throw new WorkspaceTooLargeError(walk.limits)
  const mode = (stats.mode & 0o100) === 0 ? '100644' : '100755'
  const { ino, size, mtimeMs, ctimeMs } = stats
  const [key, stamp] = [path.toString('latin1'), `${ino} ${size} ${mtimeMs} ${ctimeMs}`]
  const before = walk.known.get(key)
  const id = before?.stamp === stamp ? before.id : walk.store.writeBlob(readWithoutFollowing(path))
  if (ctimeMs < walk.startedAt - STAMP_RESOLUTION_MS) walk.seen.set(key, { stamp, id })
  return { mode, id }
}

function readWithoutFollowing(path: Buffer): Buffer {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return readFileSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Contract: afterwards the folder contains exactly the tree, and the entries in EXCLUDED that it already had. */
export async function restoreTree(store: ObjectStore, tree: string, folder: string): Promise<void> {
  await restoreFolder(store, tree, Buffer.from(folder))
}

async function restoreFolder(store: ObjectStore, tree: string, folder: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder, { encoding: 'buffer' }))
    if (!EXCLUDED.has(name.toString())) await rm(join(folder, name) as never, { recursive: true, force: true })
  for (const { mode, name, id } of await store.readTree(tree)) {
    const path = join(folder, name)
    if (mode === '40000') await restoreFolder(store, id, path)
    else if (mode === '120000') await symlink(await store.readBlob(id), path)
    else {
      await writeFile(path, await store.readBlob(id), { flag: 'wx' })
      if (mode === '100755') await chmod(path, 0o755)
    }
  }
}

const join = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, Buffer.from('/'), name])
