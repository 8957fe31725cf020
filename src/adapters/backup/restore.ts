/**
 * A backup put in the place of the home, so that a kill at any moment leaves either the old home or one that cannot be opened until
 * the same command has finished it.
 *
 * Order: the whole backup into a staging folder of the home, checked there; a note of what is about to be moved; the old content aside; the
 * new content in; the note gone. All moves are renames inside the home, and each can be told to have happened by looking.
 */

import { lstatSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { type Manifest, readManifest, syncPath, writeDurably } from './manifest.ts'
import { copyListed } from './tree.ts'

export interface RestoreOptions {
  /** The home. */
  readonly root: string
  /** The database's name in it. */
  readonly database: string
  readonly dir: string
  readonly now: string
  /** Where the backup is checked before anything is moved; inside of the home. */
  readonly staging: string
  /** As long as it is there, the home must not be opened. */
  readonly note: string
  /** The start of the name of the folder that takes what was there before. */
  readonly aside: string
  /** Names at the top of the home that are neither moved aside nor part of a backup. */
  staysPut(name: string): boolean
  /** Those that stay where they are, because the backup has none. */
  staysUnlessReplaced(name: string): boolean
  /** Contract: throws unless the database can be used; `home`: where its sessions' folders were. */
  adopt(database: string, home: string): void
}

export interface Restored {
  readonly from: string
  readonly created_at: string
  readonly files: number
  readonly before: string | null
}

interface Note extends Restored {
  /** What is to be moved into `before`. */
  readonly moved: readonly string[]
}

export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const begun = isThere(options.note) ? await finish(options) : undefined
  if (begun?.from === options.dir) return begun
  await rm(options.staging, { recursive: true, force: true })
  try {
    await writeDurably(options.note, await prepare(options, await readManifest(options.dir)))
  } catch (thrown) {
    await rm(options.staging, { recursive: true, force: true })
    if (thrown instanceof TirelessError) throw thrown
    const [what, fix] = ['the backup cannot be copied into the home, which is as it was', 'free the disk and try again']
    throw new TirelessError('store_failed', { what, where: options.root, got: String(thrown), fix }, { cause: thrown })
  }
  await syncPath(options.root)
  return finish(options)
}

/** Contract: nothing of the home is touched. */
async function prepare(options: RestoreOptions, manifest: Manifest): Promise<Note> {
  const { root, dir, staging } = options
  refuseUnfit(manifest, options)
  await mkdir(staging, { mode: 0o700 })
  const wrong = await copyListed(dir, staging, manifest)
  if (wrong.length > 0) throw damaged(dir, wrong)
  options.adopt(join(staging, options.database), manifest.home)
  const stays = (name: string): boolean =>
    options.staysPut(name) || (options.staysUnlessReplaced(name) && !manifest.files.some(({ path }) => path === name))
  const moved = (await contentsOf(root)).filter((name) => !stays(name))
  const before = moved.length === 0 ? null : freshName(join(root, `${options.aside}${options.now}`))
  return { from: dir, created_at: manifest.created_at, files: manifest.files.length, before, moved }
}

/** From whichever move was the last. The old content is aside as a whole before any of the new moves in. */
async function finish({ root, staging, note }: RestoreOptions): Promise<Restored> {
  const { moved, ...restored } = JSON.parse(await readFile(note, 'utf8')) as Note
  const { before } = restored
  if (before !== null) {
    await mkdir(before, { recursive: true, mode: 0o700 })
    for (const name of moved)
      if (!isThere(join(before, name)) && isThere(join(root, name))) await rename(join(root, name), join(before, name))
    await syncPath(before)
    await syncPath(root)
  }
  for (const name of isThere(staging) ? await readdir(staging) : []) await rename(join(staging, name), join(root, name))
  await syncPath(root)
  await rm(staging, { recursive: true, force: true })
  await rm(note)
  await syncPath(root)
  return restored
}

function refuseUnfit({ files, folders, links }: Manifest, { dir, database, staysPut }: RestoreOptions): void {
  const wrong = [...files, ...folders, ...links]
    .map(({ path }) => path)
    .filter((path) => staysPut(path.split('/')[0] ?? ''))
    .map((path) => `${path} is no part of a backup`)
  if (!files.some(({ path }) => path === database)) wrong.push(`${database} is missing`)
  if (wrong.length > 0) throw damaged(dir, wrong)
}

function damaged(dir: string, wrong: readonly string[]): TirelessError {
  const more = wrong.length > 5 ? ` and ${wrong.length - 5} more` : ''
  return new TirelessError('conflict', {
    what: 'the backup is not as it was made; the home is as it was',
    where: dir,
    got: `${wrong.slice(0, 5).join('; ')}${more}`,
    fix: 'restore another backup',
  })
}

/** An empty folder is no content: what moves in takes its place. */
async function contentsOf(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { withFileTypes: true })
  const full = await Promise.all(
    entries.map(async (entry) => !entry.isDirectory() || (await readdir(join(root, entry.name))).length > 0),
  )
  return entries.filter((_, i) => full[i]).map(({ name }) => name)
}

/** Links too, wherever they lead. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function freshName(path: string): string {
  for (let i = 1; ; i += 1) {
    const name = i === 1 ? path : `${path}-${i}`
    if (!isThere(name)) return name
  }
}
