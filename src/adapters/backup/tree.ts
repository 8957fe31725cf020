/** Copies of files and folders, hashed on the way. Links are copied as links, never followed. */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, readlink, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Contents, syncPath } from './manifest.ts'

/** So many at a time: a folder of many small files is mostly waiting for the disk. */
const AT_ONCE = 16

export interface Copied extends Contents {
  readonly skipped: readonly string[]
}

/** Contract: what goes away meanwhile is left out; what can be neither read nor copied is named. */
export async function copyTree(from: string, to: string, isLeftOut: (name: string) => boolean): Promise<Copied> {
  const copied = { files: [], folders: [], links: [], skipped: [] } as {
    -readonly [K in keyof Copied]: Copied[K][number][]
  }
  const files: { path: string; mode: number }[] = []

  async function visit(path: string): Promise<void> {
    const stat = await lstat(join(from, path))
    const mode = stat.mode & 0o777
    if (stat.isFile()) files.push({ path, mode })
    else if (stat.isSymbolicLink()) {
      const target = await readlink(join(from, path))
      await symlink(target, join(to, path))
      copied.links.push({ path, target })
      if (!path.includes('/')) copied.skipped.push(`${path}: a link; what it leads to is no part of it`)
    } else if (stat.isDirectory()) {
      const names = await readdir(join(from, path))
      await mkdir(join(to, path), { mode: 0o700 })
      copied.folders.push({ path, mode })
      for (const name of names) await orSkipped(`${path}/${name}`, visit)
    } else copied.skipped.push(`${path}: neither a file, a folder nor a link`)
  }
  async function orSkipped(path: string, work: (path: string) => Promise<void>): Promise<void> {
    try {
      await work(path)
    } catch (thrown) {
      const code = codeOf(thrown)
      if (code === 'EACCES' || code === 'EPERM') copied.skipped.push(`${path}: may not be read`)
      else if (code !== 'ENOENT') throw thrown
    }
  }

  for (const name of await readdir(from)) if (!isLeftOut(name)) await orSkipped(name, visit)
  await inParallel(files, ({ path, mode }) =>
    orSkipped(path, async () => {
      copied.files.push({ path, mode, ...(await copyFile(join(from, path), join(to, path))) })
    }),
  )
  return copied
}

/** What can be wrong with a file that should be there; anything else is wrong with the place it goes to. */
const OF_THE_SOURCE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM', 'EIO'])

/** Contract: copies exactly what is listed, with its modes; names what is not as the list says. */
export async function copyListed(from: string, to: string, listed: Contents): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const { path } of listed.folders) await mkdir(join(to, path), { recursive: true, mode: 0o700 })
  await inParallel(listed.files, async ({ path, mode, sha256 }) => {
    try {
      const copied = await copyFile(join(from, path), join(to, path))
      if (copied.sha256 !== sha256) wrong.push(`${path} has changed`)
      await chmod(join(to, path), mode)
    } catch (thrown) {
      const code = codeOf(thrown)
      if (!OF_THE_SOURCE.has(code)) throw thrown
      wrong.push(`${path} cannot be read (${code})`)
    }
  })
  // After the files: nothing is ever written through a link. Modes of folders last: they may forbid writing.
  for (const { path, target } of listed.links) await symlink(target, join(to, path))
  await syncFolders(to, listed)
  for (const { path, mode } of listed.folders) await chmod(join(to, path), mode)
  return wrong
}

/** Contract: on disk when it resolves; for its owner only, and able to run if the original is. */
async function copyFile(from: string, to: string): Promise<{ bytes: number; sha256: string }> {
  await using source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const { atime, mtime, mode } = await source.stat()
  await using target = await open(to, 'wx', 0o600 | (mode & 0o100))
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of source.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
    await target.writeFile(chunk)
  }
  await target.utimes(atime, mtime)
  await target.sync()
  return { bytes, sha256: hash.digest('hex') }
}

export async function digestOf(path: string): Promise<{ mode: number; bytes: number; sha256: string }> {
  await using file = await open(path, 'r')
  const { mode, size } = await file.stat()
  const hash = createHash('sha256')
  for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) hash.update(chunk)
  return { mode: mode & 0o777, bytes: size, sha256: hash.digest('hex') }
}

/** Contract: every folder of the tree is on disk, with the names in it. */
export async function syncFolders(root: string, { folders }: Contents): Promise<void> {
  for (const { path } of folders) await syncPath(join(root, path))
  await syncPath(root)
  await syncPath(dirname(root))
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
