/** What each op does to the tables. Order and refusal are part of the contract in ports/store.ts. */

import { afterBarrenCrash, type NewDispatch } from '../../../domain/dispatch.ts'
import type { Observation } from '../../../domain/observation.ts'
import { type Wait, wakes } from '../../../domain/wait.ts'
import type { Op, Results } from '../../../ports/store.ts'
import { listInterrupted } from './interrupted.ts'
import { Refused, type Sql } from './refused.ts'
import { DISPATCH_COLUMNS, dispatchOf, type Row, UNKNOWN_COLUMNS, unknownOf } from './rows.ts'

/** The dispatch and session that a fenced batch has proved it holds. */
export interface Held {
  readonly dispatch: number
  readonly session: number
}

type Apply<K extends Op['op']> = (sql: Sql, op: Extract<Op, { op: K }>, held: Held | undefined) => Results[K]

export type Ops = { readonly [K in Op['op']]: Apply<K> }

export const OPS: Ops = {
  join(sql, op) {
    if (op.alone) sql('UPDATE workers SET lease_until = 0 WHERE left_at IS NULL').run()
    const { lastInsertRowid } = sql('INSERT INTO workers (name, joined_at, lease_until) VALUES (?, ?, ?)').run(
      op.name,
      op.now,
      op.lease_until,
    )
    return { epoch: Number(lastInsertRowid) }
  },

  beat(sql, op) {
    const { changes } = sql('UPDATE workers SET lease_until = ? WHERE epoch = ? AND left_at IS NULL').run(
      op.lease_until,
      op.epoch,
    )
    return { alive: Number(changes) === 1 }
  },

  leave(sql, op) {
    sql('UPDATE workers SET left_at = ? WHERE epoch = ? AND left_at IS NULL').run(op.now, op.epoch)
    const { changes } = sql(
      "UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ? WHERE status = 'running' AND epoch = ?",
    ).run(op.now, op.epoch)
    return { released: Number(changes) }
  },

  recover(sql, op) {
    const recovered: string[] = []
    const dead: string[] = []
    const lost = sql('SELECT epoch FROM workers WHERE left_at IS NULL AND lease_until <= ?').all(op.now)
    for (const { epoch } of lost) {
      const orphans = sql(
        `SELECT d.n, d.dispatch_id, d.session, d.crashes, d.head_at_claim, (SELECT max(seq) FROM journal WHERE session = d.session) AS head
         FROM dispatches d WHERE d.status = 'running' AND d.epoch = ?`,
      ).all(Number(epoch))
      for (const orphan of orphans) {
        const crashes = Number(orphan.head ?? 0) > Number(orphan.head_at_claim) ? 0 : Number(orphan.crashes) + 1
        const status = afterBarrenCrash(crashes)
        const error =
          status === 'dead'
            ? `the process died ${crashes} times in a row while working on this, leaving nothing new`
            : null
        sql(
          'UPDATE dispatches SET status = ?, epoch = NULL, crashes = ?, error = ?, failure_class = ?, updated_at = ? WHERE n = ?',
        ).run(status, crashes, error, status === 'dead' ? 'infra' : null, op.now, Number(orphan.n))
        if (status === 'dead') listInterrupted(sql, Number(orphan.session), String(orphan.dispatch_id))
        const list = status === 'dead' ? dead : recovered
        list.push(String(orphan.dispatch_id))
      }
      sql('UPDATE workers SET left_at = ? WHERE epoch = ?').run(op.now, Number(epoch))
    }
    return { lost: lost.length, recovered, dead }
  },

  enqueue(sql, op) {
    return op.dispatches.map((dispatch) => enqueueOne(sql, dispatch, op.now))
  },

  claim(sql, op) {
    const worker = sql('SELECT 1 FROM workers WHERE epoch = ? AND left_at IS NULL').get(op.epoch)
    if (!worker) throw new Refused('store_fenced', `worker epoch ${op.epoch} has ended and may claim nothing`)
    const found = op.only
      ? sql("SELECT n, session FROM dispatches WHERE status = 'pending' AND dispatch_id = ?").all(op.only)
      : sql("SELECT n, session FROM dispatches WHERE status = 'pending' ORDER BY priority DESC, n LIMIT ?").all(
          op.limit,
        )
    return found.map(({ n, session }) => {
      sql(
        `UPDATE dispatches SET status = 'running', epoch = ?, token = token + 1, attempts = attempts + 1, wait = NULL, due = NULL,
           crashes = iif(h.head > head_at_claim, 0, crashes), head_at_claim = h.head, updated_at = ?
         FROM (SELECT coalesce((SELECT max(seq) FROM journal WHERE session = ?), 0) AS head) AS h
         WHERE n = ?`,
      ).run(op.epoch, op.now, Number(session), Number(n))
      return dispatchOf(sql(`SELECT ${DISPATCH_COLUMNS} WHERE d.n = ?`).get(Number(n)) as Row)
    })
  },

  promote(sql, op) {
    const due = sql(
      "SELECT n, session, token, wait FROM dispatches WHERE status = 'waiting' AND due IS NOT NULL AND due <= ?",
    ).all(op.now)
    for (const row of due) {
      const wait = JSON.parse(String(row.wait)) as Wait
      if (wait.kind === 'observation') {
        const deadline: Observation = {
          // Once per park: a run parks at most once under one token, and may well wait for the same instant twice.
          id: `deadline-${row.n}-${row.token}`,
          type: 'system_event',
          name: 'deadline',
          payload: { waited_for: wait.reason },
          ts: op.now,
        }
        insertObservation(sql, Number(row.session), deadline)
      }
      wake(sql, Number(row.n), op.now)
    }
    return { promoted: due.length }
  },

  append(sql, op, held) {
    const session = sessionNumber(sql, op.session_id)
    if (held && held.session !== session)
      throw new Refused('store_fenced', `the fence does not cover session ${op.session_id}`)
    let head = Number(sql('SELECT max(seq) AS head FROM journal WHERE session = ?').get(session)?.head ?? 0)
    const insert = sql('INSERT INTO journal (session, seq, body) VALUES (?, ?, ?)')
    for (const record of op.records) {
      if (record.seq !== head + 1)
        throw new Refused(
          'store_sequence',
          `session ${op.session_id} ends at record ${head}; record ${record.seq} does not follow it`,
        )
      head = record.seq
      insert.run(session, head, JSON.stringify(record))
    }
    return { head }
  },

  acknowledge(sql, op) {
    const session = sessionNumber(sql, op.session_id)
    const read = sql('UPDATE inbox SET read_at = ? WHERE session = ? AND id = ? AND read_at IS NULL')
    const changes = op.observation_ids.map((id) => Number(read.run(op.now, session, id).changes))
    return { acknowledged: changes.reduce((sum, n) => sum + n, 0) }
  },

  settle(sql, op, held) {
    const { dispatch, session } = holding(held, op.op)
    sql(
      'UPDATE dispatches SET status = ?, epoch = NULL, wait = NULL, due = NULL, result = ?, error = ?, failure_class = ?, updated_at = ? WHERE n = ?',
    ).run(op.status, op.result, op.error, op.failure_class, op.now, dispatch)
    const unread =
      op.status === 'done' && sql('SELECT 1 FROM inbox WHERE session = ? AND read_at IS NULL LIMIT 1').get(session)
    return { successor: unread ? succeed(sql, session, op.successor_id, op.now) : null }
  },

  park(sql, op, held) {
    const { dispatch, session } = holding(held, op.op)
    if (alreadyAnswered(sql, session, op.wait)) return { parked: false }
    sql("UPDATE dispatches SET status = 'waiting', epoch = NULL, wait = ?, due = ?, updated_at = ? WHERE n = ?").run(
      JSON.stringify(op.wait),
      op.wait.until,
      op.now,
      dispatch,
    )
    return { parked: true }
  },

  release(sql, op, held) {
    const { dispatch } = holding(held, op.op)
    sql("UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ? WHERE n = ?").run(op.now, dispatch)
    return null
  },

  publish(sql, op) {
    const session = sessionNumber(sql, op.session_id)
    if (!insertObservation(sql, session, op.observation)) return { duplicate: true, dispatch_id: null }
    const inFlight = sql(
      "SELECT n, dispatch_id, status, wait FROM dispatches WHERE session = ? AND status IN ('pending', 'running', 'waiting')",
    ).get(session)
    if (!inFlight) return { duplicate: false, dispatch_id: succeed(sql, session, op.successor_id, op.now) }
    if (inFlight.status === 'waiting' && wakes(JSON.parse(String(inFlight.wait)) as Wait, op.observation))
      wake(sql, Number(inFlight.n), op.now)
    return { duplicate: false, dispatch_id: String(inFlight.dispatch_id) }
  },

  unknown(sql, op) {
    const { unknown } = op
    sql(
      `INSERT INTO unknowns (id, session, dispatch_id, tool, args, reach, started_at, output_so_far, status, resolution)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status, resolution = excluded.resolution`,
    ).run(
      unknown.id,
      sessionNumber(sql, unknown.session_id),
      unknown.dispatch_id,
      unknown.tool,
      JSON.stringify(unknown.args),
      unknown.reach,
      unknown.started_at,
      unknown.output_so_far,
      unknown.status,
      unknown.resolution,
    )
    return null
  },

  resolve(sql, op) {
    const row = sql(`SELECT ${UNKNOWN_COLUMNS} WHERE u.id = ?`).get(op.unknown_id) as Row | undefined
    if (!row) throw new Refused('not_found', `no unknown outcome has the id ${op.unknown_id}`)
    const unknown = unknownOf(row)
    if (unknown.status === 'resolved')
      throw new Refused('conflict', `${op.unknown_id} was resolved already, as ${unknown.resolution}`)
    sql("UPDATE unknowns SET status = 'resolved', resolution = ? WHERE id = ?").run(op.as, op.unknown_id)
    const waiting = sql("SELECT n, wait FROM dispatches WHERE dispatch_id = ? AND status = 'waiting'").get(
      unknown.dispatch_id,
    )
    const wait = waiting && (JSON.parse(String(waiting.wait)) as Wait)
    if (wait?.kind === 'unknown' && wait.unknown_id === op.unknown_id) wake(sql, Number(waiting?.n), op.now)
    return { unknown: { ...unknown, status: 'resolved', resolution: op.as } }
  },
}

