/** The store of a replay: one session's journal in memory, and an inbox that holds what the recording says was new. */

import type { Dispatch } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { unknownIdOf } from '../domain/unknown.ts'
import { iso } from '../ports/clock.ts'
import type { Op, Store } from '../ports/store.ts'
import type { Recording } from './recording.ts'

export function replayStore(dispatch: Dispatch, tape: Recording): Store {
  const { session_id, agent_id } = dispatch
  const absent = (): never => {
    throw new TirelessError('internal', 'a replay has no such thing')
  }
  return {
    async commit(batches) {
      const results = batches.map(({ ops }) => ({ ok: true as const, results: ops.map(resultOf) }))
      tape.written()
      return results
    },
    journal: async () => [...tape.past, ...tape.produced()],
    session: async () => ({ session_id, agent_id, workspace: '/', status: 'active', created_at: iso(0) }),
    inbox: async () => tape.input(dispatch.dispatch_id),
    /** Of a call that was tried again, somebody had said that it did not happen. */
    unknowns: async () =>
      tape.triedAgain().map((intended) => ({
        id: unknownIdOf(session_id, { ...intended, attempt: intended.attempt - 1 }),
        session_id,
        dispatch_id: dispatch.dispatch_id,
        tool: intended.call.tool,
        args: intended.call.args,
        reach: intended.effect.reach,
        started_at: iso(0),
        output_so_far: '',
        status: 'resolved',
        resolution: 'not',
      })),
    commits: () => 0,
    close: async () => {},
    selections: async () => [],
    label: async () => undefined,
    labels: absent,
    grants: absent,
    audit: absent,
    prunable: absent,
    unreadable: absent,
    skipped: () => [],
    setAside: absent,
    spend: absent,
    recent: absent,
    dispatchesOf: absent,
    cycles: absent,
    setting: absent,
    approval: absent,
    approvals: absent,
    dispatch: absent,
    dispatches: absent,
    counts: absent,
    sessions: absent,
    schedules: absent,
    marks: absent,
    facts: absent,
    recallFacts: absent,
    document: absent,
    documentVersion: absent,
    documentVersions: absent,
    projection: absent,
    outbox: absent,
    dueMessages: absent,
    nextMessage: absent,
    deliveries: absent,
    workers: absent,
    nextTimer: absent,
    verify: absent,
    backup: absent,
  }
}

function resultOf(op: Op): unknown {
  if (op.op === 'append') return { head: op.records.at(-1)?.seq ?? 0 }
  if (op.op === 'reserve') return { refused: null }
  return op.op === 'park' ? { parked: true } : null
}
