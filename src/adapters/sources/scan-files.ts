/**
 * Lists the files that a source watches, with fingerprints. Links are neither followed nor listed, so nothing outside
 * the named folders is seen.
 */

import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, matchesGlob, relative, sep } from 'node:path'
import { TirelessError } from '../../domain/error.ts'

/** Files by their path. */
export type FileTree = ReadonlyMap<string, WatchedFile>

interface WatchedFile {
  readonly size: number
  /** Changes with every change of the file. */
  readonly print: string
}

export interface ScanOptions {
  /** Absolute paths of files and folders, or globs. */
  readonly paths: readonly string[]
  /** Names, or globs of paths below a watched folder. */
  readonly ignore: readonly string[]
  readonly mostFiles: number
  /** Contract: whether the program itself writes in this folder; then watching it would never come to rest. */
  isOwnFolder(path: string): boolean
}

/** The folder of a watched path, and which of the files below it count. */
interface Root {
  readonly folder: string
  counts(path: string): boolean
  /** Whether folders below the folder are searched. */
  readonly isDeep: boolean
}

/** Contract: throws `usage` if there are too many files, `path_refused` for the program's own folders. */
export async function scanFiles(options: ScanOptions): Promise<FileTree> {
  const tree = new Map<string, WatchedFile>()
  for (const path of options.paths) {
    const root = await rootOf(path)
    if (!root) continue
    if (options.isOwnFolder(root.folder))
      throw new TirelessError('path_refused', {
        ...{ what: 'Tireless itself writes in this folder', got: root.folder, fix: 'watch another folder' },
      })
    await walk(root, root.folder, options, tree)
  }
  return tree
}

const GLOB = /[*?[\]{}]/

/** Contract: undefined if there is nothing at the path now; it may come later. */
async function rootOf(path: string): Promise<Root | undefined> {
  if (GLOB.test(path)) {
    const steps = path.split(sep)
    const fixed =
      steps
        .slice(
          0,
          steps.findIndex((step) => GLOB.test(step)),
        )
        .join(sep) || sep
    const pattern = steps.slice(fixed.split(sep).length).join(sep)
    const folder = await realFolder(fixed)
    const counts = (file: string): boolean => matchesGlob(relative(folder ?? fixed, file), pattern)
    return folder === undefined ? undefined : { folder, counts, isDeep: /\*\*|[/\\]/.test(pattern) }
  }
  const found = await orMissing(lstat(path))
  if (found === undefined) return undefined
  if (!found.isDirectory()) {
    const folder = await realFolder(dirname(path))
    const file = join(folder ?? '', basename(path))
    return folder === undefined ? undefined : { folder, counts: (other) => other === file, isDeep: false }
  }
  const folder = await realFolder(path)
  return folder === undefined ? undefined : { folder, counts: () => true, isDeep: true }
}

/** Contract: undefined for a link, even to a folder: a program that can replace the folder could show us any other. */
async function realFolder(path: string): Promise<string | undefined> {
  return (await orMissing(lstat(path)))?.isDirectory() ? orMissing(realpath(path)) : undefined
}

async function walk(root: Root, folder: string, options: ScanOptions, tree: Map<string, WatchedFile>): Promise<void> {
  const entries = (await orMissing(readdir(folder, { withFileTypes: true }))) ?? []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (isIgnored(relative(root.folder, path), entry.name, options.ignore)) continue
    if (entry.isDirectory()) {
      if (root.isDeep && !options.isOwnFolder(path)) await walk(root, path, options, tree)
    } else if (entry.isFile() && root.counts(path)) {
      const found = await orMissing(lstat(path))
      if (!found?.isFile()) continue
      // Each of these may stay the same while the content changes.
      const print = [found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ')
      tree.set(path, { size: found.size, print })
      if (tree.size > options.mostFiles) throw tooMany(options.mostFiles)
    }
  }
}

const tooMany = (mostFiles: number): TirelessError =>
  new TirelessError('usage', {
    ...{ what: 'there are too many files to watch', expected: `at most ${mostFiles} (max_files)` },
    fix: 'watch fewer folders, add to `ignore`, or raise max_files',
  })

const isIgnored = (path: string, name: string, ignore: readonly string[]): boolean =>
  ignore.some((pattern) => pattern === name || matchesGlob(path, pattern) || matchesGlob(name, pattern))

/** A file may vanish, or become unreadable, between two looks. */
async function orMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'].includes(code ?? '')) return undefined
    throw thrown
  }
}
