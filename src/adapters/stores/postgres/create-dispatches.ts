/** Creates and wakes dispatches in PostgreSQL. */

import type { NewDispatch } from '../../../domain/dispatch.ts'
import type { Wait } from '../../../domain/wait.ts'
import type { OpResults } from '../../../ports/store.ts'
import { RefusedBatch } from '../refuse-batch.ts'
import type { SqlRow } from '../rows/rows.ts'
import type { Queries } from './connection.ts'
import { type ApplyPgOp, IN_FLIGHT } from './op-context.ts'
import { pinOfFolder } from './pins.ts'

type NewSession = Pick<NewDispatch, 'session_id' | 'kernel_id' | 'agent_id' | 'workspace' | 'pin' | 'metadata'>
type EnqueueResult = OpResults['enqueue'][number]

const enqueue: ApplyPgOp<'enqueue'> = async (db, { dispatches, now }) => {
  const results: EnqueueResult[] = []
  for (const part of splitByParent(dispatches)) results.push(...(await enqueuePart(db, part, now)))
  return results
}

const open_session: ApplyPgOp<'open_session'> = async (db, op) => {
  await insertSessions(db, [op], op.now)
  return null
}

export const creatingOps = { enqueue, open_session }

/** A dispatch whose parent is created by the same op comes in a later part, because a part is one statement. */
function splitByParent(dispatches: readonly NewDispatch[]): readonly (readonly NewDispatch[])[] {
  const parts: NewDispatch[][] = [[]]
  let ids = new Set<string>()
  for (const dispatch of dispatches) {
    if (dispatch.parent_id !== undefined && ids.has(dispatch.parent_id)) {
      parts.push([])
      ids = new Set()
    }
    parts.at(-1)?.push(dispatch)
    ids.add(dispatch.dispatch_id)
  }
  return parts
}

/** Few statements for any number of dispatches. */
async function enqueuePart(db: Queries, part: readonly NewDispatch[], now: number): Promise<readonly EnqueueResult[]> {
  const known = await findByKey(db, part)
  const isNew = takeFirstOfKey(part, known)
  const fresh = part.filter(isNew)
  const results = new Map<NewDispatch, EnqueueResult>()
  if (fresh.length > 0) {
    await insertSessions(db, fresh, now)
    const sessions = await lockFreeSessions(db, fresh)
    const created = await insertDispatches(
      db,
      fresh.map((dispatch) => ({ dispatch, ...placeOf(sessions.get(dispatch.session_id)), now })),
    )
    for (const dispatch of fresh)
      if (created.has(dispatch.dispatch_id)) results.set(dispatch, { ...idsOf(dispatch), duplicate: false })
  }
  // Also finds what another process created meanwhile, and the first of two with the same key.
  const existing = results.size === part.length ? known : await findByKey(db, part)
  return part.map((dispatch) => results.get(dispatch) ?? duplicateOf(dispatch, existing))
}

const idsOf = ({ dispatch_id, session_id }: NewDispatch) => ({ dispatch_id, session_id })
const keyOf = ({ source, key }: { readonly source?: unknown; readonly key?: unknown }): string =>
  JSON.stringify([source, key])

function duplicateOf(dispatch: NewDispatch, existing: ReadonlyMap<string, SqlRow>): EnqueueResult {
  const row = existing.get(keyOf(dispatch))
  if (!row) throw new RefusedBatch('conflict', `dispatch ${dispatch.dispatch_id} already exists`)
  return { dispatch_id: String(row.dispatch_id), session_id: String(row.session_id), duplicate: true }
}

async function findByKey(db: Queries, part: readonly NewDispatch[]): Promise<ReadonlyMap<string, SqlRow>> {
  const keyed = part.filter(({ key }) => key !== undefined)
  if (keyed.length === 0) return new Map()
  const rows = await db.all(
    `SELECT d.source, d.key, d.dispatch_id, s.session_id
     FROM unnest($1::text[], $2::text[]) AS asked (source, key)
     JOIN dispatches d ON d.source = asked.source AND d.key = asked.key JOIN sessions s ON s.n = d.session`,
    ...[keyed.map(({ source }) => source), keyed.map(({ key }) => key ?? null)],
  )
  return new Map(rows.map((row) => [keyOf(row), row]))
}

/** Contract: whether a dispatch is neither known nor repeats the key of an earlier one. */
function takeFirstOfKey(part: readonly NewDispatch[], known: ReadonlyMap<string, SqlRow>): (d: NewDispatch) => boolean {
  const seen = new Set(known.keys())
  const fresh = new Set<NewDispatch>()
  for (const dispatch of part) {
    if (dispatch.key !== undefined && seen.has(keyOf(dispatch))) continue
    if (dispatch.key !== undefined) seen.add(keyOf(dispatch))
    fresh.add(dispatch)
  }
  return (dispatch) => fresh.has(dispatch)
}

async function insertSessions(db: Queries, sessions: readonly NewSession[], now: number): Promise<void> {
  await db.run(
    INSERT_SESSIONS,
    ...[sessions.map(({ session_id }) => session_id), sessions.map(({ kernel_id }) => kernel_id)],
    ...[sessions.map(({ agent_id }) => agent_id), sessions.map(({ workspace }) => workspace)],
    ...[sessions.map(({ metadata }) => JSON.stringify(metadata)), sessions.map(({ pin }) => pin?.home ?? '')],
    ...[sessions.map(({ pin }) => pin?.folder ?? null), now],
  )
}

