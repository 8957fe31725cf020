/**
 * Where the repository of a work tree is. Said to git in so many words, because what lies in the work tree is in the agent's reach
 * and could name the repository of somebody else: a `.git` that leads elsewhere counts only if that repository keeps a note of
 * the work tree inside itself.
 */

import { lstat, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readPlainConfig } from '../git-config.ts'

export interface WorkTree {
  /** Its top folder, a real path. */
  readonly top: string
  readonly gitFolder: string
  /** Where branches, objects and configuration are: the git folder, or that of the repository a worktree belongs to. */
  readonly common: string
}

/** Contract: the work tree that the folder (a real path) is in; undefined where there is none that can be relied on. */
export async function workTreeOf(folder: string): Promise<WorkTree | undefined> {
  for (let top = folder; ; top = dirname(top)) {
    if (await lstat(join(top, '.git')).catch(() => undefined)) return withTop(top)
    if (dirname(top) === top) return undefined
  }
}

async function withTop(top: string): Promise<WorkTree | undefined> {
  const gitFolder = await gitFolderOf(top)
  if (gitFolder !== undefined)
    return { top, gitFolder, common: gitFolder === join(top, '.git') ? gitFolder : dirname(dirname(gitFolder)) }
  const submodule = await submoduleFolder(top).catch(() => undefined)
  return submodule === undefined ? undefined : { top, gitFolder: submodule, common: submodule }
}

/** Contract: its git folder; undefined where `root` (a real path) is not the top of a work tree. */
export async function gitFolderOf(root: string): Promise<string | undefined> {
  const at = join(root, '.git')
  const stats = await lstat(at).catch(() => undefined)
  if (stats?.isFile()) return linkedFolder(root, at).catch(() => undefined)
  if (!stats?.isDirectory()) return undefined
  const common = await lstat(join(at, 'commondir')).catch(() => undefined)
  return common ? undefined : at
}

/** Of a worktree that `git worktree add` made. */
async function linkedFolder(root: string, at: string): Promise<string | undefined> {
  const note = await folderNamedBy(root, at)
  if (note === undefined) return undefined
  const named = async (file: string) => realpath(resolve(note, (await readFile(join(note, file), 'utf8')).trim()))
  const inside = note === join(await named('commondir'), 'worktrees', basename(note))
  return inside && (await named('gitdir')) === at ? note : undefined
}

/** Of a submodule: its configuration names the work tree. */
async function submoduleFolder(root: string): Promise<string | undefined> {
  const folder = await folderNamedBy(root, join(root, '.git'))
  if (folder === undefined || (await lstat(join(folder, 'commondir')).catch(() => undefined))) return undefined
  const settings = readPlainConfig(await readFile(join(folder, 'config'), 'utf8')) ?? []
  const worktree = settings.findLast(({ key }) => key === 'core.worktree')?.value
  return worktree !== undefined && (await realpath(resolve(folder, worktree))) === root ? folder : undefined
}

async function folderNamedBy(root: string, link: string): Promise<string | undefined> {
  const line = /^gitdir: (.+)\n$/.exec(await readFile(link, 'utf8'))
  return line?.[1] === undefined ? undefined : realpath(resolve(root, line[1]))
}

/** Contract: whether git would take the folder for a repository of its own, by its names; says nothing of what they hold. */
export async function isGitFolder(folder: string): Promise<boolean> {
  const [head, ...folders] = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => lstat(join(folder, name)).catch(() => undefined)),
  )
  return head !== undefined && folders.every((stats) => stats?.isDirectory())
}