function enqueueOne(sql: Sql, dispatch: NewDispatch, now: number): Results['enqueue'][number] {
  const known =
    dispatch.key !== undefined &&
    sql(
      'SELECT d.dispatch_id, s.session_id FROM dispatches d JOIN sessions s ON s.n = d.session WHERE d.source = ? AND d.key = ?',
    ).get(dispatch.source, dispatch.key)
  if (known) return { dispatch_id: String(known.dispatch_id), session_id: String(known.session_id), duplicate: true }
  sql(
    'INSERT INTO sessions (session_id, kernel_id, agent_id, workspace, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (session_id) DO NOTHING',
  ).run(dispatch.session_id, dispatch.kernel_id, dispatch.agent_id, dispatch.workspace, now)
  const session = sessionNumber(sql, dispatch.session_id)
  const busy = sql(
    "SELECT dispatch_id FROM dispatches WHERE session = ? AND status IN ('pending', 'running', 'waiting')",
  ).get(session)
  if (busy)
    throw new Refused(
      'conflict',
      `session ${dispatch.session_id} is busy with dispatch ${busy.dispatch_id}; send it a message instead`,
    )
  const later: Wait | undefined =
    dispatch.at !== undefined && dispatch.at > now
      ? { kind: 'start', until: dispatch.at, reason: 'not before its time' }
      : undefined
  insertDispatch(sql, session, dispatch, later, now)
  return { dispatch_id: dispatch.dispatch_id, session_id: dispatch.session_id, duplicate: false }
}

