/** The faults of a plan, waiting for their moment: the nth time something is asked, or the nth event of the storm. */

import type { Branch, Counters } from './branch-counters.ts'
import type { Blow, Boundary, CallFault, Fault, GarbagePort, Plan } from './plan.ts'
import type { Life } from './process.ts'

const CRASHES: Partial<Record<Boundary, Branch>> = {
  commit: 'crash before a commit is applied',
  ack: 'crash after a commit, before it is acknowledged',
  paid: 'crash after the provider was paid',
  tool: 'crash before an effect',
  done: 'crash after an effect',
  file: 'crash before a file is replaced',
}

export class Faults {
  readonly #plan: Plan
  readonly #stood = new Map<Boundary, number>()
  readonly #asked = new Map<CallFault['kind'], number>()
  readonly #returned = new Map<GarbagePort, number>()
  /** A process that dies here dies here again. */
  #sticky: { readonly at: Boundary; left: number; since: Life; relapse: number } | undefined
  over = false

  constructor(plan: Plan) {
    this.#plan = plan
  }

  /** What becomes of a process that stands at this boundary, if anything. */
  strike(life: Life, at: Boundary, counters: Counters): Blow | undefined {
    if (this.over) return undefined
    const stood = (this.#stood.get(at) ?? 0) + 1
    this.#stood.set(at, stood)
    const blow =
      this.#again(life, at) ??
      this.#plan.faults.find((fault) => isBlow(fault) && fault.at === at && fault.nth === stood)
    if (!blow || !isBlow(blow)) return undefined
    if (blow.kind === 'crash') {
      if (blow.again > 0) this.#sticky = { at, left: blow.again, since: life, relapse: blow.relapse ?? 0 }
      const branch = CRASHES[at]
      if (branch) counters.add(branch)
    }
    return blow
  }

  #again(life: Life, at: Boundary): Blow | undefined {
    const sticky = this.#sticky
    if (!sticky || sticky.at !== at) return undefined
    const again: Blow = { id: 'again', kind: 'crash', at, nth: 0, again: 0 }
    if (sticky.left === 0) {
      sticky.relapse -= 1
      return sticky.relapse === 0 ? again : undefined
    }
    if (sticky.since === life) return undefined
    sticky.left -= 1
    sticky.since = life
    return again
  }

  /** The fault of this call, if it has one. */
  of<K extends CallFault['kind']>(kind: K): Extract<CallFault, { kind: K }> | undefined {
    if (this.over) return undefined
    const nth = (this.#asked.get(kind) ?? 0) + 1
    this.#asked.set(kind, nth)
    return this.#plan.faults.find(
      (fault): fault is Extract<CallFault, { kind: K }> =>
        fault.kind === kind && fault.nth <= nth && nth < fault.nth + ('times' in fault ? fault.times : 1),
    )
  }

  /** Whether that port returns garbage this time. */
  garbled(port: GarbagePort): boolean {
    if (this.over) return false
    const nth = (this.#returned.get(port) ?? 0) + 1
    this.#returned.set(port, nth)
    return this.#plan.faults.some(
      (fault) => fault.kind === 'garbage' && fault.port === port && fault.nth <= nth && nth < fault.nth + fault.times,
    )
  }

  /** Whether tools are taken away from that life, and how. */
  withdrawing(life: number): { readonly gone: boolean } | undefined {
    if (this.over) return undefined
    return this.#plan.faults.find(
      (fault): fault is Extract<Fault, { kind: 'withdraw' }> => fault.kind === 'withdraw' && fault.life <= life,
    )
  }
}

const isBlow = (fault: Fault): fault is Blow => fault.kind === 'crash' || fault.kind === 'pause'
