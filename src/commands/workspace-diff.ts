/** What a run or a session changed in its files, and the difference between the files of two runs. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { PathChange } from '../domain/path-change.ts'
import type { WriteSpan } from '../ports/snapshots.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { diffPaths } from './lib/diff-paths.ts'
import { refuseElsewhere } from './lib/files-elsewhere.ts'
import { isWithin } from './lib/workspaces.ts'

const runInput = z.string().min(1).optional()

const MAX_RUNS = 10_000

export const workspaceDiff = defineCommand({
  name: 'workspace diff',
  summary: 'show what a run or a session changed in its files, or the difference between the files of two runs',
  example: 'workspace diff 1a2b3c',
  runsIn: 'any_process',
  needs: ['clock', 'homeId', 'snapshots', 'store'],
  positional: ['run', 'to'],
  input: z.object({
    run: runInput.describe('run; default: the last one that wrote').meta({ idOf: 'dispatch' }),
    to: runInput.describe('a second run: compare the files after both').meta({ idOf: 'dispatch' }),
    session: z
      .string()
      .optional()
      .describe('instead of a run: all runs of this session; work of others on the same files is included')
      .meta({ idOf: 'session' }),
    path: z.string().min(1).optional().describe('only this file, or the files of this folder'),
    limit: z.int().positive().default(500).describe('maximum number of files'),
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
    more: z.boolean().describe('there are more files'),
  }),
  async run(context, { run, to, session, path, limit }) {
    if (session !== undefined && (run ?? to) !== undefined) throw runAndSession()
    const found = session === undefined ? await ofRuns(context, run, to) : await ofSession(context, session)
    const { changes, ...named } = found
    const wanted = path === undefined ? changes : changes.filter((change) => isWithin(path, change))
    const files = await diffPaths(context.snapshots, wanted, limit + 1)
    return { ...named, files: files.slice(0, limit), more: files.length > limit }
  },
})

interface Difference {
  readonly workspace: string | null
  readonly from: string | null
  readonly to: string | null
  readonly changes: readonly PathChange[]
}

const NOTHING: Difference = { workspace: null, from: null, to: null, changes: [] }

type Context = Needs<'clock' | 'homeId' | 'snapshots' | 'store'>

async function ofRuns(context: Context, run: string | undefined, to: string | undefined): Promise<Difference> {
  const { snapshots } = context
  const first = run ?? (await snapshots.spans()).toSorted((a, b) => b.to - a.to)[0]?.writer
  if (first === undefined) return NOTHING
  const spans = await spansOf(context, first)
  const { workspace } = spans[0]
  if (to === undefined)
    return {
      ...{ workspace, from: `before ${first}`, to: `after ${first}` },
      changes: await composedChanges(context, spans),
    }
  const [a, b] = [spans.at(-1)?.after ?? '', (await spansOf(context, to)).at(-1)?.after ?? '']
  return { workspace, from: `after ${first}`, to: `after ${to}`, changes: await snapshots.compare(a, b) }
}

async function ofSession(context: Context, session_id: string): Promise<Difference> {
  const { snapshots, store } = context
  const session = await store.session(session_id)
  if (!session)
    throw new TirelessError('not_found', {
      ...{ what: 'no such session', got: session_id, fix: 'run tireless sessions list' },
    })
  const { items: runs } = await store.dispatchesIn(session_id, { offset: 0, limit: MAX_RUNS })
  const spans = await snapshots.spans(runs.map(({ dispatch_id }) => dispatch_id))
  const here = spans.filter(({ workspace }) => workspace === session.workspace)
  if (here.length === 0) {
    await refuseElsewhere(context, { got: session_id, home: session.home, workspace: session.workspace })
    return NOTHING
  }
  return {
    ...{ workspace: session.workspace, from: `before ${session_id}`, to: `after ${session_id}` },
    changes: await composedChanges(context, here),
  }
}

/** Contract: the change of each path over all these times, sorted by path. */
async function composedChanges(
  { snapshots }: Needs<'snapshots'>,
  spans: readonly WriteSpan[],
): Promise<readonly PathChange[]> {
  const changes = await Promise.all(spans.map(({ before, after }) => snapshots.compare(before, after)))
  const found = new Map<string, PathChange>()
  for (const change of changes.flat())
    found.set(change.path, { ...change, before: (found.get(change.path) ?? change).before })
  return [...found.values()]
    .filter(({ before, after }) => before !== after)
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

async function spansOf(context: Context, run: string): Promise<readonly [WriteSpan, ...WriteSpan[]]> {
  const [first, ...rest] = await context.snapshots.spans([run])
  if (first) return [first, ...rest]
  await refuseElsewhere(context, { got: run, home: (await context.store.dispatch(run))?.home })
  throw noSnapshot(run)
}

const noSnapshot = (run: string): TirelessError =>
  new TirelessError('not_found', {
    what: 'there are no snapshots of the run: it wrote no files, or they are no longer kept',
    ...{ got: run, fix: 'run tireless workspace log' },
  })

const runAndSession = (): TirelessError =>
  new TirelessError('usage', {
    what: 'both a run and a session are given',
    fix: 'name one of them: workspace diff RUN, or workspace diff --session SESSION',
  })
