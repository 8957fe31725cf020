/** Rows and words: from the tables' columns to the domain's types and back. */

import type { Approval } from '../../../domain/approval.ts'
import type { Dispatch, DispatchStatus } from '../../../domain/dispatch.ts'
import type { Document, DocumentVersion } from '../../../domain/document.ts'
import type { Fact } from '../../../domain/fact.ts'
import type { Grant } from '../../../domain/grant.ts'
import { MAX_INSTANT_MS } from '../../../domain/limits.ts'
import type { Mark, ScheduleEntry } from '../../../domain/schedule.ts'
import { type Session, sessionStatus } from '../../../domain/session.ts'
import type { Unknown } from '../../../domain/unknown.ts'
import { iso } from '../../../ports/clock.ts'

export type Row = Record<string, string | number | bigint | null | Uint8Array>

const text = (value: Row[string] | undefined): string => String(value)
const textOrNull = (value: Row[string] | undefined): string | null => (value == null ? null : String(value))

/** A lease that cannot be read is none; the dispatch itself can be. */
const LEASE_UNTIL = `iif(w.lease_until BETWEEN 0 AND ${MAX_INSTANT_MS}, w.lease_until, NULL) AS lease_until`

export const DISPATCH_COLUMNS = `d.*, s.session_id, ${LEASE_UNTIL}, p.dispatch_id AS parent_id
  FROM dispatches d JOIN sessions s ON s.n = d.session LEFT JOIN workers w ON w.epoch = d.epoch
  LEFT JOIN dispatches p ON p.n = d.parent`

export function dispatchOf(row: Row): Dispatch {
  return {
    dispatch_id: text(row.dispatch_id),
    kernel_id: text(row.kernel_id),
    cycle_id: textOrNull(row.cycle_id),
    agent_id: text(row.agent_id),
    session_id: text(row.session_id),
    prompt: text(row.prompt),
    priority: Number(row.priority),
    status: text(row.status) as DispatchStatus,
    metadata: JSON.parse(text(row.metadata)),
    lease_owner: row.epoch == null ? null : Number(row.epoch),
    lease_until: row.lease_until == null ? null : iso(Number(row.lease_until)),
    token: Number(row.token),
    attempts: Number(row.attempts),
    crashes: Number(row.crashes),
    wait: row.wait == null ? null : JSON.parse(text(row.wait)),
    result: textOrNull(row.result),
    error: textOrNull(row.error),
    failure_class: textOrNull(row.failure_class) as Dispatch['failure_class'],
    cancel: textOrNull(row.cancel) as Dispatch['cancel'],
    paused: row.paused === 1,
    parent_id: textOrNull(row.parent_id),
    created_at: iso(Number(row.created_at)),
    updated_at: iso(Number(row.updated_at)),
  }
}

export const SESSION_COLUMNS = `s.*, d.status FROM sessions s
  LEFT JOIN dispatches d ON d.session = s.n AND d.status IN ('pending', 'running', 'waiting')`

export function sessionOf(row: Row): Session {
  return {
    session_id: text(row.session_id),
    agent_id: text(row.agent_id),
    workspace: text(row.workspace),
    status: sessionStatus(row.archived_at != null, textOrNull(row.status) as DispatchStatus | null),
    created_at: iso(Number(row.created_at)),
  }
}

export const UNKNOWN_COLUMNS = 'u.*, s.session_id FROM unknowns u JOIN sessions s ON s.n = u.session'

export function unknownOf(row: Row): Unknown {
  return {
    id: text(row.id),
    session_id: text(row.session_id),
    dispatch_id: text(row.dispatch_id),
    tool: text(row.tool),
    args: JSON.parse(text(row.args)),
    reach: text(row.reach) as Unknown['reach'],
    started_at: text(row.started_at),
    output_so_far: text(row.output_so_far),
    status: text(row.status) as Unknown['status'],
    resolution: textOrNull(row.resolution) as Unknown['resolution'],
  }
}

export const APPROVAL_COLUMNS = 'a.*, s.session_id FROM approvals a JOIN sessions s ON s.n = a.session'

export function approvalOf(row: Row): Approval {
  return {
    id: text(row.id),
    session_id: text(row.session_id),
    tool: text(row.tool),
    args: JSON.parse(text(row.args)),
    effect: JSON.parse(text(row.effect)),
    sinks: JSON.parse(text(row.sinks)),
    digest: text(row.digest),
    reason: text(row.reason),
    origin: JSON.parse(text(row.origin)),
    asked_at: iso(Number(row.asked_at)),
    expires_at: iso(Number(row.expires_at)),
    status: text(row.status) as Approval['status'],
    answered_at: row.answered_at == null ? null : iso(Number(row.answered_at)),
    answer_reason: textOrNull(row.answer_reason),
  }
}

export function grantOf(row: Row): Grant {
  return {
    id: text(row.id),
    tool: text(row.tool),
    agent_id: textOrNull(row.agent_id),
    session_id: textOrNull(row.session_id),
    to: JSON.parse(text(row.to)),
    args: textOrNull(row.args),
    granted_at: iso(Number(row.granted_at)),
    expires_at: row.expires_at == null ? null : iso(Number(row.expires_at)),
  }
}

export function factOf(row: Row): Fact {
  return {
    id: text(row.id),
    key: text(row.key),
    text: text(row.text),
    agent_id: text(row.agent_id),
    session_id: text(row.session_id),
    turn: Number(row.turn),
    trust: text(row.trust) as Fact['trust'],
    private: row.private === 1,
    status: text(row.status) as Fact['status'],
    created_at: iso(Number(row.created_at)),
    expires_at: row.expires_at == null ? null : iso(Number(row.expires_at)),
  }
}

export function scheduleOf(row: Row): ScheduleEntry {
  return {
    id: text(row.id),
    spec: JSON.parse(text(row.spec)),
    timezone: text(row.timezone),
    agent_id: text(row.agent_id),
    prompt: textOrNull(row.prompt),
    paused: row.paused === 1,
    created_at: iso(Number(row.created_at)),
  }
}

export function markOf(row: Row): Mark {
  return {
    schedule_id: text(row.schedule_id),
    until: Number(row.until),
    fired: row.fired == null ? null : Number(row.fired),
  }
}

export const VERSION_COLUMNS = 'kernel_id, name, version, sha256, bytes, author, reason, cycle_id, ts'

export function versionOf(row: Row): DocumentVersion {
  return {
    kernel_id: text(row.kernel_id),
    name: text(row.name),
    version: Number(row.version),
    sha256: text(row.sha256),
    bytes: Number(row.bytes),
    author: text(row.author),
    reason: text(row.reason),
    cycle_id: textOrNull(row.cycle_id),
    ts: iso(Number(row.ts)),
  }
}

export const documentOf = (row: Row): Document => ({ ...versionOf(row), text: text(row.text) })
