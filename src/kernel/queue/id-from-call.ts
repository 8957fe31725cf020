/** Ids that follow from the call that creates something, so that a repeated call finds what the first one created. */

import { hash } from 'node:crypto'

/** Contract: a UUID; the same for the same arguments. */
export function idFromCall(tool: string, call: string): string {
  const digits = hash('sha256', `${tool} ${call}`)
  return [8, 12, 16, 20, 32].map((end, at) => digits.slice([0, 8, 12, 16, 20][at], end)).join('-')
}
