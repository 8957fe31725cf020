/** An entry of the log, and how an event becomes one: who, what, how it went; of texts no more than their beginning. */

import type { Event } from '../../domain/event.ts'
import type { Json } from '../../domain/json.ts'
import { iso } from '../../ports/clock.ts'

export type Level = 'info' | 'warn' | 'error'

export interface Entry {
  readonly ts: string
  readonly level: Level
  readonly event: string
  readonly [detail: string]: Json
}

/** That a run began and how it ended, what went wrong and what it waits for; step by step, what happened is in the run's trace. */
export function isWorthALine({ phase, stage, ok, payload }: Event): boolean {
  if (phase === 'INIT' || phase === 'END' || phase === 'RECOVER') return true
  // A call that failed is the model's to deal with.
  return (!ok && phase !== 'ACT') || stage === 'diagnostic' || payload.parked !== undefined
}

export function entryOf({ ts, phase, stage, run_id, session_id, step_id, ok, payload, error }: Event): Entry {
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

const SHORT = 120
/** What went wrong is worth more words. */
const TROUBLE = new Set(['message', 'error', 'reason', 'parked'])
const LONGER = 500

/** Contract: never throws, whatever is in it; one line of JSON. */
export function lineOf({ ts, level, event, ...details }: Entry, cut: (text: string, most: number) => string): string {
  const told = Object.entries(details).map(([name, value]) => {
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) return [name, value]
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [name, cut(text, TROUBLE.has(name) ? LONGER : SHORT)]
  })
  return `${JSON.stringify({ ts, level, event, ...Object.fromEntries(told) })}\n`
}
