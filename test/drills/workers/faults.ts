/** The random faults of the drill: what happens to which process, when, and for how long. */

import { setTimeout } from 'node:timers/promises'
import { chance, integerBelow, oneOf } from '../../sim/random.ts'
import type { PostgresServer } from '../../support/postgres.ts'
import type { SharedProcess } from './shared-process.ts'
import type { Takeovers } from './takeovers.ts'

export const FAULT_KINDS = ['kill -9', 'stop', 'cut', 'half-open', 'restart fast', 'restart immediate'] as const
type FaultKind = (typeof FAULT_KINDS)[number]

/** Weights: the database is restarted less often than processes are disturbed. */
const DRAWN: readonly [FaultKind, ...FaultKind[]] = [
  ...(['kill -9', 'kill -9', 'kill -9', 'stop', 'stop', 'stop', 'cut', 'cut', 'half-open', 'half-open'] as const),
  ...(['restart fast', 'restart immediate'] as const),
]
/** Processes that are killed, stopped or cut off at once. The others, at least two of four, take over their work. */
const MOST_DISTURBED = 2

interface FaultDeps {
  readonly seed: number
  readonly leaseMs: number
  readonly processes: readonly SharedProcess[]
  readonly server: PostgresServer
  readonly takeovers: Takeovers
}

export class RandomFaults {
  readonly counts = new Map<FaultKind, number>()
  readonly #deps: FaultDeps
  #drawn = 0
  #restarting: Promise<void> | undefined
  readonly #healing = new Set<Promise<void>>()

  constructor(deps: FaultDeps) {
    this.#deps = deps
  }

  /** Contract: resolves after `ms`, when every fault has ended. */
  async run(ms: number): Promise<void> {
    const { leaseMs } = this.#deps
    for (const until = performance.now() + ms; performance.now() < until; ) {
      await setTimeout(0.1 * leaseMs + this.#draw() * 0.8 * leaseMs)
      this.#cause(oneOf(this.#deps.seed, DRAWN, 'kind', this.#drawn))
    }
    await Promise.all([...this.#healing, this.#restarting])
  }

  #cause(kind: FaultKind): void {
    if (kind === 'restart fast' || kind === 'restart immediate') {
      if (this.#restarting) return
      this.#count(kind)
      this.#restarting = this.#deps.server.restart(kind === 'restart fast' ? 'fast' : 'immediate').finally(() => {
        this.#restarting = undefined
      })
      return
    }
    const { processes, takeovers, seed } = this.#deps
    const free = processes.filter(({ isUndisturbed }) => isUndisturbed)
    const process = free[integerBelow(seed, free.length, 'process', this.#drawn)]
    if (!process || processes.length - free.length >= MOST_DISTURBED) return
    this.#count(kind)
    takeovers.expect(process, kind)
    const healing = this.#disturb(process, kind).finally(() => this.#healing.delete(healing))
    this.#healing.add(healing)
  }

  async #disturb(process: SharedProcess, kind: FaultKind): Promise<void> {
    const { leaseMs } = this.#deps
    // Sometimes shorter than the lease: then nothing must be taken over.
    const ms = leaseMs * (0.2 + this.#draw() * 2.3)
    const isLate = this.#draw() < 0.5
    process.lostSince = Date.now()
    if (kind === 'kill -9') process.kill()
    if (kind === 'stop') process.pause()
    if (kind === 'cut') process.way.cut()
    if (kind === 'half-open') process.way.silence()
    await setTimeout(ms)
    process.lostSince = undefined
    if (kind === 'kill -9') process.start()
    if (kind === 'stop') process.resume()
    if (kind === 'cut') process.way.restore(false)
    if (kind === 'half-open') process.way.restore(isLate)
  }

  #count(kind: FaultKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
  }

  #draw(): number {
    return chance(this.#deps.seed, 'fault', ++this.#drawn)
  }
}
