/** Audit: a hash chain of policy rulings with their reasons. Changing one entry breaks the hash of all later ones. */

import type { Json } from './json.ts'

/** One ruling: about what, and why. `what` is `call`, or an action of the owner. */
export interface AuditEntry {
  readonly ts: number
  readonly what: string
  readonly [detail: string]: Json
}

export interface AuditLink {
  readonly n: number
  readonly body: string
  readonly hash: string
}

/** The predecessor hash of the first entry. */
export const GENESIS_HASH = ''

/** The text whose hash identifies an entry. */
export const auditHashInput = (before: string, body: string): string => `${before}\n${body}`
