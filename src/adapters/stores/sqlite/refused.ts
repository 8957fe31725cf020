/** What ops throw to refuse their batch, and how they reach prepared statements. */

import type { StatementSync } from 'node:sqlite'
import type { Refusal } from '../../../ports/store.ts'

/** Its batch is rolled back and told so. Anything else thrown is a failure of the store itself. */
export class Refused extends Error {
  readonly code: Refusal
  constructor(code: Refusal, message: string) {
    super(message)
    this.code = code
  }
}

/** Prepared statements, by their text. */
export type Sql = (text: string) => StatementSync
