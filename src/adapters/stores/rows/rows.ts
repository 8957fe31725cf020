/** Converts rows to domain types, and names their columns in SQL that every store understands. */

import type { Approval } from '../../../domain/approval.ts'
import type { Dispatch, DispatchStatus } from '../../../domain/dispatch.ts'
import type { Document, DocumentVersion } from '../../../domain/document.ts'
import type { Fact } from '../../../domain/fact.ts'
import type { Grant } from '../../../domain/grant.ts'
import { MAX_INSTANT_MS } from '../../../domain/limits.ts'
import type { Need } from '../../../domain/need.ts'
import type { ScheduleEntry, ScheduleMark } from '../../../domain/schedule.ts'
import { type Session, sessionStatus } from '../../../domain/session.ts'
import type { Todo } from '../../../domain/todo.ts'
import type { TodoReceipt } from '../../../domain/todo-delta.ts'
import type { Undo } from '../../../domain/undo.ts'
import type { UnknownOutcome } from '../../../domain/unknown-outcome.ts'
import { iso } from '../../../ports/clock.ts'

export type SqlRow = Record<string, string | number | bigint | null | Uint8Array>

const asText = (value: SqlRow[string] | undefined): string => String(value)
const asTextOrNull = (value: SqlRow[string] | undefined): string | null => (value == null ? null : String(value))

/** An unreadable lease of the worker counts as no lease, so that the dispatch stays readable. */
const LEASE_UNTIL = `CASE WHEN w.lease_until BETWEEN 0 AND ${MAX_INSTANT_MS} THEN w.lease_until END AS lease_until`

export const DISPATCH_COLUMNS = `d.*, s.session_id, ${LEASE_UNTIL}, p.dispatch_id AS parent_id
  FROM dispatches d JOIN sessions s ON s.n = d.session LEFT JOIN workers w ON w.epoch = d.epoch
  LEFT JOIN dispatches p ON p.n = d.parent`

export function dispatchFromRow(row: SqlRow): Dispatch {
  return {
    dispatch_id: asText(row.dispatch_id),
    kernel_id: asText(row.kernel_id),
    cycle_id: asTextOrNull(row.cycle_id),
    agent_id: asText(row.agent_id),
    session_id: asText(row.session_id),
    prompt: asText(row.prompt),
    priority: Number(row.priority),
    status: asText(row.status) as DispatchStatus,
    metadata: JSON.parse(asText(row.metadata)),
    lease_owner: row.epoch == null ? null : Number(row.epoch),
    lease_until: row.lease_until == null ? null : iso(Number(row.lease_until)),
    token: Number(row.token),
    attempts: Number(row.attempts),
    crashes: Number(row.crashes),
    wait: row.wait == null ? null : JSON.parse(asText(row.wait)),
    result: asTextOrNull(row.result),
    error: asTextOrNull(row.error),
    failure_class: asTextOrNull(row.failure_class) as Dispatch['failure_class'],
    cancel: asTextOrNull(row.cancel) as Dispatch['cancel'],
    paused: row.paused === 1,
    parent_id: asTextOrNull(row.parent_id),
    ...(row.home ? { home: asText(row.home) } : {}),
    created_at: iso(Number(row.created_at)),
    updated_at: iso(Number(row.updated_at)),
  }
}

export const SESSION_COLUMNS = `s.*, d.status FROM sessions s
  LEFT JOIN dispatches d ON d.session = s.n AND d.status IN ('pending', 'running', 'waiting')`

export function sessionFromRow(row: SqlRow): Session {
  return {
    session_id: asText(row.session_id),
    agent_id: asText(row.agent_id),
    workspace: asText(row.workspace),
    ...(row.home ? { home: asText(row.home) } : {}),
    status: sessionStatus(row.archived_at != null, asTextOrNull(row.status) as DispatchStatus | null),
    created_at: iso(Number(row.created_at)),
  }
}

export const UNKNOWN_COLUMNS = 'u.*, s.session_id FROM unknowns u JOIN sessions s ON s.n = u.session'

export function unknownFromRow(row: SqlRow): UnknownOutcome {
  return {
    id: asText(row.id),
    session_id: asText(row.session_id),
    dispatch_id: asText(row.dispatch_id),
    tool: asText(row.tool),
    args: JSON.parse(asText(row.args)),
    reach: asText(row.reach) as UnknownOutcome['reach'],
    started_at: asText(row.started_at),
    output_so_far: asText(row.output_so_far),
    status: asText(row.status) as UnknownOutcome['status'],
    resolution: asTextOrNull(row.resolution) as UnknownOutcome['resolution'],
  }
}

