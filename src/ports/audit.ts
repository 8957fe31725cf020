/**
 * How a record of the audit log is bound to the one before it, and what is kept outside of the database so that a database that was rewritten as
 * a whole is noticed: a key that its records are made with, and the last record that was written.
 */

import { createHmac, hash } from 'node:crypto'
import { chained } from '../domain/audit.ts'

export interface AuditKey {
  readonly key: string
  /** The number of the first record that is made with it; earlier ones have a plain hash. */
  readonly since: number
}

/** The last record that was written. */
export interface AuditHead {
  readonly n: number
  readonly hash: string
}

/** The files beside the database. Contract: both are read each time, and throw `config_invalid` where a file is there and cannot be read. */
export interface AuditSeal {
  key(): AuditKey | null
  head(): AuditHead | null
}

const KEYED = 'hmac-sha256:'

export const isKeyed = (hashed: string): boolean => hashed.startsWith(KEYED)

/** Contract: pure. The hash of a record: a plain one without a key. */
export function linkHash(before: string, body: string, key: string | undefined): string {
  const text = chained(before, body)
  return key === undefined ? hash('sha256', text) : `${KEYED}${createHmac('sha256', key).update(text).digest('hex')}`
}
