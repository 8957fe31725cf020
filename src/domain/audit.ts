/** Audit: a hash chain of policy decisions with their reasons. Changing one entry breaks the hash of all later ones. */

import type { Json } from './json.ts'

/** One policy decision and its reasons, or an action of the owner. `what` is `call`, or the name of that action. */
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

/** The hash that the first entry uses as the hash of its predecessor. */
export const GENESIS_HASH = ''

/** The text whose hash identifies an entry: the hash of the entry before it, and its own content. */
export const auditHashInput = (before: string, body: string): string => `${before}\n${body}`
