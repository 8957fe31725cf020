/** The scope in which a run is opened: collects issues and clean-up functions, which run in reverse order. */

import type { Issue } from '../../domain/decision.ts'
import { asTirelessError } from '../../domain/error.ts'
import type { GracePeriod } from '../grace-period.ts'
import { createIssue } from './preflight.ts'

export class SetupScope {
  readonly issues: Issue[] = []
  readonly #cleanups: (() => Promise<void>)[] = []
  readonly #grace: GracePeriod
  #isAbandoned = false

  constructor(grace: GracePeriod) {
    this.#grace = grace
  }

  /** Whether there is no issue so far and no setup work was abandoned. */
  get hasNoIssues(): boolean {
    return this.issues.length === 0 && !this.#isAbandoned
  }

  /**
   * Contract: returns the result of `work`. If `work` throws, adds an issue and returns undefined. Rethrows errors of
   * the store.
   */
  async attempt<T>(code: string, work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (thrown) {
      const { code: error, message } = asTirelessError(thrown)
      if (error.startsWith('store_')) throw thrown
      this.issues.push(createIssue(code, `${error}: ${message}`))
      return undefined
    }
  }

  /**
   * Contract: like `attempt`, but work that ignores an interruption is abandoned. If it still returns a value later,
   * that value is cleaned up at once.
   */
  setUp<T>(code: string, work: () => Promise<T>, cleanUp: (value: T) => unknown): Promise<T | undefined> {
    const attempt = (): Promise<T | undefined> =>
      this.attempt(code, async () => {
        const value = await work()
        if (this.#isAbandoned) await cleanUp(value)
        else this.addCleanup(() => cleanUp(value))
        return value
      })
    return this.#grace.race(attempt, () => {
      this.#isAbandoned = true
      return undefined
    })
  }

  addCleanup(work: () => unknown): void {
    this.#cleanups.push(async () => {
      await work()
    })
  }

  /** Contract: never rejects. */
  async close(): Promise<void> {
    for (const work of this.#cleanups.splice(0).reverse()) await work().catch(() => {})
  }
}
