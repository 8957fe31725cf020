/** The manifest of a trace: a summary of the run. */

import type { Issue, JournalRecord, RunSetup, Usage } from '../domain/journal-record.ts'
import { dispatchEndOf, type FailureClass, type StopReason } from '../domain/stop-reason.ts'
import { iso } from '../ports/clock.ts'

const TRACE_FORMAT_VERSION = 1

export interface TraceManifest {
  readonly run_id: string
  readonly session_id: string
  readonly schema_version: number
  readonly status: 'running' | 'completed' | 'failed'
  readonly stop_reason: StopReason | null
  readonly step_count: number
  readonly event_count: number
  readonly final_answer: string | null
  readonly usage: Usage
  /** Null: no price of a model is known. */
  readonly cost_usd: number | null
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly agent_id: string | null
  readonly behaviour: string | null
  readonly task: string | null
  readonly setup: RunSetup | null
  readonly failure_class: FailureClass | null
  readonly error: string | null
  readonly issues: readonly Issue[]
}

export function newManifest({
  run_id,
  session_id,
}: {
  readonly run_id: string
  readonly session_id: string
}): TraceManifest {
  return {
    run_id,
    session_id,
    schema_version: TRACE_FORMAT_VERSION,
    status: 'running',
    stop_reason: null,
    step_count: 0,
    event_count: 0,
    final_answer: null,
    usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0 },
    cost_usd: null,
    started_at: null,
    ended_at: null,
    agent_id: null,
    behaviour: null,
    task: null,
    setup: null,
    failure_class: null,
    error: null,
    issues: [],
  }
}

const RUNNING = {
  status: 'running',
  stop_reason: null,
  final_answer: null,
  ended_at: null,
  failure_class: null,
  error: null,
  issues: [],
} as const

/** Adds a record to the manifest, except to its counts of steps and events, which the caller keeps. */
export function addRecordToManifest(manifest: TraceManifest, record: JournalRecord): TraceManifest {
  switch (record.kind) {
    case 'run_started': {
      const { agent_id, behaviour, task, setup } = record
      // A run that was retried manually keeps the start time of its first try.
      const started_at = manifest.started_at ?? iso(record.ts)
      return { ...manifest, ...RUNNING, agent_id, behaviour, task, setup, started_at }
    }
    case 'refitted':
    case 'became':
      return { ...manifest, setup: record.setup }
    case 'model_answered':
      return {
        ...manifest,
        usage: addUsage(manifest.usage, record.answer.usage),
        cost_usd: record.usd === undefined ? manifest.cost_usd : (manifest.cost_usd ?? 0) + record.usd,
      }
    case 'run_ended': {
      const ending = dispatchEndOf(record.stop_reason, record.failure_class)
      return {
        ...manifest,
        status: ending.status === 'done' ? 'completed' : 'failed',
        stop_reason: record.stop_reason,
        final_answer: record.answer ?? null,
        ended_at: iso(record.ts),
        failure_class: ending.status === 'failed' ? ending.failure_class : null,
        error: record.error ?? null,
        issues: record.issues ?? [],
      }
    }
    default:
      return manifest
  }
}

const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
})
