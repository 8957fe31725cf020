/**
 * The key and the head of the audit log, in two files beside the database that nobody but the owner can read: whoever can only write the database
 * cannot make a record, and cannot take the last ones away unnoticed.
 *
 * The head is written after its record is on disk and is never synced, so it may be behind the database after a crash, never ahead. It moves
 * only to a record that follows the one it names: after records were taken away it stays, and `audit verify` goes on naming them.
 */

import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { TirelessError } from '../../../domain/error.ts'
import type { AuditHead, AuditKey, AuditSeal } from '../../../ports/audit.ts'
import type { Outcome, Results, Store } from '../../../ports/store.ts'
import type { WrittenBatch } from './encode.ts'

export interface AuditSealOptions {
  readonly keyFile: string
  readonly headFile: string
  /** Contract: a secret that cannot be guessed. */
  newKey(): string
}

/** Long enough for every head: it is overwritten in place, so that a kill leaves the old one or the new one. */
const HEAD_CHARS = 128

/** Contract: as the files are now. */
export const auditSealIn = ({ keyFile, headFile }: Pick<AuditSealOptions, 'keyFile' | 'headFile'>): AuditSeal => ({
  key: () => parsed(keyFile, keyIn),
  head: () => parsed(headFile, headIn),
})

export class AuditSealWriter {
  readonly key: string
  readonly #headFile: string
  #head: AuditHead | null
  #handle: number | undefined

  private constructor(key: string, headFile: string, head: AuditHead | null) {
    this.key = key
    this.#headFile = headFile
    this.#head = head
  }

  /** Contract: makes the files where there are none, and has them on disk when it resolves. */
  static async open(options: AuditSealOptions, reader: Pick<Store, 'audit'>): Promise<AuditSealWriter> {
    const { keyFile, headFile, newKey } = options
    const seal = auditSealIn(options)
    const last = await lastOf(reader)
    const { key } = seal.key() ?? created(keyFile, { key: newKey(), since: last.n + 1 })
    const head = headOrNull(seal)
    if (head === undefined) writeNew(headFile, lineOf(last))
    const isBehind = head && head.n < last.n && (await hashAt(reader, head.n)) === head.hash
    const sealing = new AuditSealWriter(key, headFile, head === undefined || isBehind ? last : head)
    if (isBehind) sealing.#write()
    return sealing
  }

  /** Contract: never throws. Called before the commit is acknowledged. */
  note(batches: readonly WrittenBatch[], outcomes: readonly Outcome[]): void {
    const before = this.#head
    for (const [i, { ops }] of batches.entries()) {
      const outcome = outcomes[i]
      if (!outcome?.ok) continue
      for (const [j, { op }] of ops.entries()) if (op === 'audit') this.#follow(outcome.results[j] as Results['audit'])
    }
    if (this.#head !== before) this.#write()
  }

  #follow({ n, before, hash }: Results['audit']): void {
    if (this.#head && n === this.#head.n + 1 && before === this.#head.hash) this.#head = { n, hash }
  }

  #write(): void {
    if (!this.#head) return
    try {
      // One that was removed is not made again: that is for the owner to see, and for the next start.
      this.#handle ??= openSync(this.#headFile, constants.O_WRONLY)
      writeSync(this.#handle, lineOf(this.#head), 0, 'latin1')
    } catch {
      this.#head = null
    }
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
  }
}

/** Undefined: there is none. Null: it cannot be read, so it stays as it is, and `audit verify` says so. */
function headOrNull(seal: AuditSeal): AuditHead | null | undefined {
  try {
    return seal.head() ?? undefined
  } catch {
    return null
  }
}

async function lastOf(reader: Pick<Store, 'audit'>): Promise<AuditHead> {
  const { last } = await reader.audit(Number.MAX_SAFE_INTEGER, { limit: 1 })
  return { n: last, hash: (await hashAt(reader, last)) ?? '' }
}

async function hashAt(reader: Pick<Store, 'audit'>, n: number): Promise<string | undefined> {
  if (n === 0) return ''
  const [link] = (await reader.audit(n, { limit: 1 })).links
  return link?.n === n ? link.hash : undefined
}

const lineOf = ({ n, hash }: AuditHead): string => `${JSON.stringify({ n, hash }).padEnd(HEAD_CHARS - 1)}\n`

function created(file: string, key: AuditKey): AuditKey {
  writeNew(file, `${JSON.stringify(key)}\n`)
  return key
}

/** Whole or not at all, whenever the process is killed; with its mode from the first byte on. */
function writeNew(file: string, text: string): void {
  const draft = `${file}.draft`
  rmSync(draft, { force: true })
  const handle = openSync(draft, 'wx', 0o600)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, file)
}

const keyIn = (value: Partial<AuditKey> | null): AuditKey | undefined =>
  typeof value?.key === 'string' && value.key.length >= 32 && Number.isSafeInteger(value.since)
    ? { key: value.key, since: Number(value.since) }
    : undefined

const headIn = (value: Partial<AuditHead> | null): AuditHead | undefined =>
  Number.isSafeInteger(value?.n) && typeof value?.hash === 'string'
    ? { n: Number(value.n), hash: value.hash }
    : undefined

function parsed<T>(file: string, shape: (value: Partial<T> | null) => T | undefined): T | null {
  try {
    const read = shape(JSON.parse(readFileSync(file, 'utf8')) as Partial<T> | null)
    if (read !== undefined) return read
    throw new TypeError('another shape')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new TirelessError(
      'config_invalid',
      {
        ...{ what: 'a file of the audit log cannot be read', where: file, got: String(cause) },
        fix: 'put it back as it was; or remove it: a new one is made at the next start, and what was written before cannot be checked with it',
      },
      { cause },
    )
  }
}
