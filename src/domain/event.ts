/** Event: what is told to whoever watches. A pure function of journal records; telling cannot fail the teller (I9). */

import { assertNever } from './error.ts'
import type { Json } from './json.ts'
import type { JournalRecord } from './record.ts'

export type Phase =
  | 'INIT'
  | 'OBSERVE'
  | 'DECIDE'
  | 'ACT'
  | 'REDUCE'
  | 'CRITIC'
  | 'CHECK_STOP'
  | 'DECIDE_ERROR'
  | 'RECOVER'
  | 'END'

export interface Event {
  readonly run_id: string
  readonly session_id: string
  readonly seq: number
  readonly step_id: number
  readonly phase: Phase
  readonly stage: string
  readonly ts: number
  readonly ok: boolean
  readonly payload: Json
}

/** Progress that is shown while it happens and kept nowhere. */
export interface Delta {
  readonly run_id: string
  readonly session_id: string
  readonly text: string
}

export function eventOf(run_id: string, session_id: string, record: JournalRecord): Event {
  const at = { run_id, session_id, seq: record.seq, ts: record.ts, step_id: 'turn' in record ? record.turn : 0 }
  switch (record.kind) {
    case 'run_started':
      return {
        ...at,
        phase: 'INIT',
        stage: 'start',
        ok: true,
        payload: { agent_id: record.agent_id, behaviour: record.behaviour },
      }
    case 'input_bound':
      return {
        ...at,
        phase: 'OBSERVE',
        stage: 'observation_ready',
        ok: true,
        payload: { observations: record.input.length },
      }
    case 'model_requested':
      return {
        ...at,
        phase: 'DECIDE',
        stage: 'model_input',
        ok: true,
        payload: { model: record.model, digest: record.digest },
      }
    case 'model_failed':
      return {
        ...at,
        phase: 'DECIDE_ERROR',
        stage: 'error',
        ok: false,
        payload: { code: record.code, message: record.message },
      }
    case 'model_answered':
      return {
        ...at,
        phase: 'DECIDE',
        stage: 'model_output',
        ok: true,
        payload: {
          text: record.answer.text,
          calls: record.answer.calls.map((call) => call.tool),
          usage: { ...record.answer.usage },
        },
      }
    case 'decided':
      return { ...at, phase: 'DECIDE', stage: 'decision_ready', ok: true, payload: { kind: record.decision.kind } }
    case 'call_intended':
      return {
        ...at,
        phase: 'ACT',
        stage: 'start',
        ok: true,
        payload: { tool: record.call.tool, args: record.call.args },
      }
    case 'call_settled':
      return {
        ...at,
        phase: 'ACT',
        stage: 'action_results',
        ok: record.result.status === 'ok',
        payload: { status: record.result.status, content: record.result.content },
      }
    case 'step_committed':
      return {
        ...at,
        phase: 'CHECK_STOP',
        stage: record.next.kind === 'end' ? 'stop' : record.next.kind === 'park' ? 'park' : 'continue',
        ok: true,
        payload: record.next.kind === 'park' ? { reason: record.next.wait.reason } : {},
      }
    case 'run_ended':
      return {
        ...at,
        phase: 'END',
        stage: 'end',
        ok: record.failure_class === undefined,
        payload: { stop_reason: record.stop_reason, ...(record.error === undefined ? {} : { error: record.error }) },
      }
    default:
      return assertNever(record)
  }
}
