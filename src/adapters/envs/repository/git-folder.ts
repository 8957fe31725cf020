/**
 * Where the repository of a work tree is. Said to git in so many words, because what lies in the work tree is in the agent's reach
 * and could name the repository of somebody else: a `.git` that leads elsewhere counts only if that repository keeps a note of
 * the work tree inside itself.
 */

import { lstat, readFile, realpath } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'

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
  const line = /^gitdir: (.+)\n$/.exec(await readFile(at, 'utf8'))
  if (!line?.[1]) return undefined
  const note = await realpath(resolve(root, line[1]))
  const named = async (file: string) => realpath(resolve(note, (await readFile(join(note, file), 'utf8')).trim()))
  const inside = note === join(await named('commondir'), 'worktrees', basename(note))
  return inside && (await named('gitdir')) === at ? note : undefined
}
