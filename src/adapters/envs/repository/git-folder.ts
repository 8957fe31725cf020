/**
 * Locates the repository of a work tree. The runtime passes this location to git explicitly, because an agent can write
 * `.git` and point it at another repository. A `.git` file that points elsewhere counts only if that repository
 * records the work tree.
 */

import { lstat, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readPlainConfig } from '../git-config.ts'

export interface WorkTree {
  /** The top folder of the work tree; a path without symbolic links. */
  readonly top: string
  readonly gitFolder: string
  /** The folder with branches, objects and configuration: `gitFolder` or, for a linked worktree, its repository's. */
  readonly common: string
}

/**
 * Contract: the work tree that contains the folder; undefined if there is none, or if its `.git` points to a repository
 * that does not record it. `folder` has no symbolic links.
 */
export async function locateWorkTree(folder: string): Promise<WorkTree | undefined> {
  for (let top = folder; ; top = dirname(top)) {
    if (await lstat(join(top, '.git')).catch(() => undefined)) return workTreeAt(top)
    if (dirname(top) === top) return undefined
  }
}

async function workTreeAt(top: string): Promise<WorkTree | undefined> {
  const gitFolder = await findGitFolder(top)
  if (gitFolder !== undefined)
    return { top, gitFolder, common: gitFolder === join(top, '.git') ? gitFolder : dirname(dirname(gitFolder)) }
  const submodule = await submoduleFolder(top).catch(() => undefined)
  return submodule === undefined ? undefined : { top, gitFolder: submodule, common: submodule }
}

/** Contract: the git folder of the work tree `root`; undefined if `root` is not the top of a work tree. */
export async function findGitFolder(root: string): Promise<string | undefined> {
  const at = join(root, '.git')
  const stats = await lstat(at).catch(() => undefined)
  if (stats?.isFile()) return worktreeFolder(root, at).catch(() => undefined)
  if (!stats?.isDirectory()) return undefined
  const common = await lstat(join(at, 'commondir')).catch(() => undefined)
  return common ? undefined : at
}

/** The git folder of a worktree that `git worktree add` created. */
async function worktreeFolder(root: string, at: string): Promise<string | undefined> {
  const folder = await readGitFile(root, at)
  if (folder === undefined) return undefined
  const pathIn = async (file: string) => realpath(resolve(folder, (await readFile(join(folder, file), 'utf8')).trim()))
  const isInside = folder === join(await pathIn('commondir'), 'worktrees', basename(folder))
  return isInside && (await pathIn('gitdir')) === at ? folder : undefined
}

/** The git folder of a submodule; undefined unless the submodule's configuration names `root` as its work tree. */
async function submoduleFolder(root: string): Promise<string | undefined> {
  const folder = await readGitFile(root, join(root, '.git'))
  if (folder === undefined || (await lstat(join(folder, 'commondir')).catch(() => undefined))) return undefined
  const settings = readPlainConfig(await readFile(join(folder, 'config'), 'utf8')) ?? []
  const worktree = settings.findLast(({ key }) => key === 'core.worktree')?.value
  return worktree !== undefined && (await realpath(resolve(folder, worktree))) === root ? folder : undefined
}

async function readGitFile(root: string, link: string): Promise<string | undefined> {
  const line = /^gitdir: (.+)\n$/.exec(await readFile(link, 'utf8'))
  return line?.[1] === undefined ? undefined : realpath(resolve(root, line[1]))
}

/** Contract: true if git would treat the folder as a repository. Checks which names exist, not the files' content. */
export async function isGitFolder(folder: string): Promise<boolean> {
  const [head, ...folders] = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => lstat(join(folder, name)).catch(() => undefined)),
  )
  return head !== undefined && folders.every((stats) => stats?.isDirectory())
}
