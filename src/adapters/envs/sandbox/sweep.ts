/**
 * What a command must not leave behind, taken away when nothing of it runs any more: files of protected names that were not there
 * before (to mask a missing name would show it to every `ls` and stop a `git clone` into the folder), and in repositories that it has
 * made itself whatever would have another git run a program.
 */

import { lstatSync } from 'node:fs'
import { lstat, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { isHarmlessConfig } from '../git-config.ts'
import { PROTECTED } from '../protected.ts'
import { type Repository, repositoriesIn } from './repositories.ts'

/** What was there before a command began. */
export interface Before {
  readonly names: ReadonlySet<string>
  readonly repositories: readonly Repository[]
}

/** Synchronous on purpose: mostly none is there, and the errors that say so otherwise take longer than the looks. */
export function protectedNames(root: string): ReadonlySet<string> {
  return new Set(PROTECTED.filter((name) => lstatSync(join(root, name), { throwIfNoEntry: false }) !== undefined))
}

/** Contract: what was taken away, relative to the root; and the repositories as they are now. */
export async function sweep(
  root: string,
  before: Before,
): Promise<{ readonly removed: readonly string[]; readonly repositories: readonly Repository[] }> {
  const removed: string[] = []
  const remove = async (path: string): Promise<void> => {
    await rm(path, { recursive: true, force: true })
    removed.push(relative(root, path))
  }
  for (const name of protectedNames(root)) if (!before.names.has(name)) await remove(join(root, name))
  const repositories = await repositoriesIn(root)
  const known = new Set(before.repositories.map(({ path, id }) => `${path} ${id}`))
  for (const repository of repositories) {
    const isNew = !known.has(`${repository.path} ${repository.id}`)
    if (repository.kind === 'folder') await sweepFolder(repository.path, isNew, remove)
    else if (isNew && !(await leadsInto(repository.path, repositories))) await remove(repository.path)
  }
  return { removed, repositories }
}

type Remove = (path: string) => Promise<void>

async function sweepFolder(gitFolder: string, isNew: boolean, remove: Remove): Promise<void> {
  // A plain repository has none; with one, git would read hooks and configuration of wherever it says.
  if (await isThere(join(gitFolder, 'commondir'))) await remove(join(gitFolder, 'commondir'))
  for (const name of await readdir(join(gitFolder, 'worktrees')).catch(() => [])) {
    const worktree = join(gitFolder, 'worktrees', name)
    const common = await readFile(join(worktree, 'commondir'), 'utf8').catch(() => '')
    if (common.trim() !== '../..') await remove(worktree)
  }
  if (!isNew) return
  const hooks = await readdir(join(gitFolder, 'hooks')).catch(() => [])
  for (const name of hooks) if (!name.endsWith('.sample')) await remove(join(gitFolder, 'hooks', name))
  for (const name of ['config', 'config.worktree']) await sweepConfig(join(gitFolder, name), remove)
}

/** One setting that is not known to be harmless, or a file that cannot be read: then there is none at all. */
async function sweepConfig(file: string, remove: Remove): Promise<void> {
  if (!(await isThere(file))) return
  const stats = await lstat(file)
  const isHarmless = stats.isFile() && isHarmlessConfig(await readFile(file, 'utf8').catch(() => '['))
  if (!isHarmless) await remove(file)
}

/** A file that leads to a worktree or a submodule of a repository of the workspace. */
async function leadsInto(link: string, repositories: readonly Repository[]): Promise<boolean> {
  const [, said] = /^gitdir: (.+)\n?$/.exec(await readFile(link, 'utf8').catch(() => '')) ?? []
  if (said === undefined) return false
  const folder = await realpath(resolve(dirname(link), said)).catch(() => '')
  return repositories.some(({ path, kind }) => kind === 'folder' && (folder === path || isWorktreeOf(folder, path)))
}

const isWorktreeOf = (folder: string, gitFolder: string): boolean => dirname(folder) === join(gitFolder, 'worktrees')

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )
