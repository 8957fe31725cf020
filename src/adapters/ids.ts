/** UUID version 7, and secrets: the one owner of randomness. */

import { randomBytes, randomUUIDv7 } from 'node:crypto'
import type { Ids } from '../ports/ids.ts'

export const randomIds: Ids = sorted(randomUUIDv7)

/** Contract: 256 bits that nobody can guess, as 64 hex digits. */
export const newSecret = (): string => randomBytes(32).toString('hex')

/** Within one millisecond, or after the wall clock went back, version 7 alone sorts at random; then the last id is counted on. */
export function sorted(make: () => string): Ids {
  let last = ''
  return {
    next() {
      const made = make()
      last = made > last ? made : following(last, made)
      return last
    },
  }
}

/** One more in the 48 bits of time and the 12 after the version (RFC 9562, 6.2), with the randomness of the one just made. */
function following(last: string, made: string): string {
  const count = BigInt(`0x${last.slice(0, 8)}${last.slice(9, 13)}${last.slice(15, 18)}`) + 1n
  const hex = count.toString(16).padStart(15, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(12)}${made.slice(18)}`
}
