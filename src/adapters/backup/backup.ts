/** A backup: a copy of the home in a folder of its own, made while work goes on. */

import { chmod, mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { writeManifest } from './manifest.ts'
import { copyTree, digestOf, syncFolders } from './tree.ts'

export interface BackupOptions {
  /** The home. */
  readonly root: string
  /** The database's name in it. */
  readonly database: string
  readonly dir: string
  readonly created_at: string
  /** Names at the top of the home that are no part of a backup. */
  isLeftOut(name: string): boolean
  copyDatabase(file: string): Promise<{ readonly schema: number }>
}

export interface Backup {
  readonly dir: string
  readonly created_at: string
  readonly files: number
  readonly bytes: number
  readonly skipped: readonly string[]
}

/**
 * The database first: what its journal says was done is in the files that are copied after it.
 * Contract: whole, or nothing is left of it.
 */
export async function makeBackup(options: BackupOptions): Promise<Backup> {
  const { root, database, created_at } = options
  const dir = await emptyFolder(options.dir, root)
  try {
    const { schema } = await options.copyDatabase(join(dir, database))
    const copied = await copyTree(root, dir, options.isLeftOut)
    const files = [{ path: database, ...(await digestOf(join(dir, database))) }, ...copied.files]
    const { folders, links, skipped } = copied
    await syncFolders(dir, copied)
    await writeManifest(dir, { schema, created_at, home: root, files, folders, links })
    return { dir, created_at, files: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0), skipped }
  } catch (thrown) {
    for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true, force: true })
    if (thrown instanceof TirelessError) throw thrown
    const [what, fix] = ['the backup cannot be written', 'free the disk, or name a folder elsewhere']
    throw new TirelessError('store_failed', { what, where: dir, got: String(thrown), fix }, { cause: thrown })
  }
}

async function emptyFolder(wanted: string, root: string): Promise<string> {
  const refused = (what: string, got?: string, cause?: unknown): TirelessError => {
    const fix = 'name a new or an empty folder outside of the home'
    return new TirelessError('usage', { what, where: wanted, got, fix }, { cause })
  }
  if (isInside(wanted, root)) throw refused('a backup inside of the home is lost with it')
  let dir: string
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 })
    dir = await realpath(wanted)
  } catch (cause) {
    throw refused('the folder cannot be made', String(cause), cause)
  }
  if (isInside(dir, await realpath(root))) throw refused('a backup inside of the home is lost with it')
  const names = await readdir(dir)
  if (names.length > 0) throw refused('the folder is not empty', names.slice(0, 3).join(', '))
  await chmod(dir, 0o700)
  return dir
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`))
}
