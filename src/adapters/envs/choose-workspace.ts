/**
 * Chooses a session's folder: a new folder in the home, or the folder that the owner names. If the named folder has
 * uncommitted changes, the session gets a separate git worktree. A folder in which changes could not be undone is
 * refused.
 */

import { existsSync } from 'node:fs'
import { access, constants, cp, lstat, mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { editDistance } from '../../domain/edit-distance.ts'
import { TirelessError } from '../../domain/error.ts'
import { createFolders } from '../../ports/create-folders.ts'
import type { StoredPaths } from '../../ports/stored-paths.ts'
import { createGit, type GitSandbox } from './git.ts'
import { locateWorkTree, type WorkTree } from './repository/git-folder.ts'
import type { BindMount } from './sandbox/bubblewrap-command-line.ts'
import { gitFolderBinds } from './sandbox/git-mounts.ts'

interface PreparedWorkspace {
  readonly path: string
  /** A message for the owner: why the session works in another folder than the named one. */
  readonly note?: string
}

export function createWorkspacePreparer(
  homeRoot: string,
  workspaces: string,
  host: GitSandbox,
): (sessionId: string, wanted?: string) => Promise<PreparedWorkspace> {
  return async (sessionId, wanted) => {
    const own = join(workspaces, sessionId)
    if (wanted === undefined) return { path: own }
    const isMissing = !existsSync(resolve(wanted))
    const folder = await realFolder(resolve(wanted))
    if (isInside(folder, homeRoot) || isInside(homeRoot, folder))
      throw refused(folder, 'the folder contains the home, or is inside it', 'name another folder, or omit --workspace')
    const entries = await readdir(folder)
    if (isMissing) return { path: folder, note: await sayCreated(folder) }
    if (entries.length === 0) return { path: folder }
    const tree = await locateWorkTree(folder)
    if (!tree && entries.includes('.git'))
      throw refused(
        folder,
        'its .git points to a repository that does not list this folder as a worktree',
        'name a folder from git worktree list, or an empty one',
      )
    if (!tree)
      throw refused(
        folder,
        'the folder is not empty and not a git repository, so changes could not be undone',
        `cd ${folder} && git init && git add -A && git commit -m before, or name an empty folder`,
      )
    const changes = await createGit({ ...tree, cwd: folder }, host)(STATUS)
    if (!changes.ok)
      throw refused(folder, `git status failed (${changes.output})`, 'repair the repository, or name another folder')
    if (changes.output === '') return { path: folder }
    await addWorktree(tree, own, host)
    return { path: own, note: `${folder} has uncommitted changes, so the agent works in a separate worktree: ${own}` }
  }
}

/** A mistyped folder must be noticed: the one that was probably meant is named. */
async function sayCreated(folder: string): Promise<string> {
  const [parent, name] = [dirname(folder), basename(folder)]
  const others = (await readdir(parent)).filter((other) => other !== name)
  const near = others
    .map((other) => ({ other, distance: editDistance(other, name) }))
    .filter(({ distance }) => distance <= MAX_SLIPS)
    .toSorted((a, b) => a.distance - b.distance)[0]?.other
  const meant = near === undefined ? '' : `; did you mean ${join(parent, near)}? It exists`
  return `Created ${folder}, which did not exist${meant}. Working in it.`
}

/** Letters by which a mistyped name differs from the one that was meant. */
const MAX_SLIPS = 2

const STATUS = ['status', '--porcelain', '--ignore-submodules=dirty']

/** Checks out the last commit at `own`, which must not exist yet. */
async function addWorktree(tree: WorkTree, own: string, host: GitSandbox): Promise<void> {
  await mkdir(own, { recursive: true, mode: 0o700 })
  const writable: readonly BindMount[] = [
    ...(await gitFolderBinds(tree.common)),
    { from: own, at: own, writable: true },
  ]
  const made = await createGit({ ...tree, writable }, host)(['worktree', 'add', '--detach', own, 'HEAD'])
  if (made.ok) return
  await rm(own, { recursive: true, force: true })
  throw refused(
    tree.top,
    `the folder has uncommitted changes and git worktree add failed (${made.output})`,
    'commit or stash the changes',
  )
}

/** The only folders of the home that agents may work in. */
const SHARED = /^(inbox|workspaces[\\/][^\\/]+)([\\/]|$)/

/**
 * `wanted`: the folder that the agent's configuration names, relative to the home; null if it names none. An absolute
 * path of a former place of the home means the same folder of this one.
 */
export function createAgentWorkspacePreparer(
  { root: homeRoot, fromEarlier }: StoredPaths,
  prepare: (sessionId: string, wanted?: string) => Promise<PreparedWorkspace>,
): (sessionId: string, wanted: string | null) => Promise<PreparedWorkspace> {
  return async (sessionId, wanted) => {
    if (wanted === null) return prepare(sessionId)
    const folder = fromEarlier(resolve(homeRoot, wanted))
    if (!isInside(folder, homeRoot)) return prepare(sessionId, folder)
    if (SHARED.test(relative(homeRoot, folder))) return { path: await realFolder(folder) }
    throw refused(folder, 'agents do not work in this part of the home', 'name inbox, or workspaces/<name>')
  }
}

/**
 * Contract: `to` must not exist yet. If `from` does not exist, nothing is copied. What may not be read is left out;
 * times of files stay.
 */
export async function copyFolder(from: string, to: string): Promise<void> {
  const entries = await readdir(from).catch(() => undefined)
  if (!entries) return
  await cp(from, to, {
    recursive: true,
    errorOnExist: true,
    force: false,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    filter: isReadable,
  })
}

/** A link is copied as it is, so what it leads to does not matter. */
async function isReadable(path: string): Promise<boolean> {
  if ((await lstat(path)).isSymbolicLink()) return true
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  )
}

async function realFolder(path: string): Promise<string> {
  try {
    await createFolders(path)
    return await realpath(path)
  } catch (cause) {
    throw refused(path, `the folder cannot be created or opened (${String(cause)})`, 'name a folder that you may write')
  }
}

function isInside(path: string, folder: string): boolean {
  const fromFolder = relative(folder, path)
  return fromFolder === '' || !(fromFolder === '..' || fromFolder.startsWith(`..${sep}`))
}

function refused(where: string, what: string, fix: string): TirelessError {
  return new TirelessError('workspace_refused', { what, where, fix })
}
