/** What each op does to the tables. Order and refusal are part of the contract in ports/store.ts. */

import { answerObservation } from '../../../domain/approval.ts'
import { afterBarrenCrash, type DispatchStatus, type NewDispatch } from '../../../domain/dispatch.ts'
import type { Observation } from '../../../domain/observation.ts'
import { type Wait, wakes } from '../../../domain/wait.ts'
import type { Op, Results } from '../../../ports/store.ts'
import { answerApproval, expireApprovals, insertApproval, withdrawApprovals } from './approvals.ts'
import type { Written } from './encode.ts'
import { forgetFact, rememberFact } from './facts.ts'
import { listInterrupted } from './interrupted.ts'
import { Refused, type Sql } from './refused.ts'
import { DISPATCH_COLUMNS, dispatchOf, type Row, UNKNOWN_COLUMNS, unknownOf } from './rows.ts'

/** The dispatch and session that a fenced batch has proved it holds. */
export interface Held {
  readonly dispatch: number
  readonly session: number
  readonly session_id: string
}

type Apply<K extends Op['op']> = (sql: Sql, op: Extract<Written, { op: K }>, held: Held | undefined) => Results[K]

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
        `SELECT d.n, d.dispatch_id, d.session, d.crashes, d.head_at_claim, s.head
         FROM dispatches d JOIN sessions s ON s.n = d.session WHERE d.status = 'running' AND d.epoch = ?`,
      ).all(Number(epoch))
      for (const orphan of orphans) {
        const crashes = Number(orphan.head) > Number(orphan.head_at_claim) ? 0 : Number(orphan.crashes) + 1
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
      ? sql("SELECT n, session FROM dispatches WHERE status = 'pending' AND paused = 0 AND dispatch_id = ?").all(
          op.only,
        )
      : sql(
          "SELECT n, session FROM dispatches WHERE status = 'pending' AND paused = 0 ORDER BY priority DESC, n LIMIT ?",
        ).all(op.limit)
    return found.map(({ n, session }) => {
      sql(
        `UPDATE dispatches SET status = 'running', epoch = ?, token = token + 1, attempts = attempts + 1, wait = NULL, due = NULL,
           crashes = iif(h.head > head_at_claim, 0, crashes), head_at_claim = h.head, updated_at = ?
         FROM (SELECT head FROM sessions WHERE n = ?) AS h
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
    for (const approval of expireApprovals(sql, op.now)) {
      const observation = answerObservation(approval, 'expired', null, op.now)
      publish(sql, sessionNumber(sql, approval.session_id), observation, null, op.now)
    }
    return { promoted: due.length }
  },

  append(sql, op, held) {
    if (held && held.session_id !== op.session_id)
      throw new Refused('store_fenced', `the fence does not cover session ${op.session_id}`)
    const session = held?.session ?? sessionNumber(sql, op.session_id)
    const head = op.seq + op.count - 1
    sql(
      'INSERT INTO journal (session, seq, prev, body) VALUES (?1, ?2, (SELECT last FROM sessions WHERE n = ?1), ?3)',
    ).run(session, op.seq, op.body)
    const { changes } = sql('UPDATE sessions SET head = ?, last = last_insert_rowid() WHERE n = ? AND head = ?').run(
      head,
      session,
      op.seq - 1,
    )
    if (Number(changes) === 1) return { head }
    const found = sql('SELECT head FROM sessions WHERE n = ?').get(session)?.head
    throw new Refused(
      'store_sequence',
      `session ${op.session_id} ends at record ${found}; record ${op.seq} does not follow it`,
    )
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
      'UPDATE dispatches SET status = ?, epoch = NULL, wait = NULL, due = NULL, cancel = NULL, paused = 0, result = ?, error = ?, failure_class = ?, updated_at = ? WHERE n = ?',
    ).run(op.status, op.result, op.error, op.failure_class, op.now, dispatch)
    if (op.status === 'cancelled') withdrawApprovals(sql, session, op.now)
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
    // Whoever asked for its end does not wait with it.
    if (sql('SELECT 1 FROM dispatches WHERE n = ? AND cancel IS NOT NULL').get(dispatch)) wake(sql, dispatch, op.now)
    return { parked: true }
  },

  release(sql, op, held) {
    const { dispatch } = holding(held, op.op)
    sql("UPDATE dispatches SET status = 'pending', epoch = NULL, updated_at = ? WHERE n = ?").run(op.now, dispatch)
    return null
  },

  cancel(sql, op) {
    return family(sql, op.dispatch_id).map(({ n, session, dispatch_id, status, attempts }) => {
      if (status === 'pending' && attempts === 0) {
        sql("UPDATE dispatches SET status = 'cancelled', failure_class = NULL, updated_at = ? WHERE n = ?").run(
          op.now,
          n,
        )
        withdrawApprovals(sql, session, op.now)
      } else {
        const how = "iif(cancel = 'immediate', cancel, ?)"
        sql(`UPDATE dispatches SET cancel = ${how}, paused = 0, updated_at = ? WHERE n = ?`).run(op.how, op.now, n)
        if (status === 'waiting') wake(sql, n, op.now)
      }
      return { dispatch_id, status }
    })
  },

  pause(sql, op) {
    return family(sql, op.dispatch_id).map(({ n, dispatch_id, status }) => {
      sql('UPDATE dispatches SET paused = ?, updated_at = ? WHERE n = ?').run(op.paused ? 1 : 0, op.now, n)
      return { dispatch_id, status }
    })
  },

  publish(sql, op) {
    return publish(sql, sessionNumber(sql, op.session_id), op.observation, op.successor_id, op.now)
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

  select(sql, { scope, model, now }) {
    if (model === null) sql('DELETE FROM selections WHERE scope = ?').run(scope)
    else
      sql('INSERT INTO selections VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET model = ?2, chosen_at = ?3').run(
        scope,
        model,
        now,
      )
    return null
  },

  ask(sql, op) {
    insertApproval(sql, sessionNumber(sql, op.approval.session_id), op.approval)
    return null
  },

  answer(sql, op) {
    const approval = answerApproval(sql, op)
    const observation = answerObservation(approval, op.answer, op.reason, op.now)
    const session = sessionNumber(sql, approval.session_id)
    const { dispatch_id } = publish(sql, session, observation, op.successor_id, op.now)
    return { approval, dispatch_id }
  },

  remember: rememberFact,
  forget: forgetFact,
}

function enqueueOne(sql: Sql, dispatch: NewDispatch, now: number): Results['enqueue'][number] {
  const known =
    dispatch.key !== undefined &&
    sql(
      'SELECT d.dispatch_id, s.session_id FROM dispatches d JOIN sessions s ON s.n = d.session WHERE d.source = ? AND d.key = ?',
    ).get(dispatch.source, dispatch.key)
  if (known) return { dispatch_id: String(known.dispatch_id), session_id: String(known.session_id), duplicate: true }
  sql(
    'INSERT INTO sessions (session_id, kernel_id, agent_id, workspace, metadata, created_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id) DO NOTHING',
  ).run(
    dispatch.session_id,
    dispatch.kernel_id,
    dispatch.agent_id,
    dispatch.workspace,
    JSON.stringify(dispatch.metadata),
    now,
  )
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
    `INSERT INTO dispatches (dispatch_id, kernel_id, cycle_id, agent_id, session, prompt, priority, status, metadata, source, key, wait, due, parent, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT n FROM dispatches WHERE dispatch_id = ?), ?, ?)`,
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
    dispatch.parent_id ?? null,
    now,
    now,
  )
}

interface Member {
  readonly n: number
  readonly session: number
  readonly dispatch_id: string
  readonly status: DispatchStatus
  readonly attempts: number
}

/** A dispatch and its descendants, those in flight. */
function family(sql: Sql, dispatch_id: string): readonly Member[] {
  const found = sql('SELECT n FROM dispatches WHERE dispatch_id = ?').get(dispatch_id)
  if (!found) throw new Refused('not_found', `no dispatch has the id ${dispatch_id}`)
  const rows = sql(
    `WITH RECURSIVE member (n) AS (SELECT ? UNION SELECT d.n FROM dispatches d JOIN member m ON d.parent = m.n)
     SELECT d.n, d.session, d.dispatch_id, d.status, d.attempts FROM dispatches d JOIN member m ON m.n = d.n
     WHERE d.status IN ('pending', 'running', 'waiting') ORDER BY d.n`,
  ).all(Number(found.n))
  return rows.map((row) => ({
    n: Number(row.n),
    session: Number(row.session),
    dispatch_id: String(row.dispatch_id),
    status: String(row.status) as DispatchStatus,
    attempts: Number(row.attempts),
  }))
}

/** Unread input and nothing in flight: the session gets a dispatch, so that no message is ever left lying. */
function succeed(sql: Sql, session: number, dispatch_id: string, now: number): string {
  const { kernel_id, agent_id, metadata } = sql('SELECT kernel_id, agent_id, metadata FROM sessions WHERE n = ?').get(
    session,
  ) as Row
  const successor = {
    dispatch_id,
    kernel_id: String(kernel_id),
    agent_id: String(agent_id),
    prompt: '',
    priority: 0,
    metadata: JSON.parse(String(metadata)),
    source: 'inbox',
  }
  insertDispatch(sql, session, successor, undefined, now)
  return dispatch_id
}

/** `successor_id`: null where nothing in flight means that it can wait. */
function publish(
  sql: Sql,
  session: number,
  observation: Observation,
  successor_id: string | null,
  now: number,
): Results['publish'] {
  if (!insertObservation(sql, session, observation)) return { duplicate: true, dispatch_id: null }
  const inFlight = sql(
    "SELECT n, dispatch_id, status, wait FROM dispatches WHERE session = ? AND status IN ('pending', 'running', 'waiting')",
  ).get(session)
  if (!inFlight) return { duplicate: false, dispatch_id: successor_id && succeed(sql, session, successor_id, now) }
  if (inFlight.status === 'waiting' && wakes(JSON.parse(String(inFlight.wait)) as Wait, observation))
    wake(sql, Number(inFlight.n), now)
  return { duplicate: false, dispatch_id: String(inFlight.dispatch_id) }
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
