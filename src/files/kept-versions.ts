/**
 * The last versions of files that people wrote and commands replace, such as secrets.json and tireless.yaml. They are
 * readable by their owner only, named by number and by the time at which the version was written; the highest number is
 * the newest.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { describeDiskError, TirelessError } from '../domain/error.ts'
import { replaceFile, writeNewFile } from './whole-files.ts'

/** Of one file. */
const MAX_VERSIONS = 20

/**
 * Contract: the content of the file is among the versions in `folder` when this returns, as the newest; throws
 * `not_written` if that is impossible. A content is kept once. Returns where it is; null if there is no such file.
 */
export function keepVersion(file: string, folder: string): string | null {
  try {
    return addVersion(file, folder)
  } catch (cause) {
    const { got, fix } = cause instanceof TirelessError ? cause.parts : describeDiskError(cause)
    const what = 'the file stays as it is, because its present version could not be kept'
    throw new TirelessError('not_written', { what, where: file, got, fix }, { cause })
  }
}

function addVersion(file: string, folder: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return null
  const content = readFileSync(file)
  const kept = listVersions(folder)
  const same = kept.find((path) => readFileSync(path).equals(content))
  if (same !== undefined && same === kept[0]) return same
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, nameOf(numberOf(kept[0]) + 1, stats.mtime, extname(file)))
  if (same === undefined) writeNewFile(path, content)
  else renameSync(same, path)
  for (const old of listVersions(folder).slice(MAX_VERSIONS)) rmSync(old)
  return path
}

/** Contract: as `replaceFile`; the content before is kept first, and returned as of `keepVersion`. */
export function replaceKeptFile(
  file: string,
  content: string,
  { versions, ...options }: { readonly versions: string } & Parameters<typeof replaceFile>[2],
): string | null {
  const kept = keepVersion(file, versions)
  replaceFile(file, content, options)
  return kept
}

/** Contract: the newest version that passes the check; undefined if there is none. Never throws. */
export function findVersion(folder: string, isGood: (text: string) => boolean): string | undefined {
  try {
    return listVersions(folder).find((path) => isGood(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

const VERSION = /^(\d+)-\d{4}-\d\d-\d\dT/

/** Newest first. */
function listVersions(folder: string): readonly string[] {
  if (!statSync(folder, { throwIfNoEntry: false })) return []
  const names = readdirSync(folder).filter((name) => VERSION.test(name))
  return names.map((name) => join(folder, name)).toSorted((a, b) => numberOf(b) - numberOf(a))
}

const numberOf = (path: string | undefined): number => Number(VERSION.exec(path?.split(/[/\\]/).at(-1) ?? '')?.[1] ?? 0)

/** Without colons, which Windows does not allow in names. */
const nameOf = (number: number, written: Date, extension: string): string =>
  `${String(number).padStart(4, '0')}-${written.toISOString().slice(0, 19).replaceAll(':', '-')}Z${extension}`
