/** The error with which an op refuses its batch. */

import type { RefusalCode } from '../../ports/store.ts'

/**
 * Thrown while applying an op: the batch is rolled back and this error is its outcome. Any other error is a failure of
 * the store.
 */
export class RefusedBatch extends Error {
  readonly code: RefusalCode
  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
  }
}

export const changedSetting = (name: string): RefusedBatch =>
  new RefusedBatch('store_sequence', `the setting ${name} was changed meanwhile`)