export const APPROVAL_COLUMNS = 'a.*, s.session_id FROM approvals a JOIN sessions s ON s.n = a.session'

export function approvalFromRow(row: SqlRow): Approval {
  return {
    id: asText(row.id),
    session_id: asText(row.session_id),
    tool: asText(row.tool),
    args: JSON.parse(asText(row.args)),
    effect: JSON.parse(asText(row.effect)),
    sinks: JSON.parse(asText(row.sinks)),
    digest: asText(row.digest),
    reason: asText(row.reason),
    origin: JSON.parse(asText(row.origin)),
    asked_at: iso(Number(row.asked_at)),
    expires_at: iso(Number(row.expires_at)),
    status: asText(row.status) as Approval['status'],
    answered_at: row.answered_at == null ? null : iso(Number(row.answered_at)),
    answer_reason: asTextOrNull(row.answer_reason),
  }
}

export function grantFromRow(row: SqlRow): Grant {
  return {
    id: asText(row.id),
    tool: asText(row.tool),
    agent_id: asTextOrNull(row.agent_id),
    session_id: asTextOrNull(row.session_id),
    to: JSON.parse(asText(row.to)),
    args: asTextOrNull(row.args),
    granted_at: iso(Number(row.granted_at)),
    expires_at: row.expires_at == null ? null : iso(Number(row.expires_at)),
  }
}

export function factFromRow(row: SqlRow): Fact {
  return {
    id: asText(row.id),
    key: asText(row.key),
    text: asText(row.text),
    agent_id: asText(row.agent_id),
    session_id: asText(row.session_id),
    turn: Number(row.turn),
    trust: asText(row.trust) as Fact['trust'],
    private: row.private === 1,
    status: asText(row.status) as Fact['status'],
    created_at: iso(Number(row.created_at)),
    expires_at: row.expires_at == null ? null : iso(Number(row.expires_at)),
    ended_by: asTextOrNull(row.ended_by),
  }
}

export function scheduleFromRow(row: SqlRow): ScheduleEntry {
  return {
    id: asText(row.id),
    spec: JSON.parse(asText(row.spec)),
    timezone: asText(row.timezone),
    agent_id: asText(row.agent_id),
    prompt: asTextOrNull(row.prompt),
    paused: row.paused === 1,
    created_at: iso(Number(row.created_at)),
  }
}

export function markFromRow(row: SqlRow): ScheduleMark {
  return {
    schedule_id: asText(row.schedule_id),
    until: Number(row.until),
    fired: row.fired == null ? null : Number(row.fired),
  }
}

export const todoFromRow = (row: SqlRow): Todo => JSON.parse(asText(row.body))

export const receiptFromRow = (row: SqlRow): TodoReceipt => JSON.parse(asText(row.body))

export const undoFromRow = (row: SqlRow): Undo => ({
  ...{ id: asText(row.id), target: asText(row.target), status: asText(row.status) as Undo['status'] },
  ...(JSON.parse(asText(row.body)) as Omit<Undo, 'id' | 'target' | 'status' | 'created_at' | 'ended_at'>),
  created_at: iso(Number(row.created_at)),
  ended_at: row.ended_at == null ? null : iso(Number(row.ended_at)),
})

type NeedBody = Omit<Need, 'id' | 'kind' | 'same_as' | 'status' | 'answer' | 'asked_at' | 'ended_at'>

export const needFromRow = (row: SqlRow): Need => ({
  ...(JSON.parse(asText(row.body)) as NeedBody),
  id: asText(row.id),
  kind: asText(row.kind) as Need['kind'],
  same_as: asText(row.same_as),
  status: asText(row.status) as Need['status'],
  answer: row.answer == null ? null : JSON.parse(asText(row.answer)),
  asked_at: iso(Number(row.asked_at)),
  ended_at: row.ended_at == null ? null : iso(Number(row.ended_at)),
})

export const VERSION_COLUMNS = 'kernel_id, name, version, sha256, bytes, author, reason, cycle_id, ts'

/** With whose versions a version is counted: the system's, the owner's, or those of all agents. */
export const VERSION_CLASS = "CASE WHEN author IN ('system', 'owner') THEN author ELSE '' END"

export function versionFromRow(row: SqlRow): DocumentVersion {
  return {
    kernel_id: asText(row.kernel_id),
    name: asText(row.name),
    version: Number(row.version),
    sha256: asText(row.sha256),
    bytes: Number(row.bytes),
    author: asText(row.author),
    reason: asText(row.reason),
    cycle_id: asTextOrNull(row.cycle_id),
    ts: iso(Number(row.ts)),
  }
}

export const documentFromRow = (row: SqlRow): Document => ({ ...versionFromRow(row), text: asText(row.text) })
