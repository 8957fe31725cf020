/** The folders in which agents work: their files, and what each run changed in them. */

import { z } from 'zod'
import { iso } from '../ports/clock.ts'
import type { WriteSpan } from '../ports/snapshots.ts'
import type { RemovedWorkspace } from '../ports/workspace-folders.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { offsetInput, searchInput, totalShape } from './lib/list-window.ts'
import { titlesOf } from './lib/session-title.ts'
import { findUndone, undoneByShape } from './lib/undone-runs.ts'
import { sizeOfWorkspace } from './lib/workspace-sizes.ts'
import {
  findWorkspace,
  findWorkspaceHere,
  findWorkspaces,
  findWrites,
  type KnownWorkspace,
  type WorkspaceWrite,
} from './lib/workspaces.ts'

const writeShape = z.object({
  run_id: z.string().describe('a run, or the id of an undo or of a merge'),
  kind: z.enum(['run', 'undo', 'merge']).describe('merge: the files of a sub-agent were taken over'),
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  title: z.string(),
  workspace: z.string(),
  at: z.string(),
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
  repositories: z.array(z.string()).describe('repositories of which something changed'),
  undone_by: undoneByShape,
})

const workspaceShape = z.object({
  workspace: z.string().describe('its folder'),
  name: z.string().describe('a short name for it'),
  agents: z.array(z.string()),
  sessions: z.array(z.string()).describe('the newest of those that work in it, at most 100'),
  in_use_by: z.string().nullable().describe('the run that works in it now'),
  last_write: z.string().nullable().describe('when a run last wrote in it'),
  last_run: z.string().nullable().describe('the run that last wrote in it'),
  files: z.number().describe('without repositories and node_modules'),
  bytes: z.number(),
})

export const removedShape = z.object({
  id: z.string().describe('with which it is brought back'),
  workspace: z.string().describe('where it was'),
  files: z.number(),
  bytes: z.number(),
  removed_at: z.string(),
  until: z.string().describe('when it is deleted'),
})

export const showRemoved = ({ removed_at, until, ...removed }: RemovedWorkspace): z.output<typeof removedShape> => ({
  ...removed,
  removed_at: iso(removed_at),
  until: iso(until),
})

export const workspaceName = z.string().min(1).describe('its folder or its name, a session, or an agent')

export const workspaceList = defineCommand({
  name: 'workspace list',
  summary: 'list the folders in which agents work',
  example: 'workspace list',
  runsIn: 'any_process',
  needs: ['clock', 'snapshots', 'store', 'workspaceFolders'],
  input: z.object({
    search: searchInput('the folder or an agent’s name'),
    empty: z.boolean().optional().describe('only those without files, or only the others'),
    limit: z.int().positive().default(50).describe('maximum number of workspaces'),
    offset: offsetInput,
  }),
  output: z.object({
    items: z.array(
      workspaceShape.extend({
        title: z.string().nullable().describe('what the newest session in it was asked first; null: nothing'),
      }),
    ),
    total: totalShape,
    removed: z.array(removedShape).describe('those that the owner removed and can bring back'),
  }),
  async run(context, { search = '', empty, limit, offset }) {
    const { snapshots, store } = context
    const spans = await snapshots.spans()
    const sought = search.toLowerCase()
    const found = (await findWorkspaces(context)).filter(({ workspace, agents }) =>
      [workspace, ...agents].some((text) => text.toLowerCase().includes(sought)),
    )
    const all = empty === undefined ? found : await chooseEmpty(context, found, spans, empty)
    const known = all.slice(offset, offset + limit)
    const sessions = await sessionsOf(context, known)
    const titles = await titlesOf(
      store,
      known.flatMap(({ last_session_id }) => last_session_id ?? []),
    )
    const items = await Promise.all(
      known.map(async ({ agents, last_session_id, ...folder }) => {
        const last = lastWrite(spans, folder.workspace)
        const { files, bytes } = await sizeOfWorkspace(context, { ...folder, written: last?.to ?? 0 })
        return {
          ...{ ...folder, agents: [...agents], sessions: sessions(folder.workspace) },
          title: (last_session_id !== null && titles.get(last_session_id)) || null,
          ...{ last_write: last ? iso(last.to) : null, last_run: last?.writer ?? null, files, bytes },
        }
      }),
    )
    return { items, total: all.length, removed: (await context.workspaceFolders.removed()).map(showRemoved) }
  },
})

