/**
 * The key and the head of the audit log, in two files next to the database that only the owner can read. A writer with
 * access to the database alone can neither add a valid record nor remove the last ones unnoticed.
 *
 * The head names the last record. It is written after that record is on disk, without fsync, so after a crash it may be
 * behind the database, never ahead. It advances only to the record that follows it, or over records of other homes on
 * the same store, as long as its own record is still there. If records were removed, it stays, and `audit verify`
 * reports them.
 */

import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { TirelessError } from '../../domain/error.ts'
import { replaceFile, writeAll } from '../../files/whole-files.ts'
import type { AuditHead, AuditKey, AuditSeal } from '../../ports/audit.ts'
import type { BatchOutcome, OpResults, Store } from '../../ports/store.ts'
import type { EncodedBatch } from './encode-batch.ts'

export interface AuditSealOptions {
  readonly keyFile: string
  readonly headFile: string
  /** Contract: a new random secret. */
  newKey(): string
}

/** Fixed length of the head file: it is overwritten in place, so that a kill leaves the old or the new head. */
const HEAD_CHARS = 256

/** Contract: each call of `key` or `head` reads the file again. */
export const openAuditSeal = ({ keyFile, headFile }: Pick<AuditSealOptions, 'keyFile' | 'headFile'>): AuditSeal => ({
  key: () => readJsonFile(keyFile, validateKey),
  head: () => readJsonFile(headFile, validateHead),
})

export class AuditSealWriter {
  readonly key: string
  readonly #headFile: string
  readonly #reader: Pick<Store, 'audit'>
  #head: AuditHead | null
  #handle: number | undefined

  private constructor(
    key: string,
    { headFile }: AuditSealOptions,
    head: AuditHead | null,
    reader: Pick<Store, 'audit'>,
  ) {
    this.key = key
    this.#headFile = headFile
    this.#head = head
    this.#reader = reader
  }

  /** Contract: creates missing files; they are on disk when this resolves. */
  static async open(options: AuditSealOptions, reader: Pick<Store, 'audit'>): Promise<AuditSealWriter> {
    const { keyFile, headFile, newKey } = options
    const seal = openAuditSeal(options)
    const last = await readLastHead(reader)
    const { key } = seal.key() ?? createKeyFile(keyFile, { key: newKey(), since: last.n + 1 })
    const head = readHead(seal)
    if (head === undefined) replaceFile(headFile, formatHead(last), { mode: 0o600 })
    const isBehind = head && head.n < last.n && (await readHash(reader, head.n)) === head.hash
    const writer = new AuditSealWriter(key, options, head === undefined || isBehind ? last : head, reader)
    if (isBehind) writer.#write()
    return writer
  }

  /**
   * Advances the head over the audit records of a commit. Called before the commit is acknowledged.
   * Contract: never throws.
   */
  recordCommit(batches: readonly EncodedBatch[], outcomes: readonly BatchOutcome[]): void {
    const before = this.#head
    batches.forEach(({ ops }, i) => {
      const outcome = outcomes[i]
      if (!outcome?.ok) return
      ops.forEach(({ op }, j) => {
        if (op === 'audit') this.#follow(outcome.results[j] as OpResults['audit'])
      })
    })
    if (this.#head !== before) this.#write()
  }

  #follow({ n, before, hash }: OpResults['audit']): void {
    if (!this.#head) return
    if (n === this.#head.n + 1 && before === this.#head.hash) this.#head = { n, hash }
    else if (n > this.#head.n + 1) void this.#skipTo({ n, hash })
  }

  /** Other homes wrote the records in between. */
  async #skipTo(link: AuditHead): Promise<void> {
    const head = this.#head
    const found = head && (await readHash(this.#reader, head.n).catch(() => undefined))
    if (!head || found !== head.hash || this.#head !== head) return
    this.#head = link
    this.#write()
  }

  #write(): void {
    if (!this.#head) return
    try {
      // If the head file was removed, it is not created again here, so that the owner notices; the next start creates
      // it.
      this.#handle ??= openSync(this.#headFile, constants.O_WRONLY)
      writeAll(this.#handle, formatHead(this.#head), 0)
    } catch {
      this.#head = null
    }
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle)
    this.#handle = undefined
    this.#head = null
  }
}

/**
 * Contract: undefined if the file is missing; null if it is unreadable. An unreadable file stays unchanged, and `audit
 * verify` reports it.
 */
function readHead(seal: AuditSeal): AuditHead | null | undefined {
  try {
    return seal.head() ?? undefined
  } catch {
    return null
  }
}

async function readLastHead(reader: Pick<Store, 'audit'>): Promise<AuditHead> {
  const { last } = await reader.audit(Number.MAX_SAFE_INTEGER, { limit: 1 })
  return { n: last, hash: (await readHash(reader, last)) ?? '' }
}

async function readHash(reader: Pick<Store, 'audit'>, n: number): Promise<string | undefined> {
  if (n === 0) return ''
  const [link] = (await reader.audit(n, { limit: 1 })).links
  return link?.n === n ? link.hash : undefined
}

const formatHead = ({ n, hash }: AuditHead): string => `${JSON.stringify({ n, hash }).padEnd(HEAD_CHARS - 1)}\n`

function createKeyFile(file: string, key: AuditKey): AuditKey {
  replaceFile(file, `${JSON.stringify(key)}\n`, { mode: 0o600 })
  return key
}

/** Notes that records up to this number may be of other homes. Contract: the file is on disk when it returns. */
export function noteSharedRecords(keyFile: string, until: number): void {
  const key = readJsonFile(keyFile, validateKey)
  if (key && until > (key.shared_until ?? 0)) createKeyFile(keyFile, { ...key, shared_until: until })
}

const validateKey = (value: Partial<AuditKey> | null): AuditKey | undefined =>
  typeof value?.key === 'string' && value.key.length >= 32 && Number.isSafeInteger(value.since)
    ? { key: value.key, since: Number(value.since), shared_until: Number(value.shared_until) || 0 }
    : undefined

const validateHead = (value: Partial<AuditHead> | null): AuditHead | undefined =>
  Number.isSafeInteger(value?.n) && typeof value?.hash === 'string'
    ? { n: Number(value.n), hash: value.hash }
    : undefined

function readJsonFile<T>(file: string, validate: (value: Partial<T> | null) => T | undefined): T | null {
  try {
    const valid = validate(JSON.parse(readFileSync(file, 'utf8')) as Partial<T> | null)
    if (valid !== undefined) return valid
    throw new TypeError('unexpected content')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new TirelessError(
      'config_invalid',
      {
        ...{ what: 'a file of the audit log cannot be read', where: file, got: String(cause) },
        fix:
          'restore the file, or delete it: the next start creates a new one, ' + 'which cannot verify earlier records',
      },
      { cause },
    )
  }
}
