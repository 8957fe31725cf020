/** manifest.json: the contents of a backup. It is written last, so a folder without it is not a backup. */

import { open, readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { z } from 'zod'
import { describeMismatch } from '../../domain/describe-issues.ts'
import { TirelessError } from '../../domain/error.ts'
import { NOT_INCLUDED_KINDS } from '../../domain/not-included.ts'
import { replaceFile } from '../../files/whole-files.ts'

const BACKUP_MANIFEST = 'manifest.json'
const VERSION = 1

/** A path relative to the backup folder, with forward slashes; it must not lead out of the folder. */
const path = z.string().refine((text) => {
  const parts = text.split('/')
  return !text.includes('\0') && posix.normalize(text) === text && parts.every((part) => part !== '' && part !== '..')
}, 'a path inside the backup')
const mode = z.int().min(0).max(0o777)

const manifestShape = z.object({
  version: z.literal(VERSION),
  /** Schema version of the database. */
  schema: z.int().positive(),
  created_at: z.string(),
  /** The home folder that was copied. */
  home: z.string(),
  files: z.array(z.object({ path, mode, bytes: z.int().nonnegative(), sha256: z.string() })),
  folders: z.array(z.object({ path, mode })),
  links: z.array(z.object({ path, target: z.string() })),
  /** Absent in backups of earlier versions, which did not say. */
  not_included: z
    .array(
      z.object({
        kind: z.enum(NOT_INCLUDED_KINDS),
        path: z.string(),
        target: z.string().nullable(),
        bytes: z.int().nonnegative().nullable(),
        at_least: z.boolean(),
      }),
    )
    .default([]),
})

export type BackupManifest = Readonly<z.output<typeof manifestShape>>
export type BackupContents = Pick<BackupManifest, 'files' | 'folders' | 'links'>

export async function readBackupManifest(dir: string): Promise<BackupManifest> {
  const invalidBackup = (what: string, got: string, cause?: unknown): TirelessError =>
    new TirelessError(
      'conflict',
      { what, where: dir, got, expected: 'a folder written by `tireless backup`', fix: 'choose another backup' },
      { cause },
    )
  let data: unknown
  try {
    data = JSON.parse(await readFile(join(dir, BACKUP_MANIFEST), 'utf8'))
  } catch (cause) {
    throw invalidBackup(
      `no readable ${BACKUP_MANIFEST}: this is not a backup, or an unfinished one`,
      String(cause),
      cause,
    )
  }
  const { success, data: manifest, error } = manifestShape.safeParse(data)
  if (success) return manifest
  throw invalidBackup(`${BACKUP_MANIFEST} has an unknown format`, describeMismatch(error.issues, data))
}

/** Contract: newest first; folders without a readable manifest are left out. */
export async function listBackups(folder: string, isSecretsFile: (name: string) => boolean) {
  const names = await readdir(folder).catch((): string[] => [])
  const found = await Promise.all(
    names.map(async (name) => {
      const manifest = await readBackupManifest(join(folder, name)).catch(() => undefined)
      if (!manifest) return []
      const { created_at, home, files } = manifest
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      const secrets = files.some((file) => isSecretsFile(file.path))
      return [{ dir: join(folder, name), created_at, home, files: files.length, bytes, secrets }]
    }),
  )
  return found.flat().toSorted((a, b) => b.created_at.localeCompare(a.created_at))
}

export function writeBackupManifest(dir: string, manifest: Omit<BackupManifest, 'version'>): void {
  writeJson(join(dir, BACKUP_MANIFEST), { version: VERSION, ...manifest })
}

/** Contract: the file is on disk when this returns. */
export const writeJson = (file: string, value: unknown): void =>
  replaceFile(file, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })

export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}
