/** The error with which an op refuses its batch. */

import { type Json, parseJson } from '../../domain/json.ts'
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

/** `stored`: the text of the setting. Contract: refuses if it is another value than `base`, however it is written. */
export function checkSettingBase(name: string, stored: unknown, base: Json): void {
  if (JSON.stringify(parseJson(String(stored ?? null))) !== JSON.stringify(base))
    throw new RefusedBatch('store_sequence', `the setting ${name} was changed meanwhile`)
}
