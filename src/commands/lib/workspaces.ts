/** The workspaces of the home: which agents and sessions work in them, and what each writer changed. */

import { TirelessError } from '../../domain/error.ts'
import { type PathSummary, summarizeChanges } from '../../domain/path-change.ts'
import { titleOfRun } from '../../domain/title.ts'
import { iso } from '../../ports/clock.ts'
import type { WriteSpan } from '../../ports/snapshots.ts'
import type { Needs } from './context.ts'

interface KnownWorkspace {
  readonly workspace: string
  readonly agents: readonly string[]
  readonly sessions: readonly string[]
  /** The run that works in it now. */
  readonly in_use_by: string | null
  readonly created_at: string
}

const ALL = 100_000

/** Contract: newest first. */
export async function findWorkspaces({ store }: Needs<'store'>): Promise<readonly KnownWorkspace[]> {
  const running = await store.dispatches({ status: 'running', limit: ALL })
  const bySession = new Map(running.map(({ session_id, dispatch_id }) => [session_id, dispatch_id]))
  const found = new Map<string, KnownWorkspace>()
  for (const { session_id, agent_id, workspace, created_at } of await store.sessions({ archived: true, limit: ALL })) {
    const known = found.get(workspace)
    found.set(workspace, {
      workspace,
      agents: [...new Set([...(known?.agents ?? []), agent_id])],
      sessions: [...(known?.sessions ?? []), session_id],
      in_use_by: known?.in_use_by ?? bySession.get(session_id) ?? null,
      created_at: known?.created_at ?? created_at,
    })
  }
  return [...found.values()]
}

/** Contract: the workspace that is named by its path, its folder's name, a session or an agent; else `not_found`. */
export async function findWorkspace(context: Needs<'store'>, named: string): Promise<KnownWorkspace> {
  const all = await findWorkspaces(context)
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
  const found =
    all.find(({ workspace }) => workspace === named || nameOf(workspace) === named) ??
    all.find(({ sessions }) => sessions.includes(named)) ??
    all.find(({ agents }) => agents.includes(named)) ??
    only(all.filter(({ workspace }) => named.length >= 4 && nameOf(workspace).includes(named)))
  if (found) return found
  throw new TirelessError('not_found', {
    what: 'no such workspace',
    got: named,
    expected: 'its folder or its name, a session, or an agent',
    fix: 'run tireless workspace list',
  })
}

const only = <T>(found: readonly T[]): T | undefined => (found.length === 1 ? found[0] : undefined)

/** What one writer changed in one workspace. */
export interface WorkspaceWrite extends PathSummary {
  /** A run, or an undo or a merge. */
  readonly run_id: string
  readonly title: string
  readonly workspace: string
  readonly at: string
}

/** Contract: newest first; writers that changed nothing are left out. */
export async function findWrites(
  context: Needs<'snapshots' | 'store'>,
  { workspace, limit }: { readonly workspace?: string | undefined; readonly limit: number },
): Promise<readonly WorkspaceWrite[]> {
  const spans = (await context.snapshots.spans()).filter((span) => (workspace ?? span.workspace) === span.workspace)
  const writes: WorkspaceWrite[] = []
  for (const group of groupByWriter(spans).toReversed()) {
    if (writes.length >= limit) break
    const write = await describeWrite(context, group)
    if (write) writes.push(write)
  }
  return writes
}

/** Spans of one writer in one workspace, in the order of their ends. */
function groupByWriter(spans: readonly WriteSpan[]): readonly (readonly WriteSpan[])[] {
  const groups = Map.groupBy(spans, ({ writer, workspace }) => `${writer}\n${workspace}`)
  return [...groups.values()].toSorted((a, b) => (a.at(-1)?.to ?? 0) - (b.at(-1)?.to ?? 0))
}

async function describeWrite(
  { snapshots, store }: Needs<'snapshots' | 'store'>,
  spans: readonly WriteSpan[],
): Promise<WorkspaceWrite | undefined> {
  const last = spans.at(-1)
  const changes = await Promise.all(spans.map(({ before, after }) => snapshots.compare(before, after)))
  if (!last || changes.flat().length === 0) return undefined
  const dispatch = await store.dispatch(last.writer)
  return {
    run_id: last.writer,
    title: dispatch ? titleOfRun(dispatch.prompt, dispatch.metadata.behaviour) : last.writer,
    ...{ workspace: last.workspace, at: iso(last.to) },
    ...summarizeChanges(changes.flat()),
  }
}
