/**
 * The git repositories of a workspace, at any depth, and how they are guarded while a command runs: hooks and configuration are
 * read-only, because both name programs that the owner's own git would run later. The folder itself is a mount, so that it cannot
 * be moved away and another be put in its place.
 */

import type { Dirent } from 'node:fs'
import { lstat, mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gitFolderOf } from '../repository/git-folder.ts'
import type { Bind } from './layout.ts'

export interface Repository {
  /** The git folder, or the file that says where it is. */
  readonly path: string
  readonly kind: 'folder' | 'link'
  /** Another number: another thing of the same name. */
  readonly id: string
}

/** Looked through, nearest first. Packages of others hold no repository that anybody works in. */
const MOST_FOLDERS = 4000
const SKIPPED = new Set(['node_modules', '.venv', '__pycache__'])

export async function repositoriesIn(root: string): Promise<readonly Repository[]> {
  const found: Repository[] = []
  const queue = [root]
  for (let at = 0; at < queue.length && at < MOST_FOLDERS; at += 1) {
    const folder = queue[at] as string
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.name === '.git') found.push(...(await repositoryAt(path)))
      else if (entry.isDirectory() && !SKIPPED.has(entry.name)) queue.push(path)
    }
  }
  return found
}

/** With those of its submodules, which lie inside it. */
async function repositoryAt(path: string): Promise<Repository[]> {
  const stats = await lstat(path).catch(() => undefined)
  if (!stats?.isDirectory() && !stats?.isFile()) return []
  const kind = stats.isDirectory() ? 'folder' : 'link'
  const modules = kind === 'folder' ? await modulesIn(join(path, 'modules')) : []
  return [{ path, kind, id: `${stats.dev}:${stats.ino}` }, ...modules]
}

async function modulesIn(folder: string): Promise<Repository[]> {
  const folders = (await entriesOf(folder)).filter((entry) => entry.isDirectory())
  const each = folders.map(async ({ name }) => {
    const path = join(folder, name)
    const isOne = (await lstat(join(path, 'HEAD')).catch(() => undefined)) !== undefined
    return isOne ? repositoryAt(path) : modulesIn(path)
  })
  return (await Promise.all(each)).flat()
}

const entriesOf = (folder: string): Promise<Dirent[]> => readdir(folder, { withFileTypes: true }).catch(() => [])

export async function guardsOf(repositories: readonly Repository[]): Promise<readonly Bind[]> {
  const binds = repositories.map(async ({ path, kind }): Promise<Bind[]> => {
    // It was found a while ago.
    if (!(await lstat(path).catch(() => undefined))) return []
    if (kind === 'link') return [readOnly(path)]
    return [{ from: path, at: path, writable: true }, ...(await readOnlyParts(path))]
  })
  return (await Promise.all(binds)).flat()
}

/** What names programs. Missing hooks are made, so that there is something to mount on; a missing configuration is no repository. */
async function readOnlyParts(gitFolder: string): Promise<Bind[]> {
  await mkdir(join(gitFolder, 'hooks')).catch(() => {})
  const parts = ['config', 'config.worktree', 'hooks'].map(async (name) => {
    const path = join(gitFolder, name)
    const stats = await lstat(path).catch(() => undefined)
    return stats?.isFile() || stats?.isDirectory() ? [readOnly(path)] : []
  })
  return (await Promise.all(parts)).flat()
}

const readOnly = (path: string): Bind => ({ from: path, at: path, writable: false })

/**
 * Where the workspace is a worktree, its repository lies elsewhere. Git needs all of it to read, and to write: the objects, its own
 * folder, and, where it stands on a branch, the branches. Everything else stays as it is, whatever the agent does.
 */
export async function beside(root: string): Promise<readonly Bind[]> {
  const own = await gitFolderOf(root)
  if (own === undefined || own === join(root, '.git')) return []
  const common = dirname(dirname(own))
  const head = await readFile(join(own, 'HEAD'), 'utf8').catch(() => '')
  const writable = ['objects', ...(head.startsWith('ref: ') ? ['refs', 'logs'] : [])].map((name) => join(common, name))
  const there = await Promise.all(
    [...writable, own].map(async (path) => ((await lstat(path).catch(() => undefined))?.isDirectory() ? [path] : [])),
  )
  return [
    readOnly(common),
    ...there.flat().map((path) => ({ from: path, at: path, writable: true })),
    ...(await readOnlyParts(own).then((parts) => parts.filter(({ at }) => !at.endsWith('/hooks')))),
  ]
}
