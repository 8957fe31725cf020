/**
 * Replaces the home with a backup. A kill at any moment leaves either the old home, or a home that cannot be opened
 * until the same command finishes the restore.
 *
 * Order: copy the backup into a staging folder of the home and check it; write a note that lists the planned moves;
 * move the old content aside; move the new content in; delete the note. Every move is a rename inside the home, so the
 * files on disk show which moves are done.
 */

import { lstatSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import type { NotIncluded } from '../../domain/not-included.ts'
import { pathBelow } from '../../ports/stored-paths.ts'
import { copyManifestFiles } from './copy-tree.ts'
import { type BackupManifest, readBackupManifest, syncPath, writeJson } from './manifest.ts'

interface RestoreOptions {
  /** The home folder. */
  readonly root: string
  /** Name of the database file in the home. */
  readonly database: string
  readonly dir: string
  readonly now: string
  /** The folder inside the home to which the backup is copied and where it is checked. */
  readonly staging: string
  /** The file with the note about the planned moves. While it exists, the home must not be opened. */
  readonly noteFile: string
  /** Prefix of the folder that receives the old content. */
  readonly asidePrefix: string
  /** Names at the top of the home that are neither moved aside nor backed up. */
  isUntouched(name: string): boolean
  /** Names that are moved aside only if the backup contains them. */
  isKeptUnlessReplaced(name: string): boolean
  /**
   * Contract: makes the staged files usable in this home, or throws; says what the owner should know. `home`: the
   * folder that was backed up.
   */
  adopt(staging: string, home: string): readonly string[]
}

interface RestoreResult {
  readonly from: string
  readonly created_at: string
  readonly files: number
  readonly before: string | null
  readonly notes: readonly string[]
  readonly not_included: readonly NotIncluded[]
}

interface Note extends RestoreResult {
  /** Names in the home that are moved into the folder `before`. */
  readonly moved: readonly string[]
}

export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const resumed = pathExists(options.noteFile) ? await finish(options) : undefined
  if (resumed?.from === options.dir) return resumed
  await rm(options.staging, { recursive: true, force: true })
  try {
    writeJson(options.noteFile, await prepare(options, await readBackupManifest(options.dir)))
  } catch (thrown) {
    await rm(options.staging, { recursive: true, force: true })
    if (thrown instanceof TirelessError) throw thrown
    const [what, fix] = ['the backup cannot be copied; the home is unchanged', 'free disk space and try again']
    throw new TirelessError('store_failed', { what, where: options.root, got: String(thrown), fix }, { cause: thrown })
  }
  await syncPath(options.root)
  return finish(options)
}

/** Contract: changes nothing outside the staging folder. */
async function prepare(options: RestoreOptions, manifest: BackupManifest): Promise<Note> {
  const { root, dir, staging } = options
  checkManifest(manifest, options)
  await mkdir(staging, { mode: 0o700 })
  const links = manifest.links.map((link) => ({ ...link, target: targetIn(root, manifest.home, link.target) }))
  const problems = await copyManifestFiles(dir, staging, { ...manifest, links })
  if (problems.length > 0) throw damagedBackup(dir, problems)
  const notes = options.adopt(staging, manifest.home)
  const isKept = (name: string): boolean =>
    options.isUntouched(name) || (options.isKeptUnlessReplaced(name) && !isInBackup(manifest, name))
  const moved = (await listContents(root)).filter((name) => !isKept(name))
  const before = moved.length === 0 ? null : unusedName(join(root, `${options.asidePrefix}${options.now}`))
  const { created_at, files, not_included } = manifest
  return { from: dir, created_at, files: files.length, before, moved, notes, not_included }
}

/** Does the moves of the note that are not done yet. All old content moves aside before any new content moves in. */
async function finish({ root, staging, noteFile: note }: RestoreOptions): Promise<RestoreResult> {
  const { moved, notes = [], not_included = [], ...rest } = JSON.parse(await readFile(note, 'utf8')) as Note
  const restored = { ...rest, notes, not_included }
  const { before } = restored
  if (before !== null) {
    await mkdir(before, { recursive: true, mode: 0o700 })
    for (const name of moved)
      if (!pathExists(join(before, name)) && pathExists(join(root, name)))
        await rename(join(root, name), join(before, name))
    await syncPath(before)
    await syncPath(root)
  }
  for (const name of pathExists(staging) ? await readdir(staging) : [])
    await rename(join(staging, name), join(root, name))
  await syncPath(root)
  await rm(staging, { recursive: true, force: true })
  await rm(note)
  await syncPath(root)
  return restored
}

/** A link with an absolute path of the home that was backed up leads to the same place of this one. */
function targetIn(root: string, original: string, target: string): string {
  const below = pathBelow(original, target)
  return below === undefined ? target : join(root, below)
}

const isInBackup = ({ files, folders, links }: BackupManifest, name: string): boolean =>
  [...files, ...folders, ...links].some(({ path }) => path === name)

function checkManifest(
  { files, folders, links }: BackupManifest,
  { dir, database, isUntouched }: RestoreOptions,
): void {
  const problems = [...files, ...folders, ...links]
    .map(({ path }) => path)
    .filter((path) => isUntouched(path.split('/')[0] ?? ''))
    .map((path) => `${path} does not belong in a backup`)
  if (!files.some(({ path }) => path === database)) problems.push(`${database} is missing`)
  if (problems.length > 0) throw damagedBackup(dir, problems)
}

function damagedBackup(dir: string, problems: readonly string[]): TirelessError {
  const more = problems.length > 5 ? ` and ${problems.length - 5} more` : ''
  return new TirelessError('conflict', {
    what: 'the backup is damaged; the home is unchanged',
    where: dir,
    got: `${problems.slice(0, 5).join('; ')}${more}`,
    fix: 'restore another backup',
  })
}

/** Names in the home, without empty folders: a rename can replace an empty folder. */
async function listContents(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { withFileTypes: true })
  const hasContent = await Promise.all(
    entries.map(async (entry) => !entry.isDirectory() || (await readdir(join(root, entry.name))).length > 0),
  )
  return entries.filter((_, i) => hasContent[i]).map(({ name }) => name)
}

/** Also true for a broken link. */
function pathExists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function unusedName(path: string): string {
  for (let i = 1; ; i += 1) {
    const name = i === 1 ? path : `${path}-${i}`
    if (!pathExists(name)) return name
  }
}
