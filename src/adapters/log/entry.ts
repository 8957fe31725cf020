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

/** That a step begins, and that another follows, is in the lines between. */
export function isRoutine({ phase, stage }: Event): boolean {
  return phase === 'OBSERVE' || (phase === 'CHECK_STOP' && stage === 'continue')
}

export function entryOf({ ts, phase, stage, run_id, session_id, step_id, ok, payload }: Event): Entry {
  return {
    ts: iso(ts),
    level: ok ? 'info' : phase === 'END' ? 'error' : 'warn',
    event: `${phase} ${stage}`,
    run_id,
    session_id,
    step: step_id,
    ...(payload as Record<string, Json>),
  }
}

const SHORT = 120
/** What went wrong is worth more words. */
const TROUBLE = new Set(['message', 'error', 'reason'])
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
