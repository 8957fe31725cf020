/** The calls that processes wait for, in the order in which they started. */

import { GRACE_MS } from '../../src/engine/grace-period.ts'
import type { Boundary } from './plan.ts'
import type { SimProcess } from './process.ts'

export interface PendingCall {
  readonly proc: SimProcess
  readonly kind: Boundary
  readonly label: string
  /** When the call started, monotonic. */
  readonly since: number
  /** Not delivered before this monotonic time. */
  due: number | undefined
  deliver(): void
}

/** Boundaries outside the program: a call there may hang after it was told to stop. */
const EXTERNAL_BOUNDARIES: ReadonlySet<Boundary> = new Set([
  'open',
  'model',
  'paid',
  'before',
  'tool',
  'done',
  'probe',
  'remains',
])

/**
 * An aborted call gets a grace period; then the program goes on without it (engine/grace-period.ts). This is allowed
 * only for calls outside the program that started before the abort: nothing starts after it, and no read or write is
 * abandoned.
 */
export const wasAbandoned = ({ proc, kind, since }: PendingCall, monotonic: number): boolean =>
  EXTERNAL_BOUNDARIES.has(kind) && since <= proc.abortedAt && proc.abortedAt + GRACE_MS <= monotonic

export class PendingCalls {
  #calls: PendingCall[] = []

  add(call: PendingCall): void {
    this.#calls.push(call)
  }

  remove(call: PendingCall): void {
    this.#calls = this.#calls.filter((other) => other !== call)
  }

  drop(proc: SimProcess): void {
    this.#calls = this.#calls.filter((call) => call.proc !== proc)
  }

  of(proc: SimProcess): readonly PendingCall[] {
    return this.#calls.filter((call) => call.proc === proc)
  }

  /** Returns the processes that wait for something. */
  processes(): ReadonlySet<SimProcess> {
    return new Set(this.#calls.map(({ proc }) => proc))
  }

  /** Returns the calls of running processes that can be answered at this time. */
  ready(monotonic: number): readonly PendingCall[] {
    return this.#calls.filter(({ proc, due }) => proc.state === 'up' && (due === undefined || due <= monotonic))
  }

  /** Returns the call of a running process that can be answered next, if time passes. */
  nextDue(monotonic: number): PendingCall | undefined {
    let next: PendingCall | undefined
    for (const call of this.#calls)
      if (
        call.proc.state === 'up' &&
        call.due !== undefined &&
        call.due > monotonic &&
        (!next || call.due < (next.due ?? 0))
      )
        next = call
    return next
  }
}
