/** Machines on one store: each has a home with its own files and its own clock, and runs one process at a time. */

import { believed, type Clock } from '../../src/ports/clock.ts'
import type { SimProcess } from './process.ts'
import { integerBelow } from './random.ts'
import type { HomePlan } from './several-plan.ts'
import type { World } from './world.ts'

export class SimHome {
  readonly n: number
  readonly role: HomePlan['role']
  readonly files: Map<string, string>
  /** The process that was started here last. */
  process: SimProcess | undefined
  /** When its process is started again, monotonic. */
  restartAt = 0
  readonly #world: World
  readonly #rate: number
  #offset: number
  #isRight = false

  /** `files`: of the home's folder. */
  constructor(world: World, n: number, { role, offset, rate }: HomePlan, files: Map<string, string>) {
    this.#world = world
    this.n = n
    this.role = role
    this.files = files
    this.#offset = offset
    this.#rate = rate
  }

  jump(by: number): void {
    this.#offset += by
  }

  /** From now on, the wall clock follows the store's. */
  setClockRight(): void {
    this.#isRight = true
  }

  clockOf(proc: SimProcess): Clock {
    const world = this.#world
    return believed({
      now: () => (this.#isRight ? world.wall : Math.round(world.wall + this.#offset + this.#drift())),
      monotonic: () => world.monotonic * this.#rate,
      sleep: (ms, signal) => world.sleep(proc, ms / this.#rate, signal),
    })
  }

  #drift(): number {
    return this.#world.monotonic * (this.#rate - 1)
  }

  /** The process that accepts commands here. */
  holder(): SimProcess | undefined {
    return this.process?.state === 'up' && !this.process.isExiting ? this.process : undefined
  }

  /** A process that does not answer holds the lock on the home. */
  isLocked(): boolean {
    return this.process?.state === 'up' || this.process?.state === 'paused'
  }
}

/** A world of one process at a time has no homes. */
export function homesOf(world: World): readonly SimHome[] {
  const plans = world.plan.several?.homes ?? []
  return plans.map((plan, n) => new SimHome(world, n, plan, n === 0 ? world.files : new Map()))
}

/** The home in which a person gives a command; undefined in a world of one process at a time. */
export function homeFor(world: World, ...keys: readonly (string | number)[]): SimHome | undefined {
  return world.homes[integerBelow(world.plan.seed, world.homes.length, 'home', ...keys)]
}
