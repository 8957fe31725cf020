/**
 * Copies folders and hashes the files while copying. Links are copied as links; one that leads out of the tree is
 * named, or followed on request.
 */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, readFile, readlink, realpath, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { NotIncluded } from '../../domain/not-included.ts'
import { pathBelow } from '../../ports/stored-paths.ts'
import { type BackupContents, syncPath } from './manifest.ts'
import { createMeasure } from './measure.ts'

/** Number of files copied at the same time. With many small files, most of the time is spent waiting for the disk. */
const PARALLEL_FILES = 16

interface CopiedTree extends BackupContents {
  readonly notIncluded: readonly NotIncluded[]
}

export interface CopyOptions {
  /** Whether a path is copied; `leave_out`: without a word, because it is made again; a kind: it is named. */
  ruleOf(path: string): 'copy' | 'leave_out' | NotIncluded['kind']
  /** For a link that leads out of the tree; `name`: it is copied as a link; `follow`: its content is copied instead. */
  linkRule(path: string, target: string): 'keep' | 'name' | 'follow'
}

/** A file or folder of the copy: `path` below the copy, and where it is copied from. */
interface Source {
  readonly path: string
  readonly from: string
}

/** Contract: leaves out files that disappear during the copy; `notIncluded` names all else that is not in the copy. */
export async function copyTree(root: string, to: string, options: CopyOptions): Promise<CopiedTree> {
  const copied = { files: [], folders: [], links: [], notIncluded: [] } as {
    -readonly [K in keyof CopiedTree]: CopiedTree[K][number][]
  }
  const files: (Source & { readonly mode: number })[] = []
  const measure = createMeasure()
  const realRoot = await realpath(root)
  const followed = new Set<string>()

  const nameMissing = async (kind: NotIncluded['kind'], path: string, at: string, target: string | null = null) => {
    copied.notIncluded.push({ kind, path, target, ...(await measure(at)) })
  }

  /** An empty folder is no loss. */
  async function nameLeftOut(kind: NotIncluded['kind'], path: string, from: string): Promise<void> {
    const size = await measure(from)
    if (size.bytes !== 0) copied.notIncluded.push({ kind, path, target: null, ...size })
  }

  async function visit({ path, from }: Source): Promise<void> {
    const rule = options.ruleOf(path)
    if (rule === 'leave_out') return
    if (rule !== 'copy') return nameLeftOut(rule, path, from)
    const found = await lstat(from)
    const mode = found.mode & 0o777
    if (found.isFile()) {
      files.push({ path, from, mode })
      const repository = path.endsWith('/.git') ? await repositoryOf(from) : undefined
      if (repository !== undefined && pathBelow(realRoot, repository) === undefined)
        await nameMissing('repository', path, repository, repository)
    } else if (found.isSymbolicLink()) await visitLink({ path, from })
    else if (found.isDirectory()) await visitFolder({ path, from }, mode)
    else copied.notIncluded.push({ kind: 'special', path, target: null, bytes: null, at_least: false })
  }

  async function visitFolder({ path, from }: Source, mode: number): Promise<void> {
    const names = await readdir(from)
    await mkdir(join(to, path), { mode: 0o700 })
    copied.folders.push({ path, mode })
    for (const name of names) await skipUnreadable(visit, { path: `${path}/${name}`, from: join(from, name) })
  }

  async function visitLink({ path, from }: Source): Promise<void> {
    const target = await readlink(from)
    const place = resolve(dirname(from), target)
    const real = await realpath(place).catch(() => place)
    const isOutside = pathBelow(realRoot, real) === undefined && pathBelow(root, real) === undefined
    const rule = isOutside ? options.linkRule(path, real) : 'keep'
    if (rule === 'follow' && !followed.has(real) && (await isApart(real))) {
      followed.add(real)
      return visit({ path, from: real })
    }
    if (rule !== 'keep') await nameMissing('link', path, real, target)
    await symlink(target, join(to, path))
    copied.links.push({ path, target })
  }

  /** Whether the target exists, and contains neither the tree nor its copy. */
  async function isApart(target: string): Promise<boolean> {
    const exists = await lstat(target).catch(() => undefined)
    return exists !== undefined && [realRoot, to].every((folder) => pathBelow(target, folder) === undefined)
  }

  async function skipUnreadable<T extends Source>(work: (source: T) => Promise<void>, source: T): Promise<void> {
    try {
      await work(source)
    } catch (thrown) {
      const code = codeOf(thrown)
      if (code === 'EACCES' || code === 'EPERM') await nameMissing('unreadable', source.path, source.from)
      else if (code !== 'ENOENT') throw thrown
    }
  }

  for (const name of await readdir(root)) await skipUnreadable(visit, { path: name, from: join(root, name) })
  await runInParallel(files, (file) =>
    skipUnreadable(async ({ path, from, mode }) => {
      copied.files.push({ path, mode, ...(await copyFile(from, join(to, path))) })
    }, file),
  )
  return copied
}

/** The repository of a git work tree, by the file `.git` in it. */
async function repositoryOf(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const [, target] = /^gitdir: (.+?)\s*$/.exec(text) ?? []
  return target === undefined ? undefined : resolve(dirname(file), target)
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
