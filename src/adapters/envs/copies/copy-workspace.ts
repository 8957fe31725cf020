/**
 * Copies a workspace so that nothing done to the copy reaches the original: every file becomes a new file (also hard
 * links; on disks that can, its blocks are shared until one of the two is written), and links are never followed.
 * Folders and files are opened once and then used by their descriptor, so that a link put in their place meanwhile
 * cannot lead the copy elsewhere. Sockets, pipes and devices are left out.
 */

import { createHash } from 'node:crypto'
import { constants, createReadStream, existsSync } from 'node:fs'
import { chmod, copyFile, type FileHandle, mkdir, open, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TirelessError } from '../../../domain/error.ts'
import { errno } from '../host/file-errors.ts'
import { copyLink, cutEscapingLinks, type LinkRules } from './copy-link.ts'

export interface CopyLimits {
  readonly files: number
  readonly bytes: number
}

export const COPY_LIMITS: CopyLimits = { files: 200_000, bytes: 4 * 1024 ** 3 }

interface CopyOptions {
  readonly from: string
  /** A folder that does not exist yet. */
  readonly to: string
  readonly limits: CopyLimits
  readonly links: LinkRules
  /** Names at the top that are left out. */
  readonly without: readonly string[]
  /** Contract: the text of a nested `.git` file in the copy; undefined: it is left out. `at`: its original folder. */
  readonly correctGitFile?: (text: string, at: string) => string | undefined
}

interface CopyWalk extends CopyOptions {
  files: number
  bytes: number
  /** Digests of the files and links copied so far, by path. */
  readonly digests: Map<string, string>
  readonly copiedLinks: string[]
}

/** The content of these folders is copied, but does not count for the digest: it is large and can be made again. */
const NOT_DIGESTED = /(^|\/)(\.git|node_modules)(\/|$)/
const COPIED_AT_ONCE = 16
/** Paths deeper than this could not be removed by their path. */
const MAX_DEPTH = 500

/**
 * Contract: returns a digest of names, modes and contents. Throws `workspace_refused` beyond the limits. Files that
 * cannot be read, and names that are not UTF-8, are left out.
 */
export async function copyWorkspace(options: CopyOptions): Promise<string> {
  const walk: CopyWalk = { ...options, files: 0, bytes: 0, digests: new Map(), copiedLinks: [] }
  await using top = await open(options.from, FOLDER)
  await copyFolder(walk, top, '')
  if (walk.links === 'cut') await cutEscapingLinks(walk.to, walk.copiedLinks)
  const lines = [...walk.digests].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, digest]) => `${path}\0${digest}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

const hasDescriptorPaths = existsSync('/proc/self/fd')
const pathOf = (handle: FileHandle, path: string): string => (hasDescriptorPaths ? `/proc/self/fd/${handle.fd}` : path)

async function copyFolder(walk: CopyWalk, folder: FileHandle, path: string): Promise<void> {
  if (path.split('/').length > MAX_DEPTH) throw tooLarge(walk, 'folders that are too deep')
  const target = join(walk.to, path)
  await mkdir(target, { mode: 0o700 })
  const source = pathOf(folder, join(walk.from, path))
  const entries = (await readdir(source, { withFileTypes: true })).filter(
    ({ name }) => path !== '' || !walk.without.includes(name),
  )
  const others = entries.filter((entry) => !entry.isDirectory())
  for (let at = 0; at < others.length; at += COPIED_AT_ONCE)
    await Promise.all(
      others.slice(at, at + COPIED_AT_ONCE).map(({ name }) => copyEntry(walk, source, join(path, name), 'other')),
    )
  // One after the other, so that few files are open at once.
  for (const { name } of entries.filter((entry) => entry.isDirectory()))
    await copyEntry(walk, source, join(path, name), 'folder')
  const { mode, atime, mtime } = await folder.stat()
  await chmod(target, (mode & 0o777) | 0o700)
  await utimes(target, atime, mtime)
}

/** `source`: a path of the entry's folder. An entry that is no longer of that type is left out. */
async function copyEntry(walk: CopyWalk, source: string, path: string, type: 'folder' | 'other'): Promise<void> {
  walk.files += 1
  if (walk.files > walk.limits.files) throw tooLarge(walk, `more than ${walk.limits.files} files`)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const opened = await openOrWhyNot(join(source, name))
  if (typeof opened === 'string') {
    if (opened === 'ELOOP' || opened === 'EMLINK') await copyLinkAt(walk, join(source, name), path)
    return
  }
  await using handle = opened
  const stats = await handle.stat()
  if (type === 'folder' && stats.isDirectory()) await copyFolder(walk, handle, path)
  if (type === 'other' && stats.isFile()) await copyOpenFile(walk, handle, path)
}

/** A link, a socket, or a file that vanished or that this process may not read. */
const NOT_OPENED = ['ELOOP', 'EMLINK', 'ENXIO', 'ENOENT', 'EACCES', 'EPERM']

async function openOrWhyNot(path: string): Promise<FileHandle | string> {
  try {
    return await open(path, FILE)
  } catch (thrown) {
    const code = errno(thrown)
    if (code !== undefined && NOT_OPENED.includes(code)) return code
    throw thrown
  }
}

async function copyLinkAt(walk: CopyWalk, source: string, path: string): Promise<void> {
  const target = await copyLink(walk.links, { source, path, from: walk.from, to: walk.to })
  walk.copiedLinks.push(path)
  if (target !== undefined && !NOT_DIGESTED.test(path)) walk.digests.set(path, `link ${target}`)
}

async function copyOpenFile(walk: CopyWalk, handle: FileHandle, path: string): Promise<void> {
  const { mode, size, atime, mtime } = await handle.stat()
  walk.bytes += size
  if (walk.bytes > walk.limits.bytes) throw tooLarge(walk, `more than ${walk.limits.bytes} bytes`)
  const target = join(walk.to, path)
  const source = pathOf(handle, join(walk.from, path))
  if (path.endsWith('/.git') && walk.correctGitFile) {
    const text = walk.correctGitFile(await readFile(source, 'utf8'), dirname(join(walk.from, path)))
    if (text !== undefined) await writeFile(target, text, { flag: 'wx' })
    return
  }
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  if (!NOT_DIGESTED.test(path)) {
    await chmod(target, 0o600)
    walk.digests.set(path, `${mode & 0o111 ? 'x' : '-'} ${await digestFile(target)}`)
  }
  await chmod(target, mode & 0o777)
  await utimes(target, atime, mtime)
}

async function digestFile(file: string): Promise<string> {
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(file)) digest.update(chunk)
  return digest.digest('hex')
}

const tooLarge = ({ from, limits }: CopyWalk, got: string): TirelessError =>
  new TirelessError('workspace_refused', {
    ...{ what: 'the workspace is too large to copy', where: from, got },
    expected: `at most ${limits.files} files and ${limits.bytes} bytes`,
    fix: 'move data and build output that the work does not need out of the workspace',
  })
