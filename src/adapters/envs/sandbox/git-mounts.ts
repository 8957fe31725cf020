/**
 * The mounts that guard git repositories of a workspace: hooks and configuration are read-only, because both name
 * programs that the owner's git would run later. The git folder itself is a mount, so that a command cannot replace it.
 */

import { existsSync } from 'node:fs'
import { lstat, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findGitFolder } from '../repository/git-folder.ts'
import type { BindMount } from './bubblewrap-command-line.ts'

/** Contract: mounts that make the git folder writable, except for files that name programs; none if it is no folder. */
export async function gitFolderBinds(gitFolder: string): Promise<readonly BindMount[]> {
  if (!(await lstat(gitFolder).catch(() => undefined))?.isDirectory()) return []
  // A mount needs an existing target, so `hooks` is created. Other missing files are removed if a command creates them.
  if (!existsSync(join(gitFolder, 'commondir'))) await mkdir(join(gitFolder, 'hooks')).catch(() => {})
  return [{ from: gitFolder, at: gitFolder, writable: true }, ...(await readOnlyParts(gitFolder))]
}

const READ_ONLY_PARTS = ['config', 'config.worktree', 'hooks', 'commondir', 'gitdir']

async function readOnlyParts(gitFolder: string): Promise<BindMount[]> {
  const parts = READ_ONLY_PARTS.map(async (name) => {
    const path = join(gitFolder, name)
    const stats = await lstat(path).catch(() => undefined)
    return stats?.isFile() || stats?.isDirectory() ? [readOnlyBind(path)] : []
  })
  return (await Promise.all(parts)).flat()
}

export const readOnlyBind = (path: string): BindMount => ({ from: path, at: path, writable: false })

/** Contract: if the workspace is a linked worktree, the git folder of its repository; else undefined. */
export async function findCommonFolder(root: string): Promise<string | undefined> {
  const own = await findGitFolder(root)
  return own === undefined || own === join(root, '.git') ? undefined : dirname(dirname(own))
}

/**
 * Mounts for a workspace that is a linked worktree: its repository is outside the workspace. Git can read all of the
 * repository. Git can write the objects, the worktree's own git folder and, if a branch is checked out, the branches.
 */
export async function worktreeBinds(root: string): Promise<readonly BindMount[]> {
  const own = await findGitFolder(root)
  const common = await findCommonFolder(root)
  if (own === undefined || common === undefined) return []
  const head = await readFile(join(own, 'HEAD'), 'utf8').catch(() => '')
  const writable = ['objects', ...(head.startsWith('ref: ') ? ['refs', 'logs'] : [])].map((name) => join(common, name))
  const existing = await Promise.all(
    [...writable, own].map(async (path) => ((await lstat(path).catch(() => undefined))?.isDirectory() ? [path] : [])),
  )
  return [
    readOnlyBind(common),
    ...existing.flat().map((path) => ({ from: path, at: path, writable: true })),
    ...(await readOnlyParts(own)),
  ]
}
