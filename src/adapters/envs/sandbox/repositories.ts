/**
 * How the git repositories of a workspace are guarded while a command runs: hooks and configuration are read-only, because both name
 * programs that the owner's own git would run later. The folder itself is a mount, so that it cannot be moved away and another be put in its place.
 */

import { existsSync } from 'node:fs'
import { lstat, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gitFolderOf } from '../repository/git-folder.ts'
import type { Bind } from './layout.ts'

/** Contract: the folder writable, but for what names programs; nothing where it is none. */
export async function gitFolderBinds(gitFolder: string): Promise<readonly Bind[]> {
  if (!(await lstat(gitFolder).catch(() => undefined))?.isDirectory()) return []
  // There has to be something to mount on; what else is missing is taken away where a command makes it.
  if (!existsSync(join(gitFolder, 'commondir'))) await mkdir(join(gitFolder, 'hooks')).catch(() => {})
  return [{ from: gitFolder, at: gitFolder, writable: true }, ...(await readOnlyParts(gitFolder))]
}

const PARTS = ['config', 'config.worktree', 'hooks', 'commondir', 'gitdir']

async function readOnlyParts(gitFolder: string): Promise<Bind[]> {
  const parts = PARTS.map(async (name) => {
    const path = join(gitFolder, name)
    const stats = await lstat(path).catch(() => undefined)
    return stats?.isFile() || stats?.isDirectory() ? [readOnly(path)] : []
  })
  return (await Promise.all(parts)).flat()
}

export const readOnly = (path: string): Bind => ({ from: path, at: path, writable: false })

/** Contract: where the workspace is a worktree, the folder of its repository; else undefined. */
export async function commonFolder(root: string): Promise<string | undefined> {
  const own = await gitFolderOf(root)
  return own === undefined || own === join(root, '.git') ? undefined : dirname(dirname(own))
}

/**
 * Where the workspace is a worktree, its repository lies elsewhere. Git needs all of it to read, and to write: the objects, its own
 * folder, and, where it stands on a branch, the branches. Everything else stays as it is, whatever the agent does.
 */
export async function beside(root: string): Promise<readonly Bind[]> {
  const own = await gitFolderOf(root)
  const common = await commonFolder(root)
  if (own === undefined || common === undefined) return []
  const head = await readFile(join(own, 'HEAD'), 'utf8').catch(() => '')
  const writable = ['objects', ...(head.startsWith('ref: ') ? ['refs', 'logs'] : [])].map((name) => join(common, name))
  const there = await Promise.all(
    [...writable, own].map(async (path) => ((await lstat(path).catch(() => undefined))?.isDirectory() ? [path] : [])),
  )
  return [
    readOnly(common),
    ...there.flat().map((path) => ({ from: path, at: path, writable: true })),
    ...(await readOnlyParts(own)),
  ]
}
