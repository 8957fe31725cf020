/** What goes on while a run is opened: what was found to be wrong, and what has to be taken down again, later ones first. */

import type { Issue } from '../domain/decision.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Leaving } from './leaving.ts'
import { issue } from './preflight.ts'
import { Unfit } from './unfit.ts'

export class Opening {
  readonly issues: Issue[] = []
  readonly #takeDown: (() => Promise<void>)[] = []
  readonly #leaving: Leaving
  #left = false

  constructor(leaving: Leaving) {
    this.#leaving = leaving
  }

  /** Nothing is wrong so far, and nothing was left behind. */
  get isWhole(): boolean {
    return this.issues.length === 0 && !this.#left
  }

  /** Contract: what it came to, or nothing and one issue more; what the store throws is not the run's to judge. */
  async attempt<T>(code: string, work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (thrown) {
      const { code: error, message } = asTirelessError(thrown)
      if (error.startsWith('store_')) throw thrown
      if (thrown instanceof Unfit) this.issues.splice(0, this.issues.length, ...thrown.issues)
      else this.issues.push(issue(code, `${error}: ${message}`))
      return undefined
    }
  }

  /** Contract: as `attempt`; but once the run is called off nobody waits for it, and what it comes to later is taken down at once. */
  setUp<T>(code: string, work: () => Promise<T>, takeDown: (made: T) => unknown): Promise<T | undefined> {
    const attempt = (): Promise<T | undefined> =>
      this.attempt(code, async () => {
        const made = await work()
        if (this.#left) await takeDown(made)
        else this.afterwards(() => takeDown(made))
        return made
      })
    return this.#leaving.or(attempt, () => {
      this.#left = true
      return undefined
    })
  }

  afterwards(work: () => unknown): void {
    this.#takeDown.push(async () => {
      await work()
    })
  }

  /** Contract: never rejects. */
  async close(): Promise<void> {
    for (const work of this.#takeDown.splice(0).reverse()) await work().catch(() => {})
  }
}
