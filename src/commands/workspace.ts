/** The folders in which agents work: their files, and what each run changed in them. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { PathChange } from '../domain/path-change.ts'
import { iso } from '../ports/clock.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { diffPaths } from './lib/diff-paths.ts'
import { findWorkspace, findWorkspaces, findWrites, type WorkspaceWrite } from './lib/workspaces.ts'

const writeShape = z.object({
  run_id: z.string().describe('a run, or the id of an undo or of a merge'),
  title: z.string(),
  workspace: z.string(),
  at: z.string(),
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
  repositories: z.array(z.string()).describe('repositories of which something changed'),
})

const workspaceShape = z.object({
  workspace: z.string().describe('its folder'),
  agents: z.array(z.string()),
  sessions: z.array(z.string()),
  in_use_by: z.string().nullable().describe('the run that works in it now'),
  last_write: z.string().nullable().describe('when a run last wrote in it'),
  last_run: z.string().nullable().describe('the run that last wrote in it'),
  files: z.number().describe('without repositories and node_modules'),
  bytes: z.number(),
})

const workspaceInput = z.string().min(1).describe('its folder or its name, a session, or an agent')

export const workspaceList = defineCommand({
  name: 'workspace list',
  summary: 'list the folders in which agents work',
  example: 'workspace list',
  runsIn: 'any_process',
  needs: ['snapshots', 'store'],
  input: z.object({ limit: z.int().positive().default(50).describe('maximum number of workspaces') }),
  output: z.object({ items: z.array(workspaceShape) }),
  async run(context, { limit }) {
    const { snapshots } = context
    const spans = await snapshots.spans()
    const known = (await findWorkspaces(context)).slice(0, limit)
    const items = await Promise.all(
      known.map(async ({ created_at: _, agents, sessions, ...folder }) => {
        const last = spans.filter(({ workspace }) => workspace === folder.workspace).toSorted((a, b) => b.to - a.to)[0]
        const { files, bytes } = await snapshots.presentFiles(folder.workspace, 0)
        return {
          ...{ ...folder, agents: [...agents], sessions: [...sessions] },
          ...{ last_write: last ? iso(last.to) : null, last_run: last?.writer ?? null, files, bytes },
        }
      }),
    )
    return { items }
  },
})

export const workspaceShow = defineCommand({
  name: 'workspace show',
  summary: 'show a workspace with its files and what each run changed',
  example: 'workspace show writer',
  runsIn: 'any_process',
  needs: ['snapshots', 'store'],
  positional: ['workspace'],
  input: z.object({
    workspace: workspaceInput,
    limit: z.int().positive().default(100).describe('maximum number of files and of runs'),
  }),
  output: workspaceShape.omit({ last_write: true, last_run: true }).extend({
    paths: z.array(z.object({ path: z.string(), bytes: z.number() })),
    runs: z.array(writeShape),
  }),
  async run(context, { workspace: named, limit }) {
    const { created_at: _, agents, sessions, ...known } = await findWorkspace(context, named)
    const { files, bytes, paths } = await context.snapshots.presentFiles(known.workspace, limit)
    const runs = await findWrites(context, { workspace: known.workspace, limit })
    return {
      ...{ ...known, agents: [...agents], sessions: [...sessions], files, bytes, paths: [...paths] },
      runs: runs.map(copyLists),
    }
  },
})

type WriteOutput = z.output<typeof writeShape>

const copyLists = (write: WorkspaceWrite): WriteOutput => ({
  ...write,
  ...{ added: [...write.added], changed: [...write.changed] },
  ...{ removed: [...write.removed], repositories: [...write.repositories] },
})

export const workspaceLog = defineCommand({
  name: 'workspace log',
  summary: 'list the runs that wrote files, newest first, with the paths',
  example: 'workspace log writer --limit 5',
  runsIn: 'any_process',
  needs: ['snapshots', 'store'],
  positional: ['workspace'],
  input: z.object({
    workspace: workspaceInput.optional(),
    limit: z.int().positive().default(20).describe('maximum number of runs'),
  }),
  output: z.object({ items: z.array(writeShape) }),
  async run(context, { workspace: named, limit }) {
    const workspace = named === undefined ? undefined : (await findWorkspace(context, named)).workspace
    return { items: (await findWrites(context, { workspace, limit })).map(copyLists) }
  },
})

const runInput = z.string().min(1).optional()

export const workspaceDiff = defineCommand({
  name: 'workspace diff',
  summary: 'show what a run changed in its files, or the difference between the files of two runs',
  example: 'workspace diff 1a2b3c',
  runsIn: 'any_process',
  needs: ['snapshots', 'store'],
  positional: ['run', 'to'],
  input: z.object({
    run: runInput.describe('run; default: the last one that wrote').meta({ idOf: 'dispatch' }),
    to: runInput.describe('a second run: compare the files after both').meta({ idOf: 'dispatch' }),
  }),
  output: z.object({
    workspace: z.string().nullable().describe('null: no run has written files yet'),
    from: z.string().nullable(),
    to: z.string().nullable(),
    files: z.array(
      z.object({
        path: z.string(),
        change: z.enum(['added', 'changed', 'removed']),
        bytes_before: z.number().nullable(),
        bytes_after: z.number().nullable(),
        diff: z.string().describe('unified diff; empty: no text'),
      }),
    ),
  }),
  async run(context, { run, to }) {
    const first = run ?? (await context.snapshots.spans()).toSorted((a, b) => b.to - a.to)[0]?.writer
    if (first === undefined) return { workspace: null, from: null, to: null, files: [] }
    const spans = await spansOf(context, first)
    const { workspace } = spans[0]
    const { snapshots } = context
    if (to === undefined) {
      const changes = await Promise.all(spans.map(({ before, after }) => snapshots.compare(before, after)))
      return {
        ...{ workspace, from: `before ${first}`, to: `after ${first}` },
        files: [...(await diffPaths(snapshots, composed(changes)))],
      }
    }
    const [a, b] = [spans.at(-1)?.after ?? '', (await spansOf(context, to)).at(-1)?.after ?? '']
    const files = await diffPaths(snapshots, await snapshots.compare(a, b))
    return { workspace, from: `after ${first}`, to: `after ${to}`, files: [...files] }
  },
})

/** Contract: the change of each path over all times in which the run wrote. */
function composed(changes: readonly (readonly PathChange[])[]): readonly PathChange[] {
  const found = new Map<string, PathChange>()
  for (const change of changes.flat())
    found.set(change.path, { ...change, before: (found.get(change.path) ?? change).before })
  return [...found.values()].filter(({ before, after }) => before !== after)
}

type Spans = Awaited<ReturnType<Needs<'snapshots'>['snapshots']['spans']>>

async function spansOf(
  { snapshots }: Needs<'snapshots'>,
  run: string,
): Promise<readonly [Spans[number], ...Spans[number][]]> {
  const [first, ...rest] = await snapshots.spans([run])
  if (!first) throw noSnapshot(run)
  return [first, ...rest]
}

function noSnapshot(run: string): TirelessError {
  return new TirelessError('not_found', {
    what: 'there are no snapshots of this run: it wrote no files, or they are no longer kept',
    ...{ got: run, fix: 'run tireless workspace log' },
  })
}
