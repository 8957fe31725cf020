/** Decides when the faults of a plan happen: at the nth call of a kind, or at the nth visit of a boundary. */

import type { Branch, Counters } from './branch-counters.ts'
import type { Boundary, CallFault, Fault, GarbagePort, Plan, ProcessFault } from './plan.ts'
import type { SimProcess } from './process.ts'

const CRASHES: Partial<Record<Boundary, Branch>> = {
  commit: 'crash before a commit is applied',
  ack: 'crash after a commit, before it is acknowledged',
  paid: 'crash after the provider was paid',
  tool: 'crash before an effect',
  done: 'crash after an effect',
  file: 'crash before a file is replaced',
  restore: 'crash in an undo',
}

export class Faults {
  readonly #plan: Plan
  readonly #visits = new Map<Boundary, number>()
  readonly #calls = new Map<CallFault['kind'], number>()
  readonly #returns = new Map<GarbagePort, number>()
  /** A crash that repeats at the same boundary in the next processes. */
  #repeating: { readonly at: Boundary; left: number; since: SimProcess; finalRepeat: number } | undefined
  ended = false

  constructor(plan: Plan) {
    this.#plan = plan
  }

  /** Returns the fault that hits a process at this boundary, if any. */
  faultAtBoundary(proc: SimProcess, at: Boundary, counters: Counters): ProcessFault | undefined {
    if (this.ended) return undefined
    const visit = (this.#visits.get(at) ?? 0) + 1
    this.#visits.set(at, visit)
    const hit =
      this.#again(proc, at) ??
      this.#plan.faults.find((fault) => isProcessFault(fault) && fault.at === at && fault.nth === visit)
    if (!hit || !isProcessFault(hit)) return undefined
    if (hit.kind === 'crash') {
      if (hit.repeats > 0) this.#repeating = { at, left: hit.repeats, since: proc, finalRepeat: hit.finalRepeat ?? 0 }
      const branch = CRASHES[at]
      if (branch) counters.add(branch)
    }
    return hit
  }

  #again(proc: SimProcess, at: Boundary): ProcessFault | undefined {
    const repeating = this.#repeating
    if (!repeating || repeating.at !== at) return undefined
    const again: ProcessFault = { id: 'again', kind: 'crash', at, nth: 0, repeats: 0 }
    if (repeating.left === 0) {
      repeating.finalRepeat -= 1
      return repeating.finalRepeat === 0 ? again : undefined
    }
    if (repeating.since === proc) return undefined
    repeating.left -= 1
    repeating.since = proc
    return again
  }

  /** Returns the fault of this call, if the plan has one. */
  nextFor<K extends CallFault['kind']>(kind: K): Extract<CallFault, { kind: K }> | undefined {
    if (this.ended) return undefined
    const nth = (this.#calls.get(kind) ?? 0) + 1
    this.#calls.set(kind, nth)
    return this.#plan.faults.find(
      (fault): fault is Extract<CallFault, { kind: K }> =>
        fault.kind === kind && fault.nth <= nth && nth < fault.nth + ('times' in fault ? fault.times : 1),
    )
  }

  /** Tells whether this port returns garbage this time. */
  isGarbageDue(port: GarbagePort): boolean {
    if (this.ended) return false
    const nth = (this.#returns.get(port) ?? 0) + 1
    this.#returns.set(port, nth)
    return this.#plan.faults.some(
      (fault) => fault.kind === 'garbage' && fault.port === port && fault.nth <= nth && nth < fault.nth + fault.times,
    )
  }

  /** Tells whether tools are withdrawn from this process, and whether they are removed entirely. */
  withdrawing(proc: number): { readonly removed: boolean } | undefined {
    if (this.ended) return undefined
    return this.#plan.faults.find(
      (fault): fault is Extract<Fault, { kind: 'withdraw' }> => fault.kind === 'withdraw' && fault.fromProcess <= proc,
    )
  }
}

const isProcessFault = (fault: Fault): fault is ProcessFault => ['crash', 'pause', 'stop', 'cut'].includes(fault.kind)