/** A folder of a home that another session of the kernel works in is where that one works. */
const INSERT_SESSIONS = `INSERT INTO sessions (session_id, kernel_id, agent_id, workspace, metadata, home, folder,
    created_at)
  SELECT u.session_id, u.kernel_id, u.agent_id, coalesce(known.workspace, u.workspace), u.metadata,
    coalesce(known.home, u.home), u.folder, $8::bigint
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS u (session_id, kernel_id, agent_id, workspace, metadata, home, folder)
  LEFT JOIN LATERAL (${pinOfFolder('u')}) AS known ON TRUE
  ON CONFLICT (session_id) DO NOTHING`

/** Contract: locks the sessions and returns their rows by id; refuses the batch if one of them has work. */
async function lockFreeSessions(db: Queries, fresh: readonly NewDispatch[]): Promise<ReadonlyMap<string, SqlRow>> {
  const locked = await db.all(
    'SELECT n, session_id, home FROM sessions WHERE session_id = ANY ($1::text[]) ORDER BY n FOR NO KEY UPDATE',
    fresh.map(({ session_id }) => session_id),
  )
  const sessions = new Map(locked.map((row) => [String(row.session_id), row]))
  const busy = await db.all(
    `SELECT session, dispatch_id FROM dispatches WHERE session = ANY ($1::bigint[]) AND status IN ${IN_FLIGHT}`,
    locked.map(({ n }) => Number(n)),
  )
  const busyWith = new Map(busy.map(({ session, dispatch_id }) => [Number(session), String(dispatch_id)]))
  for (const { session_id, dispatch_id } of fresh) {
    const session = Number(sessions.get(session_id)?.n)
    const other = busyWith.get(session)
    if (other !== undefined)
      throw new RefusedBatch(
        'conflict',
        `session ${session_id} is busy with dispatch ${other}; send it a message instead`,
      )
    busyWith.set(session, dispatch_id)
  }
  return sessions
}

interface DispatchRow {
  readonly dispatch: Omit<NewDispatch, 'session_id' | 'workspace'>
  /** The number of the session, and its home. */
  readonly session: number
  readonly home: string
  readonly now: number
}

const placeOf = (session: SqlRow | undefined): Pick<DispatchRow, 'session' | 'home'> => ({
  ...{ session: Number(session?.n ?? -1), home: String(session?.home ?? '') },
})

/** Contract: the ids of those that were inserted; the others have a key that exists. */
async function insertDispatches(db: Queries, rows: readonly DispatchRow[]): Promise<ReadonlySet<string>> {
  const column = <T>(pick: (dispatch: DispatchRow['dispatch'], row: DispatchRow) => T): T[] =>
    rows.map((row) => pick(row.dispatch, row))
  const waits = rows.map(startOf)
  const inserted = await db.all(
    INSERT_DISPATCHES,
    ...[column(({ dispatch_id }) => dispatch_id), column(({ kernel_id }) => kernel_id)],
    ...[column(({ cycle_id }) => cycle_id ?? null), column(({ agent_id }) => agent_id)],
    ...[column((_, { session }) => session), column(({ prompt }) => prompt), column(({ priority }) => priority)],
    ...[column(({ metadata }) => JSON.stringify(metadata)), column(({ source }) => source)],
    ...[column(({ key }) => key ?? null), column(({ parent_id }) => parent_id ?? null)],
    ...[waits.map((wait) => (wait ? JSON.stringify(wait) : null)), waits.map((wait) => wait?.until ?? null)],
    rows[0]?.now ?? 0,
    column((_, { home }) => home),
  )
  return new Set(inserted.map(({ dispatch_id }) => String(dispatch_id)))
}

function startOf({ dispatch: { at }, now }: DispatchRow): Wait | undefined {
  return at !== undefined && at > now ? { kind: 'start', until: at, reason: 'scheduled for later' } : undefined
}

const INSERT_DISPATCHES = `INSERT INTO dispatches (dispatch_id, kernel_id, cycle_id, agent_id, session, prompt,
    priority, metadata, source, key, wait, due, parent, paused, status, created_at, updated_at, home)
  SELECT u.dispatch_id, u.kernel_id, u.cycle_id, u.agent_id, u.session, u.prompt, u.priority, u.metadata, u.source,
    u.key, u.wait, u.due, p.n, coalesce(p.paused, 0), CASE WHEN u.wait IS NULL THEN 'pending' ELSE 'waiting' END,
    $14::bigint, $14::bigint, u.home
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::text[], $13::bigint[], $15::text[]) WITH ORDINALITY
    AS u (dispatch_id, kernel_id, cycle_id, agent_id, session, prompt, priority, metadata, source, key, parent_id, wait,
      due, home, place)
  LEFT JOIN dispatches p ON p.dispatch_id = u.parent_id ORDER BY u.place
  ON CONFLICT (source, key) WHERE key IS NOT NULL DO NOTHING RETURNING dispatch_id`

/**
 * Creates a dispatch for a session that has unread input but no dispatch in flight, so that every message is processed.
 * The session must be locked.
 */
export async function createSuccessor(db: Queries, session: number, dispatch_id: string, now: number): Promise<string> {
  const row = await db.get('SELECT n, home, kernel_id, agent_id, metadata FROM sessions WHERE n = $1', session)
  const dispatch = {
    ...{ dispatch_id, kernel_id: String(row?.kernel_id), agent_id: String(row?.agent_id), prompt: '', priority: 0 },
    ...{ metadata: JSON.parse(String(row?.metadata)), source: 'inbox' },
  }
  await db.run('UPDATE sessions SET archived_at = NULL WHERE n = $1 AND archived_at IS NOT NULL', session)
  await insertDispatches(db, [{ dispatch, ...placeOf(row), now }])
  return dispatch_id
}

export async function wakeWaiting(db: Queries, dispatch: number, now: number): Promise<void> {
  await db.run(
    `UPDATE dispatches SET status = 'pending', wait = NULL, due = NULL, updated_at = $1
     WHERE n = $2 AND status = 'waiting'`,
    ...[now, dispatch],
  )
}
