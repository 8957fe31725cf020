/** The entry of the log, and its conversion from an event, which shortens long texts. */

import type { Event } from '../../domain/event.ts'
import type { Json } from '../../domain/json.ts'
import { iso } from '../../ports/clock.ts'

export type LogLevel = 'info' | 'warn' | 'error'

export interface LogFileEntry {
  readonly ts: string
  readonly level: LogLevel
  readonly event: string
  readonly [detail: string]: Json
}

/** Start, end, failure and waiting of a run are logged; its single steps are in its trace. */
export function isLogged({ phase, stage, ok, payload }: Event): boolean {
  if (phase === 'INIT' || phase === 'END' || phase === 'RECOVER') return true
  // The model handles failed calls, so they are not logged.
  return (!ok && phase !== 'ACT') || stage === 'diagnostic' || payload.parked !== undefined
}

export function logEntryFromEvent({
  ts,
  phase,
  stage,
  run_id,
  session_id,
  step_id,
  ok,
  payload,
  error,
}: Event): LogFileEntry {
  return {
    ts: iso(ts),
    level: ok ? 'info' : phase === 'END' ? 'error' : 'warn',
    event: `${phase} ${stage}`,
    run_id,
    session_id,
    step: step_id,
    ...payload,
    ...(error === undefined ? {} : { error }),
  }
}

const LENGTH = 120
/** Fields that describe a failure; more of their text is kept. */
const FAILURE_FIELDS = new Set(['message', 'error', 'reason', 'parked'])
const FAILURE_LENGTH = 500

/** Contract: one line of JSON; never throws. */
export function formatLogLine(
  { ts, level, event, ...details }: LogFileEntry,
  truncate: (text: string, most: number) => string,
): string {
  const shortened = Object.entries(details).map(([name, value]) => {
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) return [name, value]
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [name, truncate(text, FAILURE_FIELDS.has(name) ? FAILURE_LENGTH : LENGTH)]
  })
  return `${JSON.stringify({ ts, level, event, ...Object.fromEntries(shortened) })}\n`
}
