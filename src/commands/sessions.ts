/** Sessions: who they are, what their journal says, and a word to them. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { Session } from '../domain/session.ts'
import { commitOne } from '../ports/store.ts'
import { type Context, command } from './command.ts'
import { sessionShape } from './shapes.ts'

export const sessionsList = command({
  name: 'sessions list',
  summary: 'the sessions, newest first',
  runsIn: 'any_process',
  input: z.object({
    limit: z.int().positive().default(100).describe('at most so many'),
    all: z.boolean().default(false).describe('those that were put away, too'),
  }),
  output: z.object({ items: z.array(sessionShape) }),
  run: async ({ store }, { limit, all }) => ({ items: [...(await store.sessions({ limit, archived: all }))] }),
})

export const sessionsArchive = command({
  name: 'sessions archive',
  summary: 'put a session away: it is kept, and not listed any more; a message takes it out again',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({
    id: z.string().describe('session id'),
    undo: z.boolean().default(false).describe('take it out again'),
  }),
  output: sessionShape,
  async run(context, { id, undo }) {
    await sessionOf(context, id)
    const now = context.clock.now()
    await commitOne(context.store, [{ op: 'archive', session_id: id, archived: !undo, now }])
    return sessionOf(context, id)
  },
})

export const sessionsShow = command({
  name: 'sessions show',
  summary: 'one session with its journal',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({ id: z.string().describe('session id') }),
  output: sessionShape.extend({
    unread: z.array(z.unknown()),
    journal: z.array(z.looseObject({ seq: z.number(), ts: z.number(), kind: z.string() })),
  }),
  async run(context, { id }) {
    const session = await sessionOf(context, id)
    return { ...session, unread: [...(await context.store.inbox(id))], journal: [...(await context.store.journal(id))] }
  },
})

export const send = command({
  name: 'send',
  summary: 'a message into a session',
  runsIn: 'any_process',
  positional: ['text'],
  input: z.object({
    session: z.string().describe('session id'),
    text: z.string().trim().min(1).describe('the message'),
    key: z.string().min(1).optional().describe('the same key is taken once only'),
  }),
  output: z.object({ observation_id: z.string(), dispatch_id: z.string().nullable(), duplicate: z.boolean() }),
  async run(context, { session, text, key }) {
    await sessionOf(context, session)
    const now = context.clock.now()
    const observation = { id: key ?? context.ids.next(), type: 'user_message', text, ts: now } as const
    const [published] = await commitOne(context.store, [
      { op: 'publish', session_id: session, observation, successor_id: context.ids.next(), now },
    ])
    return { observation_id: observation.id, ...published }
  },
})

async function sessionOf({ store }: Context, id: string): Promise<Session> {
  const session = await store.session(id)
  if (!session)
    throw new TirelessError('not_found', { what: 'there is no such session', got: id, fix: 'see: sessions list' })
  return session
}
