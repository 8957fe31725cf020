/**
 * What of a workspace is guarded while a command runs in it, and what is taken away when the command has ended. What was there before is
 * noted in the folder of the call: after a crash it is the only one who knows.
 */

import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { obeyedBeside } from '../repository/obeyed-beside.ts'
import type { Bind } from './layout.ts'
import { beside as bindsBeside, commonFolder, gitFolderBinds, readOnly } from './repositories.ts'
import { type BeforeCommand, idWithin, sweep } from './sweep.ts'
import { type ScanFinding, scanWorkspace, textOfPath, type WorkspaceScan } from './workspace-scan.ts'

export interface Guard {
  /** What is laid over the workspace, or beside it. */
  readonly binds: readonly Bind[]
  /** Contract: called when nothing of the command runs any more; what was taken away, a line for whoever asked for it. */
  swept(): Promise<readonly string[]>
}

export interface Guarded {
  readonly root: string
  /** Of the call. */
  readonly folder: string
}

/** Where what is taken away is kept; `folder`: of the home, for sandboxes. */
export const keptAside = (folder: string): string => join(folder, 'taken')

/** In a larger workspace what the last command left is taken for what the next one finds. */
const MOST_SCANNED_TWICE = 2000

/** Whether something can be mounted there; what cannot is compared when the command has ended. */
type IsMountable = (path: string) => boolean

/** Contract: for the commands of a process. `keep`: a folder of the home for what is taken away. */
export function guards(keep: string, isMountable: IsMountable = () => true): (guarded: Guarded) => Promise<Guard> {
  const left = new Map<string, WorkspaceScan>()
  return async ({ root, folder }) => {
    makeEnterable(root)
    const last = left.get(root)
    const scan = last && last.folders > MOST_SCANNED_TWICE ? last : await scanWorkspace(root)
    const { binds, before } = await guardFor(root, scan, isMountable)
    const note = noteIn(folder)
    writeFileSync(note, JSON.stringify({ root, before } satisfies GuardNote), { mode: 0o600 })
    return {
      binds,
      async swept() {
        const { taken, scan: after } = await sweep(root, before, keep)
        left.set(root, after)
        rmSync(note, { force: true })
        return taken.length === 0 ? [] : [tellTaken(taken)]
      },
    }
  }
}

const MOST_NAMED = 20

export function tellTaken(taken: readonly string[]): string {
  const more = taken.length > MOST_NAMED ? `, and ${taken.length - MOST_NAMED} more` : ''
  return `taken away and kept aside, because agents do not write these: ${taken.slice(0, MOST_NAMED).join(', ')}${more}`
}

/** For what cannot write anything that has to be guarded. */
export const unguarded = (binds: readonly Bind[]): Guard => ({ binds, swept: async () => [] })

export interface GuardNote {
  readonly root: string
  readonly before: BeforeCommand
}

export const noteIn = (callFolder: string): string => join(callFolder, 'before.json')

/** Contract: all of these can be written to, each guarded like a workspace. `folder`: of the call; each has a note of its own beside it. */
export async function guardAll(
  folders: readonly string[],
  folder: string,
  guardOf: (guarded: Guarded) => Promise<Guard>,
): Promise<Guard> {
  const all = await Promise.all(
    folders.map((root, i) => {
      const own = `${folder}-${i}`
      mkdirSync(own, { recursive: true, mode: 0o700 })
      return guardOf({ root, folder: own })
    }),
  )
  return {
    binds: [...folders.map((at) => ({ from: at, at, writable: true })), ...all.flatMap(({ binds }) => binds)],
    async swept() {
      const lines = (await Promise.all(all.map((guard) => guard.swept()))).flat()
      for (const i of folders.keys()) rmSync(`${folder}-${i}`, { recursive: true, force: true })
      return lines
    },
  }
}

/** Who shuts himself out of his own workspace could not open it again: nothing runs but in there. */
function makeEnterable(root: string): void {
  const { mode } = statSync(root)
  if ((mode & 0o700) !== 0o700) chmodSync(root, (mode & 0o777) | 0o700)
}

/** Each costs a little, and the length of a command line is limited; the others are compared when the command has ended. */
const MOST_MOUNTED = 200
/** What installers make and remove as a whole: a mount inside would keep them from it. */
const REPLACED = /(^|\/)(node_modules|\.venv|venv|__pycache__|\.tox|vendor\/bundle)(\/|$)/

interface GuardPlan {
  readonly binds: readonly Bind[]
  readonly before: BeforeCommand
}

async function guardFor(root: string, { findings }: WorkspaceScan, isMountable: IsMountable): Promise<GuardPlan> {
  const own: Bind[] = []
  const mounted: string[] = []
  const obeyed: string[] = []
  for (const finding of findings.filter(({ path }) => !REPLACED.test(path)).slice(0, MOST_MOUNTED)) {
    const text = textOfPath(finding.path)
    const path = text === undefined ? undefined : join(root, text)
    if (path === undefined || !isMountable(path)) continue
    const binds = await bindsOf(finding, path)
    if (binds.length > 0) mounted.push(finding.path)
    own.push(...binds)
    if (finding.kind === 'repository') obeyed.push(...obeyedBeside(dirname(path), path))
  }
  const elsewhere = await commonFolder(root)
  if (elsewhere !== undefined) obeyed.push(...obeyedBeside(root, elsewhere))
  const beside = obeyed.map((path) => ({ path: bytesBelow(root, path), id: idWithin(root, path) }))
  const real = obeyed.flatMap((path) => realWithin(root, path) ?? [])
  return {
    binds: [...(await bindsBeside(root)), ...own, ...real.filter(isMountable).map(readOnly)],
    before: { findings, mounted, obeyed: beside },
  }
}

const bytesBelow = (root: string, path: string): string => Buffer.from(relative(root, path)).toString('latin1')

/** Contract: undefined where it is not there, or leads out of the root: what is mounted must not be what a link of an agent's leads to. */
function realWithin(root: string, path: string): string | undefined {
  try {
    const real = realpathSync(path)
    return real.startsWith(`${root}/`) ? real : undefined
  } catch {
    return undefined
  }
}

async function bindsOf({ kind, parts }: ScanFinding, path: string): Promise<readonly Bind[]> {
  // Git removes a worktree's folder as a whole; what it may hold is looked at afterwards.
  if (kind === 'repository') return parts?.commondir === undefined ? gitFolderBinds(path) : []
  // A symbolic link cannot be mounted on; it is compared afterwards.
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() || stats?.isDirectory() ? [readOnly(path)] : []
}
