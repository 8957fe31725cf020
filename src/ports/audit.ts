/**
 * Audit chain: each record's hash covers the record before it. A key, and the number and hash of the last record, are
 * kept outside the database, so that a completely rewritten database is detected.
 *
 * The hash of a record is `hmac-sha256:KEY:SUM:MAC`. SUM is the SHA-256 of the hash before it and of its body, so every
 * home on a shared store can verify the whole chain. MAC is made of SUM with the key of the home that wrote the record;
 * KEY names that key. So a record that a home wrote also authenticates all records before it, whoever wrote them.
 */

import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import { type AuditLink, auditHashInput } from '../domain/audit.ts'

export interface AuditKey {
  readonly key: string
  /** Number of the first record hashed with this key; earlier records have a plain hash, or are of another home. */
  readonly since: number
  /** Records up to this number may have been written by other homes, because the store was shared until then. */
  readonly shared_until?: number
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

interface AuditSigner {
  /** Names the key, and tells nothing about it. */
  readonly id: string
  readonly secret: KeyObject
}

/** Prepared once per key, because that takes a quarter of the time of a hash. */
const signers = new Map<string, AuditSigner>()

function signerOf(key: string): AuditSigner {
  const known = signers.get(key)
  if (known) return known
  const signer = { id: hash('sha256', `audit key ${key}`).slice(0, 16), secret: createSecretKey(key, 'utf8') }
  signers.set(key, signer)
  return signer
}

/**
 * Contract: the hash of the record `body`, which covers `before`, the hash of the record before it; without a key,
 * plain SHA-256.
 */
export function linkHash(before: string, body: string, key: string | undefined): string {
  const sum = hash('sha256', auditHashInput(before, body))
  if (key === undefined) return sum
  const { id, secret } = signerOf(key)
  return `${KEYED}${id}:${sum}:${createHmac('sha256', secret).update(sum).digest('hex')}`
}

/**
 * What a record is, given the hash before it. `own`: intact, with this key or without any. `other`: its place in the
 * chain is right, and it was made with another key. `old`: made with a key, before hashes named their key; only that
 * key can tell more. `changed`: not what was written.
 */
export function verifyLink(
  { body, hash: found }: AuditLink,
  before: string,
  key: string | undefined,
): 'own' | 'other' | 'old' | 'changed' {
  const parts = found.startsWith(KEYED) ? found.slice(KEYED.length).split(':') : undefined
  if (parts === undefined) return found === linkHash(before, body, undefined) ? 'own' : 'changed'
  if (parts.length === 1) return key !== undefined && parts[0] === oldMac(before, body, key) ? 'own' : 'old'
  if (parts[1] !== linkHash(before, body, undefined)) return 'changed'
  if (key === undefined || parts[0] !== signerOf(key).id) return 'other'
  return found === linkHash(before, body, key) ? 'own' : 'changed'
}

const oldMac = (before: string, body: string, key: string): string =>
  createHmac('sha256', signerOf(key).secret).update(auditHashInput(before, body)).digest('hex')

export const isKeyed = (hashed: string): boolean => hashed.startsWith(KEYED)