function insertDispatch(
  sql: Sql,
  session: number,
  dispatch: Omit<NewDispatch, 'session_id' | 'workspace'>,
  wait: Wait | undefined,
  now: number,
): void {
  sql(
    `INSERT INTO dispatches (dispatch_id, kernel_id, cycle_id, agent_id, session, prompt, priority, status, metadata, source, key, wait, due, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    dispatch.dispatch_id,
    dispatch.kernel_id,
    dispatch.cycle_id ?? null,
    dispatch.agent_id,
    session,
    dispatch.prompt,
    dispatch.priority,
    wait ? 'waiting' : 'pending',
    JSON.stringify(dispatch.metadata),
    dispatch.source,
    dispatch.key ?? null,
    wait ? JSON.stringify(wait) : null,
    wait?.until ?? null,
    now,
    now,
  )
}

/** Unread input and nothing in flight: the session gets a dispatch, so that no message is ever left lying. */
function succeed(sql: Sql, session: number, dispatch_id: string, now: number): string {
  const { kernel_id, agent_id } = sql('SELECT kernel_id, agent_id FROM sessions WHERE n = ?').get(session) as Row
  const successor = {
    dispatch_id,
    kernel_id: String(kernel_id),
    agent_id: String(agent_id),
    prompt: '',
    priority: 0,
    metadata: {},
    source: 'inbox',
  }
  insertDispatch(sql, session, successor, undefined, now)
  return dispatch_id
}

function insertObservation(sql: Sql, session: number, observation: Observation): boolean {
  const { changes } = sql(
    'INSERT INTO inbox (session, id, body) VALUES (?, ?, ?) ON CONFLICT (session, id) DO NOTHING',
  ).run(session, observation.id, JSON.stringify(observation))
  return Number(changes) === 1
}

function wake(sql: Sql, dispatch: number, now: number): void {
  sql("UPDATE dispatches SET status = 'pending', wait = NULL, due = NULL, updated_at = ? WHERE n = ?").run(
    now,
    dispatch,
  )
}

function alreadyAnswered(sql: Sql, session: number, wait: Wait): boolean {
  if (wait.kind === 'unknown')
    return sql("SELECT 1 FROM unknowns WHERE id = ? AND status = 'resolved'").get(wait.unknown_id) !== undefined
  const unread = sql('SELECT body FROM inbox WHERE session = ? AND read_at IS NULL ORDER BY n').all(session)
  return unread.some((row) => wakes(wait, JSON.parse(String(row.body)) as Observation))
}

function sessionNumber(sql: Sql, session_id: string): number {
  const row = sql('SELECT n FROM sessions WHERE session_id = ?').get(session_id)
  if (!row) throw new Refused('not_found', `no session has the id ${session_id}`)
  return Number(row.n)
}

function holding(held: Held | undefined, op: string): Held {
  if (!held) throw new Refused('store_fenced', `${op} needs the fence of the dispatch it is about`)
  return held
}
