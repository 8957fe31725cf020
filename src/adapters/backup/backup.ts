/** Makes a backup: a copy of the home in a separate folder, taken while the kernel runs. */

import { chmod, readdir, realpath, rm } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import type { NotIncluded } from '../../domain/not-included.ts'
import { createFolders } from '../../ports/create-folders.ts'
import { type CopyOptions, copyTree, hashFile, syncFolders } from './copy-tree.ts'
import { writeBackupManifest } from './manifest.ts'
import { createMeasure } from './measure.ts'

interface BackupOptions extends CopyOptions {
  /** The home folder. */
  readonly root: string
  /** Name of the database file in the home. */
  readonly database: string
  readonly dir: string
  readonly created_at: string
  /** What belongs to the home and is outside of it. */
  readonly outside: readonly Pick<NotIncluded, 'kind' | 'path'>[]
  copyDatabase(file: string): Promise<{ readonly schema: number }>
}

interface Backup {
  readonly dir: string
  readonly created_at: string
  readonly files: number
  readonly bytes: number
  /** Its files by the first name of their paths. */
  readonly parts: readonly BackupPart[]
  readonly not_included: readonly NotIncluded[]
}

interface BackupPart {
  readonly name: string
  readonly files: number
  readonly bytes: number
}

/**
 * Copies the database first: the files copied after it then contain every effect that its journal records.
 * Contract: makes a complete backup, or leaves nothing behind.
 */
export async function makeBackup(options: BackupOptions): Promise<Backup> {
  const { root, database, created_at } = options
  const dir = await prepareFolder(options.dir, root)
  try {
    const { schema } = await options.copyDatabase(join(dir, database))
    const copied = await copyTree(root, dir, options)
    const files = [{ path: database, ...(await hashFile(join(dir, database))) }, ...copied.files]
    const { folders, links } = copied
    const not_included = [...copied.notIncluded, ...(await measureOutside(options.outside))].toSorted((a, b) =>
      a.path < b.path ? -1 : 1,
    )
    await syncFolders(dir, copied)
    writeBackupManifest(dir, { schema, created_at, home: root, files, folders, links, not_included })
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    return { dir, created_at, files: files.length, bytes, parts: partsOf(files), not_included }
  } catch (thrown) {
    for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true, force: true })
    if (thrown instanceof TirelessError && thrown.code !== 'not_written') throw thrown
    const [what, fix] = ['the backup cannot be written', 'free disk space, or choose another folder']
    throw new TirelessError('store_failed', { what, where: dir, got: String(thrown), fix }, { cause: thrown })
  }
}

function partsOf(files: readonly { readonly path: string; readonly bytes: number }[]): readonly BackupPart[] {
  const byName = Map.groupBy(files, ({ path }) => path.split('/')[0] ?? '')
  const parts = [...byName].map(([name, own]) => {
    return { name, files: own.length, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0) }
  })
  return parts.toSorted((a, b) => b.bytes - a.bytes)
}

async function measureOutside(outside: BackupOptions['outside']): Promise<readonly NotIncluded[]> {
  const measure = createMeasure()
  const measured: NotIncluded[] = []
  for (const { kind, path } of outside) measured.push({ kind, path, target: null, ...(await measure(path)) })
  return measured
}

async function prepareFolder(requested: string, root: string): Promise<string> {
  const invalidFolder = (what: string, got?: string, cause?: unknown): TirelessError => {
    const fix = 'choose a new or empty folder outside the home'
    return new TirelessError('usage', { what, where: requested, got, fix }, { cause })
  }
  if (isInside(requested, root)) throw invalidFolder('a backup cannot be inside the home')
  let dir: string
  try {
    await createFolders(resolve(requested), 0o700)
    dir = await realpath(requested)
  } catch (cause) {
    throw invalidFolder('the folder cannot be created', String(cause), cause)
  }
  if (isInside(dir, await realpath(root))) throw invalidFolder('a backup cannot be inside the home')
  const names = await readdir(dir)
  if (names.length > 0) throw invalidFolder('the folder is not empty', names.slice(0, 3).join(', '))
  await chmod(dir, 0o700)
  return dir
}

function isInside(path: string, folder: string): boolean {
  const fromFolder = relative(folder, path)
  return fromFolder === '' || !(fromFolder === '..' || fromFolder.startsWith(`..${sep}`))
}
