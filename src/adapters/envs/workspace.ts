/** Where a session works: a folder of the home, or a folder the owner names, in which nothing of theirs may get lost. */

import { cp, mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { type GitHost, gitIn } from './git.ts'
import { type WorkTree, workTreeOf } from './repository/git-folder.ts'
import type { Bind } from './sandbox/layout.ts'
import { gitFolderBinds } from './sandbox/repositories.ts'

export interface PreparedWorkspace {
  readonly path: string
  /** What the owner should know about it. */
  readonly note?: string
}

export function workspacePreparer(
  homeRoot: string,
  workspaces: string,
  host: GitHost,
): (sessionId: string, wanted?: string) => Promise<PreparedWorkspace> {
  return async (sessionId, wanted) => {
    const own = join(workspaces, sessionId)
    if (wanted === undefined) return { path: own }
    const folder = await realFolder(resolve(wanted))
    if (isInside(folder, homeRoot) || isInside(homeRoot, folder))
      throw refused(
        folder,
        'the folder holds the home, or is inside it',
        'name a folder elsewhere, or leave --workspace out',
      )
    const entries = await readdir(folder)
    if (entries.length === 0) return { path: folder }
    const tree = await workTreeOf(folder)
    if (!tree && entries.includes('.git'))
      throw refused(
        folder,
        'its .git leads to a repository that does not know this folder',
        'name the folder that git worktree list shows, or an empty one',
      )
    if (!tree)
      throw refused(
        folder,
        'the folder is not empty and not under git, so changes could not be undone',
        `cd ${folder} && git init && git add -A && git commit -m before, or name an empty folder`,
      )
    const changes = await gitIn({ ...tree, cwd: folder }, host)(STATUS)
    if (!changes.ok)
      throw refused(folder, `git cannot tell its state (${changes.output})`, 'repair it, or name another folder')
    if (changes.output === '') return { path: folder }
    await addWorktree(tree, own, host)
    return { path: own, note: `${folder} has uncommitted changes, so the work is done in a worktree of it: ${own}` }
  }
}

const STATUS = ['status', '--porcelain', '--ignore-submodules=dirty']

/** Of the last commit, at `own`, which is not there yet. */
async function addWorktree(tree: WorkTree, own: string, host: GitHost): Promise<void> {
  await mkdir(own, { recursive: true, mode: 0o700 })
  const writable: readonly Bind[] = [...(await gitFolderBinds(tree.common)), { from: own, at: own, writable: true }]
  const made = await gitIn({ ...tree, writable }, host)(['worktree', 'add', '--detach', own, 'HEAD'])
  if (made.ok) return
  await rm(own, { recursive: true, force: true })
  throw refused(
    tree.top,
    `the folder has uncommitted changes and no worktree can be made beside them (${made.output})`,
    'commit or stash them',
  )
}

/** What of the home an agent may work in: everything else is the program's own. */
const SHARED = /^(inbox|workspaces[\\/][^\\/]+)([\\/]|$)/

/** Where an agent works that has a place of its own: `wanted`, relative to the home. */
export function placePreparer(
  homeRoot: string,
  prepare: (sessionId: string, wanted?: string) => Promise<PreparedWorkspace>,
): (sessionId: string, wanted: string | null) => Promise<PreparedWorkspace> {
  return async (sessionId, wanted) => {
    if (wanted === null) return prepare(sessionId)
    const folder = resolve(homeRoot, wanted)
    if (!isInside(folder, homeRoot)) return prepare(sessionId, folder)
    if (SHARED.test(relative(homeRoot, folder))) return { path: await realFolder(folder) }
    throw refused(folder, 'it is a part of the home that agents do not work in', 'name inbox, or workspaces/<name>')
  }
}

/** Contract: into a folder that is not there yet; nothing where there is none to copy. */
export async function copyFolder(from: string, to: string): Promise<void> {
  const there = await readdir(from).catch(() => undefined)
  if (there) await cp(from, to, { recursive: true, errorOnExist: true, force: false, verbatimSymlinks: true })
}

async function realFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true })
    return await realpath(path)
  } catch (cause) {
    throw refused(
      path,
      `it is no folder and none can be made there (${String(cause)})`,
      'name a folder you may write to',
    )
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`))
}

function refused(where: string, what: string, fix: string): TirelessError {
  return new TirelessError('workspace_refused', { what, where, fix })
}
