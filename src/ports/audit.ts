/**
 * Audit chain: each record's hash covers the record before it. A key, and the number and hash of the last record, are
 * kept outside the database, so that a completely rewritten database is detected.
 */

import { createHmac, hash, type KeyObject } from 'node:crypto'
import { auditHashInput } from '../domain/audit.ts'

export interface AuditKey {
  readonly key: string
  /** Number of the first record hashed with this key; earlier records have a plain hash. */
  readonly since: number
}

/** Number and hash of the last record. */
export interface AuditHead {
  readonly n: number
  readonly hash: string
}

/**
 * The files beside the database that hold the key and the last number and hash. Contract: each call reads the file
 * again, and throws `config_invalid` if it is unreadable.
 */
export interface AuditSeal {
  key(): AuditKey | null
  head(): AuditHead | null
}

const KEYED = 'hmac-sha256:'

export const isKeyed = (hashed: string): boolean => hashed.startsWith(KEYED)

/**
 * Contract: pure. Returns the hash of the record `body`, which covers `before`, the hash of the record before it: an
 * HMAC if there is a key, otherwise plain SHA-256.
 */
export function linkHash(before: string, body: string, key: string | KeyObject | undefined): string {
  const text = auditHashInput(before, body)
  return key === undefined ? hash('sha256', text) : `${KEYED}${createHmac('sha256', key).update(text).digest('hex')}`
}
