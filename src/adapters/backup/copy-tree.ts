/** Copies folders and hashes the files while copying. Links are copied as links, never followed. */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, readlink, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type BackupContents, syncPath } from './manifest.ts'

/** Number of files copied at the same time. With many small files, most of the time is spent waiting for the disk. */
const PARALLEL_FILES = 16

interface CopiedTree extends BackupContents {
  readonly skipped: readonly string[]
}

/** Contract: leaves out files that disappear during the copy; `skipped` names entries that could not be copied. */
export async function copyTree(from: string, to: string, isLeftOut: (name: string) => boolean): Promise<CopiedTree> {
  const copied = { files: [], folders: [], links: [], skipped: [] } as {
    -readonly [K in keyof CopiedTree]: CopiedTree[K][number][]
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
      if (!path.includes('/')) copied.skipped.push(`${path}: a link; its target is not backed up`)
    } else if (stat.isDirectory()) {
      const names = await readdir(join(from, path))
      await mkdir(join(to, path), { mode: 0o700 })
      copied.folders.push({ path, mode })
      for (const name of names) await skipUnreadable(`${path}/${name}`, visit)
    } else copied.skipped.push(`${path}: not a file, folder or link`)
  }
  async function skipUnreadable(path: string, work: (path: string) => Promise<void>): Promise<void> {
    try {
      await work(path)
    } catch (thrown) {
      const code = codeOf(thrown)
      if (code === 'EACCES' || code === 'EPERM') copied.skipped.push(`${path}: no permission to read`)
      else if (code !== 'ENOENT') throw thrown
    }
  }

  for (const name of await readdir(from)) if (!isLeftOut(name)) await skipUnreadable(name, visit)
  await runInParallel(files, ({ path, mode }) =>
    skipUnreadable(path, async () => {
      copied.files.push({ path, mode, ...(await copyFile(join(from, path), join(to, path))) })
    }),
  )
  return copied
}

/** Error codes about the source file; any other error is about the target folder. */
const SOURCE_ERRORS = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM', 'EIO'])

/**
 * Contract: copies exactly the listed files, with their modes; returns a message for each file that is unreadable or
 * differs from its listed hash.
 */
export async function copyManifestFiles(from: string, to: string, listed: BackupContents): Promise<readonly string[]> {
  const problems: string[] = []
  for (const { path } of listed.folders) await mkdir(join(to, path), { recursive: true, mode: 0o700 })
  await runInParallel(listed.files, async ({ path, mode, sha256 }) => {
    try {
      const copied = await copyFile(join(from, path), join(to, path))
      if (copied.sha256 !== sha256) problems.push(`${path} has changed`)
      await chmod(join(to, path), mode)
    } catch (thrown) {
      const code = codeOf(thrown)
      if (!SOURCE_ERRORS.has(code)) throw thrown
      problems.push(`${path} cannot be read (${code})`)
    }
  })
  // Links after files, so that no file is written through a link. Folder modes last: they may forbid writing.
  for (const { path, target } of listed.links) await symlink(target, join(to, path))
  await syncFolders(to, listed)
  for (const { path, mode } of listed.folders) await chmod(join(to, path), mode)
  return problems
}

/**
 * Contract: the copy is on disk when this resolves; only its owner can read it, and it is executable if the original
 * is.
 */
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

export async function hashFile(path: string): Promise<{ mode: number; bytes: number; sha256: string }> {
  await using file = await open(path, 'r')
  const { mode, size } = await file.stat()
  const hash = createHash('sha256')
  for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) hash.update(chunk)
  return { mode: mode & 0o777, bytes: size, sha256: hash.digest('hex') }
}

/** Contract: every folder of the tree is synced to disk. */
export async function syncFolders(root: string, { folders }: BackupContents): Promise<void> {
  for (const { path } of folders) await syncPath(join(root, path))
  await syncPath(root)
  await syncPath(dirname(root))
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
}

async function runInParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const pending = [...items]
  const worker = async (): Promise<void> => {
    for (let item = pending.pop(); item !== undefined; item = pending.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: PARALLEL_FILES }, worker))
}
