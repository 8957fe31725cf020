/** Where a session works: a folder of the home, or a folder the owner names, in which nothing of theirs may get lost. */

import { execFile } from 'node:child_process'
import { mkdir, readdir, realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { TirelessError } from '../../domain/error.ts'

export interface PreparedWorkspace {
  readonly path: string
  /** What the owner should know about it. */
  readonly note?: string
}

export function workspacePreparer(
  homeRoot: string,
  workspaces: string,
  env: Readonly<Record<string, string | undefined>>,
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
    const git = gitIn(folder, env)
    if (!(await git('rev-parse', '--is-inside-work-tree')).ok)
      throw refused(
        folder,
        'the folder is not empty and not under git, so changes could not be undone',
        `cd ${folder} && git init && git add -A && git commit -m before, or name an empty folder`,
      )
    const changes = await git('status', '--porcelain')
    if (!changes.ok)
      throw refused(folder, `git cannot tell its state (${changes.output})`, 'repair it, or name another folder')
    if (changes.output === '') return { path: folder }
    const made = await git('worktree', 'add', '--detach', own, 'HEAD')
    if (!made.ok)
      throw refused(
        folder,
        `the folder has uncommitted changes and no worktree can be made beside them (${made.output})`,
        'commit or stash them',
      )
    return { path: own, note: `${folder} has uncommitted changes, so the work is done in a worktree of it: ${own}` }
  }
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

type Git = (...args: string[]) => Promise<{ readonly ok: boolean; readonly output: string }>

/** The runtime's own git: no hooks, no fsmonitor, no configuration but the repository's, and no `GIT_*` of whoever started us. */
function gitIn(folder: string, { PATH, HOME }: Readonly<Record<string, string | undefined>>): Git {
  const safe = [
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'core.fsmonitor=false',
    '-c',
    `safe.directory=${folder}`,
    '-C',
    folder,
  ]
  const clean = {
    PATH,
    HOME,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  }
  return async (...args) => {
    try {
      const { stdout } = await promisify(execFile)('git', [...safe, ...args], { env: clean })
      return { ok: true, output: stdout.trim() }
    } catch (thrown) {
      const stderr = thrown instanceof Error && 'stderr' in thrown ? String(thrown.stderr) : ''
      return { ok: false, output: stderr.trim() || String(thrown) }
    }
  }
}
