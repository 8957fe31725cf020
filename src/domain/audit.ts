/** Audit: every ruling with its reason, each bound to all before it. Whoever changes one has to change all that follow. */

import type { Json } from './json.ts'

/** What was ruled, about what, and why. `what`: `call`, or an act of the owner. */
export interface AuditEntry {
  readonly ts: number
  readonly what: string
  readonly [detail: string]: Json
}

export interface Link {
  readonly n: number
  readonly body: string
  readonly hash: string
}

/** What the first one is bound to. */
export const GENESIS = ''

/** What the hash of one is made of. */
export const chained = (before: string, body: string): string => `${before}\n${body}`
