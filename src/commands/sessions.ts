/** Lists, shows and archives sessions. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import type { Observation } from '../domain/observation.ts'
import { outcomeOf } from '../domain/outcome.ts'
import type { Session } from '../domain/session.ts'
import { titleOfRun } from '../domain/title.ts'
import { commitOne } from '../ports/store.ts'
import { filesAndChildren } from './lib/children.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { childSchema, dispatchSchema, sessionSchema, typedAs } from './lib/output-schemas.ts'
import { findUndone, undoneByShape } from './lib/undone-runs.ts'

export const sessionsList = defineCommand({
  name: 'sessions list',
  summary: 'list sessions, newest first',
  example: 'sessions list --limit 20',
  runsIn: 'any_process',
  needs: ['store'],
  input: z.object({
    limit: z.int().positive().default(100).describe('maximum number of sessions'),
    all: z.boolean().default(false).describe('include archived sessions'),
  }),
  output: z.object({ items: z.array(sessionSchema) }),
  run: async ({ store }, { limit, all }) => ({ items: [...(await store.sessions({ limit, archived: all }))] }),
})

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
