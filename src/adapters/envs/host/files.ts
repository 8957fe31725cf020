/**
 * The one rooted file API. Everything is decided on an opened handle: a regular file, with one name, of bearable size,
 * inside the root. Writes of one root stand in line, so that compare and replace cannot interleave among our own.
 */

import { createHash } from 'node:crypto'
import { constants, existsSync, type Stats } from 'node:fs'
import { access, type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { TirelessError } from '../../../domain/error.ts'
import type { FileOps } from '../../../ports/env.ts'
import { whyProtected } from '../protected.ts'
import { obeyedBeside } from '../repository/obeyed-beside.ts'
import { type Folder, type Folders, rootedFolders } from './folders.ts'
import { entriesOf } from './listing.ts'
import { namesBelow } from './paths.ts'
import { errno, explained, refused } from './refusal.ts'

export const MAX_FILE_BYTES = 10 * 1024 * 1024
const MAX_CHANGED_PATHS = 200
const MAX_CHANGED_VISITS = 100_000
const MAX_DEPTH = 64
/** File times come from the kernel's coarse clock, which runs up to a tick behind the wall clock. */
const FILE_TIME_SLACK_MS = 20

/** Others may replace a file while it is looked at, and do so with every write. */
const MOST_LOOKS = 20
const LOOKS_AT_NAME = 6

/** Without NONBLOCK a FIFO would hold us until somebody writes; a terminal must not become ours. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

interface Held {
  readonly bytes: Buffer
  readonly sha: string
  readonly stats: Stats
}

/** By its layout: no more than a look, because what makes it one cannot be written here. */
function isInGitFolder(root: string, parents: readonly string[]): boolean {
  const folders = [root, ...parents.map((_, at) => [root, ...parents.slice(0, at + 1)].join('/'))]
  return folders.some((folder) => ['HEAD', 'objects', 'refs'].every((name) => existsSync(`${folder}/${name}`)))
}

/** Whether a repository above it names it, or the hooks of one read it. */
function isObeyedByGit(root: string, names: readonly string[]): boolean {
  const path = [root, ...names].join('/')
  return names.some((_, at) => {
    const folder = [root, ...names.slice(0, at)].join('/')
    const obeyed = existsSync(`${folder}/.git/config`) ? obeyedBeside(folder, `${folder}/.git`) : []
    return obeyed.some((one) => path === one || path.startsWith(`${one}/`))
  })
}

/** `root` must be a real path. */
export function rootedFiles(root: string, folders: Folders = rootedFolders(root)): FileOps {
  let lastWrite: Promise<unknown> = Promise.resolve()

  async function read(path: string) {
    const { parents, name } = fileNames(root, path)
    await using folder = await folders.enter(parents)
    const held = folder && (await hold(folder, name))
    return held && { text: textOf(held.bytes, path), sha: held.sha }
  }

  async function replace(path: string, content: string | Uint8Array, expected: string | null) {
    const { parents, name } = fileNames(root, path)
    const why = whyProtected([...parents, name])
    if (why !== undefined) throw refused(path, why)
    if (isInGitFolder(root, parents)) throw refused(path, 'inside a repository of git without a .git: use git')
    if (isObeyedByGit(root, [...parents, name])) throw refused(path, "your owner's git obeys what it says")
    const bytes = bytesOf(content, path)
    await using folder = await folders.enter(parents, expected === null)
    if (!folder) throw conflict(path, undefined, expected)
    // Awaited here: the folder must stay open until it is done.
    return await replaceIn(folder, name, bytes, expected)
  }

  async function writable(path: string) {
    const names = namesBelow(root, path)
    const name = names.at(-1)
    if (whyProtected(names) !== undefined || isInGitFolder(root, names) || isObeyedByGit(root, names)) return false
    await using folder = await folders.enter(names.slice(0, -1))
    if (!folder || name === undefined) return folder !== undefined && (await mayWrite(folder.place))
    const isThere = await look(folder, name, async (_, stats) => {
      if (stats.isDirectory()) return mayWrite(folder.at(name))
      checkRegular(stats, path)
      // Written by renaming, so its folder has to allow it too.
      return (await mayWrite(folder.at(name))) && (await mayWrite(folder.place))
    })
    return isThere ?? false
  }

  async function list(path: string, depth: number, limit: number) {
    const names = namesBelow(root, path)
    await using folder = await folders.enter(names)
    if (!folder) throw new TirelessError('not_found', { what: 'no such folder', where: JSON.stringify(path) })
    const entries: { path: string; bytes: number }[] = []
    for await (const entry of entriesOf(folders, folder, depth)) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ path: entry.path, bytes: entry.stats.isDirectory() ? 0 : entry.stats.size })
    }
    return { entries, more: false }
  }

  /** A folder in it says that names in that folder came or went, which is all that is left of a deleted file. */
  async function changedSince(ms: number) {
    const since = ms - FILE_TIME_SLACK_MS
    await using folder = await folders.enter([])
    if (!folder) return []
    const changed = (await folder.handle.stat()).mtimeMs >= since ? ['./'] : []
    let visits = 0
    for await (const { path, stats } of entriesOf(folders, folder, MAX_DEPTH)) {
      const newest = stats.isDirectory() ? stats.mtimeMs : Math.max(stats.mtimeMs, stats.ctimeMs)
      if (newest >= since) changed.push(path)
      visits += 1
      if (changed.length >= MAX_CHANGED_PATHS || visits >= MAX_CHANGED_VISITS) break
    }
    return changed
  }

  return {
    read,
    write(path, content, expected) {
      const written = lastWrite.then(() => replace(path, content, expected))
      lastWrite = written.catch(() => {})
      return written
    },
    writable,
    list,
    changedSince,
  }
}

