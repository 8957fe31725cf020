/**
 * The file API of a workspace; it cannot reach outside the root. Every check is made on an open handle: a regular file
 * with one name, of limited size, inside the root. Writes of one root run one after another, so that compare and
 * replace of two writes cannot interleave.
 */

import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { access, type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { TirelessError } from '../../../domain/error.ts'
import type { FileOps } from '../../../ports/env.ts'
import { protectionReason } from '../protected-names.ts'
import { describeSystemError, errno, pathRefused } from './file-errors.ts'
import { isInGitFolder, isObeyedByGit } from './git-reach.ts'
import { listEntries } from './list-files.ts'
import { createRootedFolders, type OpenFolder, type RootedFolders } from './rooted-folders.ts'
import { splitPathBelow } from './split-path.ts'

export const MAX_FILE_BYTES = 10 * 1024 * 1024
const MAX_CHANGED_PATHS = 200
const MAX_CHANGED_VISITS = 100_000
const MAX_DEPTH = 64
/** File times come from the kernel's coarse clock, which is up to one tick behind the wall clock. */
const FILE_TIME_SLACK_MS = 20

/** Attempts to open a file, because another process may replace the file while it is checked. */
const MAX_ATTEMPTS = 20
const NAME_CHECKS = 6

/** NONBLOCK: opening a FIFO must not wait for a writer. NOCTTY: a terminal must not become the controlling terminal. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

interface FileContent {
  readonly bytes: Buffer
  readonly sha: string
  readonly stats: Stats
}

interface Workspace {
  readonly root: string
  readonly folders: RootedFolders
}

/** `root` must be a path without symbolic links. */
export function createRootedFiles(root: string, folders: RootedFolders = createRootedFolders(root)): FileOps {
  const workspace: Workspace = { root, folders }
  let lastWrite: Promise<unknown> = Promise.resolve()
  return {
    read: (path) => readText(workspace, path),
    write(path, content, expected) {
      const written = lastWrite.then(() => replaceText(workspace, path, content, expected))
      lastWrite = written.catch(() => {})
      return written
    },
    writable: (path) => isWritable(workspace, path),
    list: (path, depth, limit) => listFolder(workspace, path, depth, limit),
    changedSince: (ms) => listChanged(workspace, ms),
  }
}

async function readText(workspace: Workspace, path: string): ReturnType<FileOps['read']> {
  const content = await readRootedContent(workspace, path)
  return content && { text: textOf(content.bytes, path), sha: content.sha }
}

export async function readRootedContent({ root, folders }: Workspace, path: string): Promise<FileContent | undefined> {
  const { parents, name } = fileNames(root, path)
  await using folder = await folders.open(parents)
  // `return await`, because the folder must stay open until the file is read.
  return folder && (await readContent(folder, name))
}

async function replaceText(
  { root, folders }: Workspace,
  path: string,
  content: string | Uint8Array,
  expected: string | null,
) {
  const { parents, name } = fileNames(root, path)
  const why = protectionReason([...parents, name])
  if (why !== undefined) throw pathRefused(path, why)
  if (isInGitFolder(root, parents)) throw pathRefused(path, 'inside a bare git repository: use git')
  if (isObeyedByGit(root, [...parents, name])) throw pathRefused(path, "the owner's git would run or obey this file")
  const bytes = bytesOf(content, path)
  await using folder = await folders.open(parents, expected === null)
  if (!folder) throw conflict(path, undefined, expected)
  // `return await`, because the folder must stay open until the write is done.
  return await replaceIn(folder, name, bytes, expected)
}

async function isWritable({ root, folders }: Workspace, path: string) {
  const names = splitPathBelow(root, path)
  const name = names.at(-1)
  if (protectionReason(names) !== undefined || isInGitFolder(root, names) || isObeyedByGit(root, names)) return false
  await using folder = await folders.open(names.slice(0, -1))
  if (!folder || name === undefined) return folder !== undefined && (await mayWrite(folder.systemPath))
  const mayReplace = await withFile(folder, name, async (_, stats) => {
    if (stats.isDirectory()) return mayWrite(folder.systemPathOf(name))
    checkRegular(stats, path)
    // A write replaces the file by a rename, so its folder must be writable too.
    return (await mayWrite(folder.systemPathOf(name))) && (await mayWrite(folder.systemPath))
  })
  return mayReplace ?? false
}

async function listFolder({ root, folders }: Workspace, path: string, depth: number, limit: number) {
  const names = splitPathBelow(root, path)
  await using folder = await folders.open(names)
  if (!folder) throw new TirelessError('not_found', { what: 'no such folder', where: JSON.stringify(path) })
  const entries: { path: string; bytes: number }[] = []
  for await (const entry of listEntries(folders, folder, depth)) {
    if (entries.length === limit) return { entries, more: true }
    entries.push({ path: entry.path, bytes: entry.stats.isDirectory() ? 0 : entry.stats.size })
  }
  return { entries, more: false }
}

/** A folder in the result means that an entry was added to it or removed; a deleted file leaves no other trace. */
async function listChanged({ folders }: Workspace, ms: number) {
  const since = ms - FILE_TIME_SLACK_MS
  await using folder = await folders.open([])
  if (!folder) return []
  const changed = (await folder.handle.stat()).mtimeMs >= since ? ['./'] : []
  let visits = 0
  for await (const { path, stats } of listEntries(folders, folder, MAX_DEPTH)) {
    const newest = stats.isDirectory() ? stats.mtimeMs : Math.max(stats.mtimeMs, stats.ctimeMs)
    if (newest >= since) changed.push(path)
    visits += 1
    if (changed.length >= MAX_CHANGED_PATHS || visits >= MAX_CHANGED_VISITS) break
  }
  return changed
}

function fileNames(root: string, path: string): { parents: readonly string[]; name: string } {
  const names = splitPathBelow(root, path)
  const name = names.at(-1)
  if (name === undefined) throw pathRefused(path, 'a folder, but a file is needed')
  return { parents: names.slice(0, -1), name }
}

/** Contract: undefined if there is no such file. */
function readContent(folder: OpenFolder, name: string): Promise<FileContent | undefined> {
  return withFile(folder, name, async (handle, stats) => {
    checkRegular(stats, folder.pathOf(name))
    const bytes = await readUpTo(handle, stats.size)
    return { bytes, sha: digest(bytes), stats }
  })
}

/** Contract: opens the file and passes it to `use`; undefined if the file does not exist. */
async function withFile<T>(
  folder: OpenFolder,
  name: string,
  use: (handle: FileHandle, stats: Stats) => Promise<T>,
): Promise<T | undefined> {
  for (let tries = MAX_ATTEMPTS; tries > 0; tries -= 1) {
    await using handle = await tryOpen(folder, name)
    if (!handle) return undefined
    await folder.assertInside({ handle, name })
    const stats = await statsByName(folder, name, handle)
    // `return await`, because the file must stay open until `use` is done.
    if (stats) return await use(handle, stats)
  }
  throw pathRefused(folder.pathOf(name), 'another process keeps replacing this file')
}

async function tryOpen(folder: OpenFolder, name: string): Promise<FileHandle | undefined> {
  try {
    return await open(folder.systemPathOf(name), READ)
  } catch (error) {
    if (errno(error) === 'ENOENT') return undefined
    throw await describeSystemError(error, folder.systemPathOf(name), folder.pathOf(name))
  }
}

/**
 * Contract: the stats of the open file, or undefined if the name now refers to another file. The stats are read by
 * name: if an attacker unlinks one of two names of a file while it is open, the open file seems to have one name only.
 * `lstat` finds the file before it counts its names, so an unlink in between is missed; the check is repeated, and an
 * attacker would have to hit that instant every time.
 */
async function statsByName(folder: OpenFolder, name: string, handle: FileHandle): Promise<Stats | undefined> {
  const content = await handle.stat()
  for (let checks = 1; ; checks += 1) {
    const named = await lstat(folder.systemPathOf(name)).catch(() => undefined)
    if (!named || named.ino !== content.ino || named.dev !== content.dev) return undefined
    if (named.nlink > 1 || checks === NAME_CHECKS) return named
  }
}

const mayWrite = (place: string): Promise<boolean> =>
  access(place, constants.W_OK).then(
    () => true,
    () => false,
  )

function checkRegular(stats: Stats, path: string): void {
  if (stats.isDirectory()) throw pathRefused(path, 'a folder, but a file is needed')
  if (!stats.isFile()) throw pathRefused(path, 'not a regular file')
  if (stats.nlink > 1) throw pathRefused(path, 'a hard link: the file has other names, perhaps outside the workspace')
  if (stats.size > MAX_FILE_BYTES)
    throw pathRefused(path, 'too large', { got: `${stats.size} bytes`, expected: `at most ${MAX_FILE_BYTES}` })
}

/** Reads at most `size` bytes; bytes that are appended to the file meanwhile are not read. */
async function readUpTo(handle: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size)
  let length = 0
  while (length < size) {
    const { bytesRead } = await handle.read(buffer, length, size - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

/**
 * The last check and the rename are two system calls: a write of another process in between is lost. POSIX has no way
 * to prevent that. Writes of this process run one after another.
 */
async function replaceIn(folder: OpenFolder, name: string, bytes: Buffer, expected: string | null) {
  const path = folder.pathOf(name)
  const sha = digest(bytes)
  const before = await readContent(folder, name)
  // The temporary file is named after target and content, so a repeated write removes what a killed write left.
  const temporary = folder.systemPathOf(`.tireless-${digest(Buffer.from(`${name}\0${sha}`)).slice(0, 24)}.tmp`)
  try {
    await rm(temporary, { force: true })
    await writeTemporary(temporary, bytes, before?.stats)
    const current = (await readContent(folder, name))?.sha ?? null
    // The file already has this content, for example because the write is repeated after a crash.
    if (current === sha) {
      await rm(temporary, { force: true })
      return { sha }
    }
    if (current !== expected) throw conflict(path, current ?? undefined, expected)
    await folder.assertInside()
    await rename(temporary, folder.systemPathOf(name))
    await folder.handle.sync()
    return { sha }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw await describeSystemError(error, temporary, path)
  }
}

async function writeTemporary(place: string, bytes: Buffer, like: Stats | undefined): Promise<void> {
  await using handle = await open(place, CREATE, 0o666)
  await handle.writeFile(bytes)
  if (like) {
    // Only root may change a file's owner; for other users the new file belongs to them.
    await handle.chown(like.uid, like.gid).catch(() => {})
    await handle.chmod(like.mode & 0o777)
  }
  await handle.sync()
}

function conflict(path: string, got: string | undefined, expected: string | null): TirelessError {
  return new TirelessError('conflict', {
    where: JSON.stringify(path),
    what: 'the file has changed since it was read',
    got: got === undefined ? 'no file' : `digest ${got.slice(0, 12)}`,
    expected: expected === null ? 'no file' : `digest ${expected.slice(0, 12)}`,
    fix: 'read the file again',
  })
}

function textOf(bytes: Buffer, path: string): string {
  try {
    // Keeps the byte order mark, so that writing the text back gives the same bytes.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {}
  throw pathRefused(path, 'a binary file', { expected: 'UTF-8 text' })
}

function bytesOf(content: string | Uint8Array, path: string): Buffer {
  if (typeof content === 'string' && (content.includes('\0') || !content.isWellFormed()))
    throw pathRefused(path, 'binary content', { expected: 'UTF-8 text' })
  const bytes = Buffer.from(content)
  if (bytes.length > MAX_FILE_BYTES)
    throw pathRefused(path, 'too large', { got: `${bytes.length} bytes`, expected: `at most ${MAX_FILE_BYTES}` })
  return bytes
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
