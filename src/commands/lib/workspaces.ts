/** The workspaces of the home: which agents and sessions work in them, and what each writer changed. */

import { TirelessError } from '../../domain/error.ts'
import { type PathChange, type PathSummary, readablePath, summarizeChanges } from '../../domain/path-change.ts'
import { titleOfRun } from '../../domain/title.ts'
import { iso } from '../../ports/clock.ts'
import type { WriteSpan } from '../../ports/snapshots.ts'
import type { Needs } from './context.ts'
import { refuseElsewhere } from './files-elsewhere.ts'

export interface KnownWorkspace {
  readonly workspace: string
  /** Its folder's name if no other workspace has it, else its path. */
  readonly name: string
  readonly agents: readonly string[]
  /** Null: its sessions are gone, but its files are not. */
  readonly last_session_id: string | null
  /** The run that works in it now. */
  readonly in_use_by: string | null
}

const MAX_RUNNING = 1000

type Folders = Needs<'store' | 'workspaceFolders'>

/** Contract: newest first; then folders without a session. */
export async function findWorkspaces({ store, workspaceFolders }: Folders): Promise<readonly KnownWorkspace[]> {
  const users = new Map<string, string>()
  for (const { session_id, dispatch_id } of await store.dispatches({ status: 'running', limit: MAX_RUNNING })) {
    const session = await store.session(session_id)
    if (session) users.set(session.workspace, dispatch_id)
  }
  const inUse = await store.workspaces()
  const known = new Set(inUse.map(({ workspace }) => workspace))
  const left = (await workspaceFolders.list()).filter((workspace) => !known.has(workspace))
  const all = [...inUse, ...left.map((workspace) => ({ workspace, agents: [], last_session_id: null }))]
  const named = Map.groupBy(all, ({ workspace }) => folderName(workspace))
  return all.map(({ workspace, agents, last_session_id }) => {
    const short = folderName(workspace)
    const name = named.get(short)?.length === 1 ? short : workspace
    return { workspace, name, agents, last_session_id, in_use_by: users.get(workspace) ?? null }
  })
}

const folderName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Contract: the workspace that is named by its path, its folder's name, a session or an agent; else `not_found`. */
export async function findWorkspace(context: Folders, named: string): Promise<KnownWorkspace> {
  const all = await findWorkspaces(context)
  const ofSession = (await context.store.session(named))?.workspace
  const found =
    all.find(({ workspace }) => workspace === named) ??
    all.find(({ workspace }) => folderName(workspace) === named) ??
    all.find(({ workspace }) => workspace === ofSession) ??
    all.find(({ agents }) => agents.includes(named)) ??
    only(all.filter(({ workspace }) => named.length >= 4 && folderName(workspace).includes(named)))
  if (found) return found
  throw new TirelessError('not_found', {
    what: 'no such workspace',
    got: named,
    expected: 'its folder or its name, a session, or an agent',
    fix: 'run tireless workspace list',
  })
}

/** The same, of a workspace whose files are in this home; else `conflict`. */
export async function findWorkspaceHere(
  context: Folders & Needs<'clock' | 'homeId'>,
  named: string,
): Promise<KnownWorkspace> {
  const found = await findWorkspace(context, named)
  const session = found.last_session_id
  const home = session === null ? undefined : (await context.store.session(session))?.home
  await refuseElsewhere(context, { got: named, home, workspace: found.workspace })
  return found
}

const only = <T>(found: readonly T[]): T | undefined => (found.length === 1 ? found[0] : undefined)

/** What one writer changed in one workspace. */
export interface WorkspaceWrite extends PathSummary {
  /** A run, or an undo or a merge. */
  readonly run_id: string
  readonly kind: 'run' | 'undo' | 'merge'
  readonly agent_id: string | null
  readonly session_id: string | null
  readonly title: string
  readonly workspace: string
  readonly at: string
}

interface WantedWrites {
  readonly workspace?: string | undefined
  /** Only those that changed this file, or something in this folder. */
  readonly path?: string | undefined
  readonly offset?: number | undefined
  readonly limit: number
}

/** Contract: newest first; writers that changed nothing are left out. `more`: there are earlier ones. */
export async function findWrites(
  context: Needs<'snapshots' | 'store'>,
  { workspace, path, offset = 0, limit }: WantedWrites,
): Promise<{ readonly items: readonly WorkspaceWrite[]; readonly more: boolean }> {
  const spans = (await context.snapshots.spans()).filter((span) => (workspace ?? span.workspace) === span.workspace)
  const writes: (readonly [readonly WriteSpan[], readonly PathChange[]])[] = []
  for (const group of groupByWriter(spans).toReversed()) {
    // One more than asked for says whether there are more.
    if (writes.length > offset + limit) break
    const changes = await changesOf(context, group)
    if (path === undefined ? changes.length > 0 : changes.some((change) => isWithin(path, change)))
      writes.push([group, changes])
  }
  const shown = writes.slice(offset, offset + limit)
  const items = await Promise.all(shown.map(([group, changes]) => describeWrite(context, group, changes)))
  return { items: items.flat(), more: writes.length > offset + limit }
}

/** Contract: whether the change is of this file, or of something in this folder. */
export function isWithin(folder: string, { path }: PathChange): boolean {
  const named = readablePath(path)
  return named === folder || named.startsWith(`${folder}/`)
}

async function changesOf(
  { snapshots }: Needs<'snapshots'>,
  spans: readonly WriteSpan[],
): Promise<readonly PathChange[]> {
  return (await Promise.all(spans.map(({ before, after }) => snapshots.compare(before, after)))).flat()
}

/** Spans of one writer in one workspace, in the order of their ends. */
function groupByWriter(spans: readonly WriteSpan[]): readonly (readonly WriteSpan[])[] {
  const groups = Map.groupBy(spans, ({ writer, workspace }) => `${writer}\n${workspace}`)
  return [...groups.values()].toSorted((a, b) => (a.at(-1)?.to ?? 0) - (b.at(-1)?.to ?? 0))
}

async function describeWrite(
  { store }: Needs<'store'>,
  spans: readonly WriteSpan[],
  changes: readonly PathChange[],
): Promise<readonly WorkspaceWrite[]> {
  const last = spans.at(-1)
  if (!last) return []
  const { writer: run_id, workspace, to } = last
  const dispatch = await store.dispatch(run_id)
  const isUndo = !dispatch && (await store.undo(run_id)) !== undefined
  return [
    {
      ...{ run_id, workspace, at: iso(to), kind: dispatch ? 'run' : isUndo ? 'undo' : 'merge' },
      ...{ agent_id: dispatch?.agent_id ?? null, session_id: dispatch?.session_id ?? null },
      title: dispatch ? titleOfRun(dispatch.prompt, dispatch.metadata.behaviour) : run_id,
      ...summarizeChanges(changes),
    },
  ]
}