function fileNames(root: string, path: string): { parents: readonly string[]; name: string } {
  const names = namesBelow(root, path)
  const name = names.at(-1)
  if (name === undefined) throw refused(path, 'a folder, where a file is wanted')
  return { parents: names.slice(0, -1), name }
}

/** Contract: undefined where there is no such file. */
function hold(folder: Folder, name: string): Promise<Held | undefined> {
  return look(folder, name, async (handle, stats) => {
    checkRegular(stats, folder.below(name))
    const bytes = await readUpTo(handle, stats.size)
    return { bytes, sha: digest(bytes), stats }
  })
}

/** Contract: undefined where there is nothing of that name. */
async function look<T>(
  folder: Folder,
  name: string,
  use: (handle: FileHandle, stats: Stats) => Promise<T>,
): Promise<T | undefined> {
  for (let tries = MOST_LOOKS; tries > 0; tries -= 1) {
    await using handle = await opened(folder, name)
    if (!handle) return undefined
    await folder.confirm({ handle, name })
    const stats = await statsOfNamed(folder, name, handle)
    // Awaited here: the file must stay open until it is done.
    if (stats) return await use(handle, stats)
  }
  throw refused(folder.below(name), 'a file that is swapped all the time')
}

async function opened(folder: Folder, name: string): Promise<FileHandle | undefined> {
  try {
    return await open(folder.at(name), READ)
  } catch (error) {
    if (errno(error) === 'ENOENT') return undefined
    throw await explained(error, folder.at(name), folder.below(name))
  }
}

/**
 * What is open, as the file of that name; undefined where it is that no longer. Asked of the name: whoever takes the name away from a hard link while
 * we hold it leaves a file that seems to have a single one. `lstat` finds the file first and counts its names after, so a name taken away in between
 * is missed by one look; it would have to be put back and taken away in that instant of every look.
 */
async function statsOfNamed(folder: Folder, name: string, handle: FileHandle): Promise<Stats | undefined> {
  const held = await handle.stat()
  for (let looks = 1; ; looks += 1) {
    const named = await lstat(folder.at(name)).catch(() => undefined)
    if (!named || named.ino !== held.ino || named.dev !== held.dev) return undefined
    if (named.nlink > 1 || looks === LOOKS_AT_NAME) return named
  }
}

const mayWrite = (place: string): Promise<boolean> =>
  access(place, constants.W_OK).then(
    () => true,
    () => false,
  )

function checkRegular(stats: Stats, path: string): void {
  if (stats.isDirectory()) throw refused(path, 'a folder, where a file is wanted')
  if (!stats.isFile()) throw refused(path, 'not a regular file')
  if (stats.nlink > 1) throw refused(path, 'a hard link: the file has other names, maybe outside of the workspace')
  if (stats.size > MAX_FILE_BYTES)
    throw refused(path, 'too large', { got: `${stats.size} bytes`, expected: `at most ${MAX_FILE_BYTES}` })
}

/** What is appended meanwhile is left for the next look. */
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
 * The last look at the file and the rename are two system calls: a stranger's write in between is lost. Nothing that POSIX
 * has would close this; our own writes stand in line.
 */
async function replaceIn(folder: Folder, name: string, bytes: Buffer, expected: string | null) {
  const path = folder.below(name)
  const sha = digest(bytes)
  const before = await hold(folder, name)
  // Named after what it will become, so that the rerun of a write that was killed sweeps up after it.
  const temporary = folder.at(`.tireless-${digest(Buffer.from(`${name}\0${sha}`)).slice(0, 24)}.tmp`)
  try {
    await rm(temporary, { force: true })
    await writeWhole(temporary, bytes, before?.stats)
    const current = (await hold(folder, name))?.sha ?? null
    // The same write again, after a crash, finds its own work.
    if (current === sha) {
      await rm(temporary, { force: true })
      return { sha }
    }
    if (current !== expected) throw conflict(path, current ?? undefined, expected)
    await folder.confirm()
    await rename(temporary, folder.at(name))
    await folder.handle.sync()
    return { sha }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw await explained(error, temporary, path)
  }
}

async function writeWhole(place: string, bytes: Buffer, like: Stats | undefined): Promise<void> {
  await using handle = await open(place, CREATE, 0o666)
  await handle.writeFile(bytes)
  if (like) {
    // Only root may give a file away; for everybody else the new file is their own, as with any editor that renames.
    await handle.chown(like.uid, like.gid).catch(() => {})
    await handle.chmod(like.mode & 0o777)
  }
  await handle.sync()
}

function conflict(path: string, got: string | undefined, expected: string | null): TirelessError {
  return new TirelessError('conflict', {
    where: JSON.stringify(path),
    what: 'the file is not what it was',
    got: got === undefined ? 'no file' : `digest ${got.slice(0, 12)}`,
    expected: expected === null ? 'no file' : `digest ${expected.slice(0, 12)}`,
    fix: 'read it again',
  })
}

function textOf(bytes: Buffer, path: string): string {
  try {
    // The byte order mark is kept: what is read and written back must be the same bytes.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {}
  throw refused(path, 'a binary file', { expected: 'UTF-8 text' })
}

function bytesOf(content: string | Uint8Array, path: string): Buffer {
  if (typeof content === 'string' && (content.includes('\0') || !content.isWellFormed()))
    throw refused(path, 'binary content', { expected: 'UTF-8 text' })
  const bytes = Buffer.from(content)
  if (bytes.length > MAX_FILE_BYTES)
    throw refused(path, 'too large', { got: `${bytes.length} bytes`, expected: `at most ${MAX_FILE_BYTES}` })
  return bytes
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