const lastWrite = (spans: readonly WriteSpan[], workspace: string): WriteSpan | undefined =>
  spans.filter((span) => span.workspace === workspace).toSorted((a, b) => b.to - a.to)[0]

/** Contract: those that are empty, or the others, in the same order. */
async function chooseEmpty<W extends Pick<KnownWorkspace, 'workspace' | 'in_use_by'>>(
  context: Needs<'clock' | 'snapshots'>,
  workspaces: readonly W[],
  spans: readonly WriteSpan[],
  empty: boolean,
): Promise<readonly W[]> {
  const sizes = await Promise.all(
    workspaces.map((folder) =>
      sizeOfWorkspace(context, { ...folder, written: lastWrite(spans, folder.workspace)?.to ?? 0 }),
    ),
  )
  return workspaces.filter((_, at) => (sizes[at]?.files === 0) === empty)
}

const MAX_SESSIONS = 100

async function sessionsOf({ store }: Needs<'store'>, known: readonly { readonly workspace: string }[]) {
  const found = await store.sessionsIn(
    known.map(({ workspace }) => workspace),
    { limit: MAX_SESSIONS },
  )
  return (workspace: string): string[] => [...(found.get(workspace) ?? [])]
}

export const workspaceShow = defineCommand({
  name: 'workspace show',
  summary: 'show a workspace with its files and what each run changed',
  example: 'workspace show writer',
  runsIn: 'any_process',
  needs: ['clock', 'homeId', 'snapshots', 'store', 'workspaceFolders'],
  positional: ['workspace'],
  input: z.object({
    workspace: workspaceName,
    limit: z.int().positive().default(100).describe('maximum number of files and of runs'),
  }),
  output: workspaceShape.omit({ last_write: true, last_run: true }).extend({
    paths: z.array(z.object({ path: z.string(), bytes: z.number() })),
    runs: z.array(writeShape),
  }),
  async run(context, { workspace: named, limit }) {
    const { last_session_id: _, agents, ...known } = await findWorkspaceHere(context, named)
    const sessions = await sessionsOf(context, [known])
    const { files, bytes, paths } = await context.snapshots.presentFiles(known.workspace, limit)
    const runs = await findWrites(context, { workspace: known.workspace, limit })
    return {
      ...{ ...known, agents: [...agents], sessions: sessions(known.workspace), files, bytes, paths: [...paths] },
      runs: runs.items.map(toOutput(await findUndone(context))),
    }
  },
})

type WriteOutput = z.output<typeof writeShape>

const toOutput =
  (undoneBy: (run: string) => string | null) =>
  (write: WorkspaceWrite): WriteOutput => ({
    ...write,
    ...{ added: [...write.added], changed: [...write.changed] },
    ...{ removed: [...write.removed], repositories: [...write.repositories] },
    undone_by: undoneBy(write.run_id),
  })

export const workspaceLog = defineCommand({
  name: 'workspace log',
  summary: 'list the runs that wrote files, newest first, with the paths',
  example: 'workspace log writer --limit 5',
  runsIn: 'any_process',
  needs: ['snapshots', 'store', 'workspaceFolders'],
  positional: ['workspace'],
  input: z.object({
    workspace: workspaceName.optional(),
    path: z.string().min(1).optional().describe('only runs that changed this file, or something in this folder'),
    limit: z.int().positive().default(20).describe('maximum number of runs'),
    offset: offsetInput,
  }),
  output: z.object({ items: z.array(writeShape), more: z.boolean().describe('there are earlier ones') }),
  async run(context, { workspace: named, ...page }) {
    const workspace = named === undefined ? undefined : (await findWorkspace(context, named)).workspace
    const { items, more } = await findWrites(context, { workspace, ...page })
    return { items: items.map(toOutput(await findUndone(context))), more }
  },
})
