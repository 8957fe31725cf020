/** UUIDs (version 7) and random secrets: the only file that uses randomness. */

import { randomBytes, randomUUIDv7 } from 'node:crypto'
import type { Ids } from '../../ports/ids.ts'

export const randomIds: Ids = increasingIds(randomUUIDv7)

/** Contract: 256 random bits as 64 hex digits. */
export const newSecret = (): string => randomBytes(32).toString('hex')

/**
 * Makes ids strictly increasing. UUIDs of one millisecond, or after the wall clock went back, are not in order; such an
 * id is replaced by the previous one plus one.
 */
export function increasingIds(generate: () => string): Ids {
  let last = ''
  return {
    next() {
      const generated = generate()
      last = generated > last ? generated : increment(last, generated)
      return last
    },
  }
}

/** Adds one to the 48 bits of time and the 12 bits after the version (RFC 9562, 6.2); takes the rest of `generated`. */
function increment(last: string, generated: string): string {
  const count = BigInt(`0x${last.slice(0, 8)}${last.slice(9, 13)}${last.slice(15, 18)}`) + 1n
  const hex = count.toString(16).padStart(15, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(12)}${generated.slice(18)}`
}
