/** Lists, shows and archives sessions. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import type { Observation } from '../domain/observation.ts'
import { outcomeOf } from '../domain/outcome.ts'
import type { Session } from '../domain/session.ts'
import { titleOfRun } from '../domain/title.ts'
import { commitOne, fallbackIfUnreadable, type Store } from '../ports/store.ts'
import { filesAndChildren } from './lib/children.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { findHolds } from './lib/held-by.ts'
import { offsetInput, searchInput, totalShape } from './lib/list-window.ts'
import { childSchema, dispatchSchema, sessionSchema, typedAs } from './lib/output-schemas.ts'
import { costOfRecords, describeInput, describeThreadRun, threadRunShape, unreadShape } from './lib/session-thread.ts'
import { summarizeSession } from './lib/session-title.ts'
import { findUndone, undoneByShape } from './lib/undone-runs.ts'

const sessionSummaryShape = {
  title: z.string().nullable().describe('what its first run was asked; null: it has none'),
  runs: z.number(),
  active_at: z.string().describe('when something last happened in it'),
}

export const sessionsList = defineCommand({
  name: 'sessions list',
  summary: 'list sessions, newest first',
  example: 'sessions list --limit 20',
  runsIn: 'any_process',
  needs: ['store'],
  input: z.object({
    status: sessionSchema.shape.status.optional().describe('only with this status'),
    agent: z.string().optional().describe('only of this agent').meta({ idOf: 'agent' }),
    search: searchInput('its name, its agent, or what its runs were asked'),
    limit: z.int().positive().default(100).describe('maximum number of sessions'),
    offset: offsetInput,
    all: z.boolean().default(false).describe('include archived sessions'),
  }),
  output: z.object({ items: z.array(sessionSchema.extend(sessionSummaryShape)), total: totalShape }),
  async run({ store }, { status, agent, search, limit, offset, all }) {
    const filter = { status, agent_id: agent, search, archived: all, offset, limit }
    const { items: sessions, total } = await store.sessionWindow(filter)
    const items = await Promise.all(
      sessions.map(async (session) => ({ ...session, ...(await summaryOf(store, session)) })),
    )
    return { items, total }
  },
})

/** What the session is about, and when something last happened in it. */
async function summaryOf(store: Store, { session_id, created_at }: Session) {
  const { title, runs, last } = await summarizeSession(store, session_id)
  return { title, runs, active_at: last?.updated_at ?? created_at }
}

export const sessionsArchive = defineCommand({
  name: 'sessions archive',
  summary: 'archive a session: it is kept but no longer listed; a new message restores it',
  example: 'sessions archive writer-1a2b3c',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  positional: ['id'],
  input: z.object({
    id: z.string().describe('session id').meta({ idOf: 'session' }),
    undo: z.boolean().default(false).describe('restore it'),
  }),
  output: sessionSchema,
  async run(context, { id, undo }) {
    await findSession(context, id)
    const now = context.clock.now()
    await commitOne(context.store, [{ op: 'archive', session_id: id, archived: !undo, now }])
    return findSession(context, id)
  },
})

export const sessionsShow = defineCommand({
  name: 'sessions show',
  summary: 'show one session with its journal',
  example: 'sessions show writer-1a2b3c',
  runsIn: 'any_process',
  needs: ['snapshots', 'store'],
  positional: ['id'],
  input: z.object({ id: z.string().describe('session id').meta({ idOf: 'session' }) }),
  output: sessionSchema.extend({
    unread: z.array(typedAs<Observation>(z.unknown())),
    runs: z.array(
      dispatchSchema.pick({ dispatch_id: true, status: true, title: true, outcome: true, parent_id: true }).extend({
        files: z.array(z.string()).describe('files that the run created or changed'),
        children: z.array(childSchema).describe('the runs that it started'),
        undone_by: undoneByShape,
      }),
    ),
    journal: z.array(typedAs<JournalRecord>(z.looseObject({ seq: z.number(), ts: z.number(), kind: z.string() }))),
  }),
  async run(context, { id }) {
    const session = await findSession(context, id)
    const journal = [...(await context.store.journal(id))]
    const unread = [...(await context.store.inbox(id))]
    return { ...session, unread, runs: await runsOf(context, journal), journal }
  },
})

export const sessionsLog = defineCommand({
  name: 'sessions log',
  summary: 'show what was said to a session and what its runs made of it, newest run first',
  example: 'sessions log writer-1a2b3c --limit 5',
  runsIn: 'any_process',
  needs: ['clock', 'homeId', 'isQueueWorked', 'redact', 'snapshots', 'store'],
  positional: ['id'],
  input: z.object({
    id: z.string().describe('session id').meta({ idOf: 'session' }),
    limit: z.int().positive().max(200).default(20).describe('maximum number of runs'),
    offset: offsetInput,
  }),
  output: sessionSchema.extend({
    ...sessionSummaryShape,
    cost_usd: z.number().nullable().describe('of all its runs; null: no price is known'),
    unread: unreadShape,
    items: z.array(threadRunShape),
    total: totalShape,
  }),
  async run(context, { id, limit, offset }) {
    const { store, redact } = context
    const session = await findSession(context, id)
    const journal = await fallbackIfUnreadable(store.journal(id), [])
    const { items: dispatches } = await store.dispatchesIn(id, { offset, limit })
    const [undoneBy, heldBy] = [await findUndone(context), await findHolds(context, dispatches)]
    const items = []
    // One after the other, because each reads snapshots.
    for (const dispatch of dispatches)
      items.push(await describeThreadRun(context, { session, journal, undoneBy, heldBy }, dispatch))
    const summary = await summaryOf(store, session)
    return {
      ...{ ...session, ...summary, cost_usd: costOfRecords(journal), items, total: summary.runs },
      unread: describeInput(await store.inbox(id), redact),
    }
  },
})

/** The runs of a session with what came of them, oldest first. */
async function runsOf(context: Needs<'snapshots' | 'store'>, journal: readonly JournalRecord[]) {
  const ids = journal.flatMap((record) => (record.kind === 'run_started' ? [record.run_id] : []))
  const undoneBy = await findUndone(context)
  const runs = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      const dispatch = await context.store.dispatch(id)
      if (!dispatch) return []
      const { dispatch_id, status, prompt, metadata, parent_id } = dispatch
      const [title, outcome, undone_by] = [titleOfRun(prompt, metadata.behaviour), outcomeOf(dispatch), undoneBy(id)]
      const { files, children } = await filesAndChildren(context, id)
      return [{ dispatch_id, status, title, outcome, parent_id, files, children, undone_by }]
    }),
  )
  return runs.flat()
}

async function findSession({ store }: Needs<'store'>, id: string): Promise<Session> {
  const session = await store.session(id)
  if (!session)
    throw new TirelessError('not_found', { what: 'no such session', got: id, fix: 'run tireless sessions list' })
  return session
}
