/** What goes on while a run is opened: what was found to be wrong, and what has to be taken down again, later ones first. */

import type { Issue } from '../domain/decision.ts'
import { asTirelessError } from '../domain/error.ts'
import { issue } from './preflight.ts'
import { Unfit } from './unfit.ts'

export class Opening {
  readonly issues: Issue[] = []
  readonly #takeDown: (() => Promise<void>)[] = []

  /** Contract: what it came to, or nothing and one issue more; what the store throws is not the run's to judge. */
  async attempt<T>(code: string, work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (thrown) {
      const { code: error, message } = asTirelessError(thrown)
      if (error.startsWith('store_')) throw thrown
      this.issues.push(...(thrown instanceof Unfit ? thrown.issues : [issue(code, `${error}: ${message}`)]))
      return undefined
    }
  }

  afterwards(work: () => void | Promise<void>): void {
    this.#takeDown.push(async () => work())
  }

  /** Contract: never rejects. */
  async close(): Promise<void> {
    for (const work of this.#takeDown.splice(0).reverse()) await work().catch(() => {})
  }
}
