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
  /** Contract: the call fails. */
  refuse(error: unknown): void
}

export interface AbortHandling<T> {
  readonly signal: AbortSignal
  /** Gives the result of a call that is aborted. */
  readonly onAbort: () => T
}

export interface OutsideCall<T> {
  readonly kind: Boundary
  readonly label: string
  readonly work: () => T
  readonly abortHandling?: AbortHandling<T> | undefined
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

/** Answers to commits, and all calls to the store. */
const ANSWERS: ReadonlySet<Boundary> = new Set(['ack', 'begun', 'listed', 'resolved', 'posted'])
const STORE_BOUNDARIES: ReadonlySet<Boundary> = new Set(['read', 'commit', ...ANSWERS])

export class PendingCalls {
  #calls: PendingCall[] = []

  /** Contract: resolves to the result of the call when it is delivered. A dead process gets no answer. */
  enter<T>(
    proc: SimProcess,
    { kind, label, work, abortHandling }: OutsideCall<T>,
    when: Pick<PendingCall, 'since' | 'due'>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (proc.state === 'dead' || proc.state === 'exited') return
      let answer = work
      const entry: PendingCall = {
        ...{ proc, kind, label, ...when, refuse: reject },
        deliver() {
          try {
            resolve(answer())
          } catch (thrown) {
            reject(thrown)
          }
        },
      }
      const interrupt = (): void => {
        if (abortHandling) answer = abortHandling.onAbort
        entry.due = undefined
      }
      if (abortHandling?.signal.aborted) interrupt()
      else abortHandling?.signal.addEventListener('abort', interrupt, { once: true })
      this.add(entry)
    })
  }

  /** A sleeper resolves at once on abort, as the contract of the clock says. */
  sleep(
    proc: SimProcess,
    { ms, since, signal }: { readonly ms: number; readonly since: number; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    if (!(ms > 0) || signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      if (proc.state === 'dead' || proc.state === 'exited') return
      const entry: PendingCall = {
        ...{ proc, kind: 'sleep', label: '', since, deliver: resolve, refuse: resolve },
        // The clocks of the world count whole milliseconds.
        due: since + Math.ceil(ms),
      }
      const wake = (): void => {
        this.remove(entry)
        resolve()
      }
      signal?.addEventListener('abort', wake, { once: true })
      this.add(entry)
    })
  }

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
    return this.#calls.filter((call) => call.proc.state === 'up' && (this.#dueOf(call, monotonic) ?? 0) <= monotonic)
  }

  /** Whether the store cannot be reached by this call, or for its answer. */
  isCutOff(call: PendingCall, monotonic: number): boolean {
    const { proc, kind, label } = call
    if (!proc.cut || proc.cut.until <= monotonic || !STORE_BOUNDARIES.has(kind) || label.startsWith('file '))
      return false
    if (proc.cut.loses === 'requests' || kind !== 'commit') return true
    // One commit at a time: the next one is sent after the answer to the one before.
    return this.#calls.some((other) => other.proc === proc && other !== call && ANSWERS.has(other.kind))
  }

  /** A call that is cut off waits until the store can be reached again, or the process has lost its patience. */
  #dueOf(call: PendingCall, monotonic: number): number | undefined {
    if (!this.isCutOff(call, monotonic)) return call.due
    return Math.min(call.proc.cut?.until ?? 0, call.since + call.proc.patience)
  }

  /** Returns the call of a running process that can be answered next, if time passes. */
  nextDue(monotonic: number): { readonly call: PendingCall; readonly due: number } | undefined {
    let next: PendingCall | undefined
    let soonest = Number.POSITIVE_INFINITY
    for (const call of this.#calls) {
      const due = call.proc.state === 'up' ? this.#dueOf(call, monotonic) : undefined
      if (due === undefined || due <= monotonic || due >= soonest) continue
      soonest = due
      next = call
    }
    return next && { call: next, due: soonest }
  }
}
