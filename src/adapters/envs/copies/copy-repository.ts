/**
 * Makes the repository of a copied workspace independent of the original's: git in the copy must never write to the
 * original's branches, index or worktrees.
 */

import { lstat, readFile, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { isInside } from '../host/split-path.ts'
import { locateWorkTree } from '../repository/git-folder.ts'
import { type CopyLimits, copyWorkspace } from './copy-workspace.ts'

/** Files of a linked worktree that take the place of those of its repository. */
const WORKTREE_FILES = ['HEAD', 'index', 'ORIG_HEAD', 'MERGE_HEAD', 'config.worktree']
/** Parts of a git folder that name other folders, which git would then write or delete. */
const LINKS_TO_OTHERS = ['worktrees', 'commondir', 'gitdir']

/**
 * Contract: after everything but a `.git` file was copied from `from` to `to`, gives the copy a repository of its own.
 * A worktree or submodule, whose repository is elsewhere, gets a copy of that. Does nothing without a repository.
 */
export async function copyRepository(from: string, to: string, limits: CopyLimits): Promise<void> {
  const git = join(to, '.git')
  const tree = await locateWorkTree(from)
  if (tree?.top === from && tree.gitFolder !== join(from, '.git')) {
    await copyWorkspace({ from: tree.common, to: git, limits, links: 'cut', without: LINKS_TO_OTHERS })
    if (tree.common !== tree.gitFolder) for (const name of WORKTREE_FILES) await copyFileOf(tree.gitFolder, git, name)
  }
  if (!(await isFolder(git))) return
  for (const name of LINKS_TO_OTHERS) await rm(join(git, name), { recursive: true, force: true })
  for (const name of ['config', 'config.worktree']) await correctConfig(join(git, name))
}

const isFolder = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isDirectory() ?? false

async function copyFileOf(from: string, to: string, name: string): Promise<void> {
  const file = join(from, name)
  await rm(join(to, name), { force: true })
  if ((await lstat(file).catch(() => undefined))?.isFile()) await writeFile(join(to, name), await readFile(file))
}

/** Keeps git in the copy's folders. The last value of a setting counts, so the lines are appended. */
async function correctConfig(file: string): Promise<void> {
  if (!(await lstat(file).catch(() => undefined))?.isFile()) return
  const text = await readFile(file, 'utf8')
  if (!/worktree|bare|include/i.test(text.replace(/^\s*bare\s*=\s*false\s*$/gim, ''))) return
  await writeFile(file, `${text}\n[core]\n\tbare = false\n\tworktree = ..\n`)
}

/**
 * Contract: the text of a nested `.git` file for the copy; undefined if it leads outside the workspace and must not be
 * copied. `at`: the folder of the file in the original `from`.
 */
export function correctGitFile(text: string, at: string, from: string): string | undefined {
  const [, target] = /^gitdir: (.+?)\s*$/s.exec(text) ?? []
  if (target === undefined) return text
  const leadsTo = resolve(at, target)
  if (!isInside(from, leadsTo)) return undefined
  return isAbsolute(target) ? `gitdir: ${relative(at, leadsTo)}\n` : text
}
