/**
 * Guards a workspace while a command runs: protected files are mounted read-only, and protected files that the command
 * created are removed after it has ended. The state before the command is saved in the call's folder, so that the
 * removal can also happen after a crash.
 */

import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { replaceFile } from '../../../files/whole-files.ts'
import { filesObeyedByGit } from '../repository/git-obeyed-files.ts'
import type { BindMount } from './bubblewrap-command-line.ts'
import { worktreeBinds as bindsBeside, findCommonFolder, gitFolderBinds, readOnlyBind } from './git-mounts.ts'
import { type BeforeCommand, fileIdWithin, removeProtectedFiles } from './remove-protected-files.ts'
import { pathToText, type ScanFinding, scanWorkspace, type WorkspaceScan } from './workspace-scan.ts'

interface WorkspaceGuard {
  /** Mounts on top of the workspace, or outside it. */
  readonly binds: readonly BindMount[]
  /** Contract: call it after all processes of the command have ended; returns notes about removed files. */
  removeProtected(): Promise<readonly string[]>
}

interface GuardedWorkspace {
  readonly root: string
  /** The call's folder. */
  readonly folder: string
}

/** Where removed files are kept. `folder`: the home's folder for sandbox files. */
export const quarantineFolder = (folder: string): string => join(folder, 'taken')

/**
 * A workspace with more folders than this is scanned only after each command, not before: the scan after the previous
 * command serves as the state before the next command.
 */
const MAX_SCANNED_TWICE = 2000

/** False for a path that cannot be mounted; such a path is compared after the command instead. */
type IsMountable = (path: string) => boolean

/** Contract: called once per process, because it remembers scans. `keep`: the folder for removed files. */
export function createGuards(
  keep: string,
  isMountable: IsMountable = () => true,
): (guarded: GuardedWorkspace) => Promise<WorkspaceGuard> {
  const lastScans = new Map<string, WorkspaceScan>()
  return async ({ root, folder }) => {
    makeEnterable(root)
    const last = lastScans.get(root)
    const scan = last && last.folders > MAX_SCANNED_TWICE ? last : await scanWorkspace(root)
    const { binds, before } = await planGuard(root, scan, isMountable)
    const note = guardNoteFile(folder)
    replaceFile(note, JSON.stringify({ root, before } satisfies GuardNote), { isFlushed: false })
    return {
      binds,
      async removeProtected() {
        const { taken, scan: after } = await removeProtectedFiles(root, before, keep)
        lastScans.set(root, after)
        rmSync(note, { force: true })
        return taken.length === 0 ? [] : [describeRemoved(taken)]
      },
    }
  }
}

const MAX_LISTED = 20

export function describeRemoved(taken: readonly string[]): string {
  const more = taken.length > MAX_LISTED ? `, and ${taken.length - MAX_LISTED} more` : ''
  const listed = taken.slice(0, MAX_LISTED).join(', ')
  return `moved out of the workspace, because agents must not write these protected files: ${listed}${more}`
}

/** The guard for commands that cannot write to the workspace: it removes nothing. */
export const withoutGuard = (binds: readonly BindMount[]): WorkspaceGuard => ({
  binds,
  removeProtected: async () => [],
})

export interface GuardNote {
  readonly root: string
  readonly before: BeforeCommand
}

export const guardNoteFile = (callFolder: string): string => join(callFolder, 'before.json')

/** Contract: guards each of `folders` like a workspace. `folder`: the call's folder; the saved states go beside it. */
export async function guardFolders(
  folders: readonly string[],
  folder: string,
  guardOf: (guarded: GuardedWorkspace) => Promise<WorkspaceGuard>,
): Promise<WorkspaceGuard> {
  const all = await Promise.all(
    folders.map((root, i) => {
      const own = `${folder}-${i}`
      mkdirSync(own, { recursive: true, mode: 0o700 })
      return guardOf({ root, folder: own })
    }),
  )
  return {
    binds: [...folders.map((at) => ({ from: at, at, writable: true })), ...all.flatMap(({ binds }) => binds)],
    async removeProtected() {
      const lines = (await Promise.all(all.map((guard) => guard.removeProtected()))).flat()
      for (const i of folders.keys()) rmSync(`${folder}-${i}`, { recursive: true, force: true })
      return lines
    },
  }
}

/** Restores the owner's access to the root: if a command removed it, no later command could start there. */
function makeEnterable(root: string): void {
  const { mode } = statSync(root)
  if ((mode & 0o700) !== 0o700) chmodSync(root, (mode & 0o777) | 0o700)
}

/** Mounts cost time, and a command line has a length limit. Findings beyond this number are compared afterwards. */
const MAX_MOUNTED = 200
/** Folders that installers replace as a whole; a mount inside such a folder would prevent that. */
const REPLACED = /(^|\/)(node_modules|\.venv|venv|__pycache__|\.tox|vendor\/bundle)(\/|$)/

interface GuardPlan {
  readonly binds: readonly BindMount[]
  readonly before: BeforeCommand
}

async function planGuard(root: string, { findings }: WorkspaceScan, isMountable: IsMountable): Promise<GuardPlan> {
  const own: BindMount[] = []
  const mounted: string[] = []
  const obeyed: string[] = []
  for (const finding of findings.filter(({ path }) => !REPLACED.test(path)).slice(0, MAX_MOUNTED)) {
    const text = pathToText(finding.path)
    const path = text === undefined ? undefined : join(root, text)
    if (path === undefined || !isMountable(path)) continue
    const binds = await bindsOf(finding, path)
    if (binds.length > 0) mounted.push(finding.path)
    own.push(...binds)
    if (finding.kind === 'repository') obeyed.push(...filesObeyedByGit(dirname(path), path))
  }
  const repository = await findCommonFolder(root)
  if (repository !== undefined) obeyed.push(...filesObeyedByGit(root, repository))
  const obeyedBefore = obeyed.map((path) => ({ path: bytesBelow(root, path), id: fileIdWithin(root, path) }))
  const real = obeyed.flatMap((path) => realWithin(root, path) ?? [])
  return {
    binds: [...(await bindsBeside(root)), ...own, ...real.filter(isMountable).map(readOnlyBind)],
    before: { findings, mounted, obeyed: obeyedBefore },
  }
}

const bytesBelow = (root: string, path: string): string => Buffer.from(relative(root, path)).toString('latin1')

/** Contract: the path without symbolic links; undefined if it is missing, or if links lead out of the root. */
function realWithin(root: string, path: string): string | undefined {
  try {
    const real = realpathSync(path)
    return real.startsWith(`${root}/`) ? real : undefined
  } catch {
    return undefined
  }
}

async function bindsOf({ kind, parts }: ScanFinding, path: string): Promise<readonly BindMount[]> {
  // Git removes the git folder of a worktree as a whole, so that folder is not mounted, but checked afterwards.
  if (kind === 'repository') return parts?.commondir === undefined ? gitFolderBinds(path) : []
  // A symbolic link cannot be a mount point; it is compared after the command instead.
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() || stats?.isDirectory() ? [readOnlyBind(path)] : []
}
