/**
 * One connection to PostgreSQL. It keeps no state between transactions, so that it works through a transaction pooler
 * such as pgbouncer; its prepared statements need pgbouncer 1.21, or `?prepare=false` in the URL.
 */

import pg from 'pg'
import { TirelessError } from '../../../domain/error.ts'
import type { SqlRow } from '../rows/rows.ts'

type Scalar = string | number | null
export type PgValue = Scalar | readonly Scalar[]

/** Runs statements, each prepared under a name of its own. */
export interface Queries {
  all(text: string, ...values: readonly PgValue[]): Promise<SqlRow[]>
  /** Contract: the first row. */
  get(text: string, ...values: readonly PgValue[]): Promise<SqlRow | undefined>
  /** Contract: the number of rows that changed. */
  run(text: string, ...values: readonly PgValue[]): Promise<number>
}

/** The connection is gone. What a COMMIT that was sent on it did is not known. */
export class ConnectionLost extends Error {}

export interface PgSettings {
  readonly url: string
  /** Whether statements are prepared under names; set to false when a pooler turns out not to support it. */
  prepare: boolean
}

/** A statement or an attempt to connect that takes longer counts as a lost connection. */
const STATEMENT_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 10_000

/** Contract: throws `config_invalid` for a URL that cannot be read; the message does not contain its password. */
export function parseStoreUrl(text: string): PgSettings {
  try {
    const url = new URL(text)
    const prepare = url.searchParams.get('prepare') !== 'false'
    url.searchParams.delete('prepare')
    return { url: url.href, prepare }
  } catch (cause) {
    throw new TirelessError(
      'config_invalid',
      {
        ...{ what: 'the address of the database cannot be read', where: 'store' },
        expected: 'postgres://user:password@host:5432/database',
        fix: 'correct it; encode special characters of the password, such as @ as %40',
      },
      { cause },
    )
  }
}

/** Names of prepared statements: the same text has the same name on each connection. */
const statementNames = new Map<string, string>()

function nameOf(text: string): string {
  const known = statementNames.get(text)
  if (known !== undefined) return known
  const name = `t${statementNames.size + 1}`
  statementNames.set(text, name)
  return name
}

export class PgConnection implements Queries {
  readonly #client: pg.Client
  readonly #settings: PgSettings
  #isOpen = true

  private constructor(client: pg.Client, settings: PgSettings) {
    this.#client = client
    this.#settings = settings
  }

  /** Contract: throws ConnectionLost, or the database's refusal. `onNotice`: called for each notification. */
  static async open(
    settings: PgSettings,
    onNotice?: (payload: string, channel: string) => void,
  ): Promise<PgConnection> {
    const client = new pg.Client({
      ...{ connectionString: settings.url, keepAlive: true, pipeline: true, application_name: 'tireless' },
      ...{ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: STATEMENT_TIMEOUT_MS },
      types: { getTypeParser: parserOf },
    } as pg.ClientConfig)
    const connection = new PgConnection(client, settings)
    const markClosed = (): void => {
      connection.#isOpen = false
    }
    client.on('error', markClosed)
    client.on('end', markClosed)
    if (onNotice) client.on('notification', ({ payload, channel }) => onNotice(payload ?? '', channel))
    try {
      await client.connect()
      return connection
    } catch (thrown) {
      void client.end().catch(() => undefined)
      throw asConnectionError(thrown)
    }
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Contract: resolves when the connection is gone. */
  whenClosed(): Promise<void> {
    return this.#isOpen ? new Promise((resolve) => this.#client.once('end', () => resolve())) : Promise.resolve()
  }

  async all(text: string, ...values: readonly PgValue[]): Promise<SqlRow[]> {
    return (await this.#query(text, values)).rows
  }

  async get(text: string, ...values: readonly PgValue[]): Promise<SqlRow | undefined> {
    return (await this.#query(text, values)).rows[0]
  }

  async run(text: string, ...values: readonly PgValue[]): Promise<number> {
    return (await this.#query(text, values)).rowCount ?? 0
  }

  /** Runs statements without values in one message. Contract: the rows of the first. */
  async exec(text: string): Promise<SqlRow[]> {
    try {
      const results = (await this.#client.query(text)) as pg.QueryResult<SqlRow> | pg.QueryResult<SqlRow>[]
      return (Array.isArray(results) ? results[0]?.rows : results.rows) ?? []
    } catch (thrown) {
      throw this.#explain(thrown)
    }
  }

  async #query(text: string, values: readonly PgValue[]): Promise<pg.QueryResult<SqlRow>> {
    try {
      const encoded = values.map(encodeValue)
      return await this.#client.query<SqlRow>(
        this.#settings.prepare ? { name: nameOf(text), text, values: encoded } : { text, values: encoded },
      )
    } catch (thrown) {
      throw this.#explain(thrown)
    }
  }

  /** Also ends a connection that is still open but must not be used any more. */
  #explain(thrown: unknown): unknown {
    if (WITHOUT_NAMES.test(sqlState(thrown) ?? '')) this.#settings.prepare = false
    const error = asConnectionError(thrown)
    if (error instanceof ConnectionLost && this.#isOpen) void this.close()
    return error
  }

  /** Contract: never throws. */
  async close(): Promise<void> {
    this.#isOpen = false
    await this.#client.end().catch(() => undefined)
  }
}

/** Errors of the database with these codes or classes mean that it goes away, starts, or is a standby. */
const AWAY = /^(08|57P0|25006|25P03|53300)/
/** Two transactions waited for each other, or one waited too long: the same one succeeds when it is repeated. */
const CONFLICTING = /^(40001|40P01|55P03)$/
/** Only the statement is refused: a bad value, a broken constraint, a limit, an error that a trigger raised. */
const REFUSING = /^(22|23|54|P0001)/

const sqlState = (thrown: unknown): string | undefined =>
  thrown instanceof pg.DatabaseError ? (thrown.code ?? '') : undefined

/** A named statement is unknown, or known already: the pooler gave the connection of another client. */
const WITHOUT_NAMES = /^(26000|42P05)$/
/** A prepared statement returns other columns than before, because a newer program added some. */
const STALE_PLAN = /cached plan must not change/

function asConnectionError(thrown: unknown): unknown {
  const state = sqlState(thrown)
  const isStale = thrown instanceof Error && STALE_PLAN.test(thrown.message)
  if (state !== undefined && !AWAY.test(state) && !WITHOUT_NAMES.test(state) && !isStale) return thrown
  return new ConnectionLost(describe(thrown), { cause: thrown })
}

/** The error of a host with several addresses has a code and no message. */
const describe = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message || (systemCode(thrown) ?? thrown.name) : String(thrown)

const systemCode = (thrown: unknown): string | undefined =>
  thrown instanceof pg.DatabaseError ? undefined : (thrown as NodeJS.ErrnoException | undefined)?.code

/** Nothing answers at the address now. */
const SILENT = /^(ECONNREFUSED|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ETIMEDOUT|ENOENT|EAI_AGAIN)$/
/** The connection was lost on the way. */
const BROKEN = /^(ECONNRESET|ECONNABORTED|EPIPE)$/
/** Of the driver, which has no codes for its own errors. */
const REFUSED_TLS = /SSL/

/**
 * Contract: whether an attempt to open the database may succeed later. `silent`: when a server runs there. `broken`: at
 * once, usually. `hopeless`: not before a person changes the address, the password or the database.
 */
export function outlookOf(thrown: unknown): 'silent' | 'broken' | 'hopeless' {
  if (!(thrown instanceof ConnectionLost)) return 'hopeless'
  const code = systemCode(thrown.cause)
  if (code === undefined) return REFUSED_TLS.test(thrown.message) ? 'hopeless' : 'broken'
  if (SILENT.test(code)) return 'silent'
  return BROKEN.test(code) ? 'broken' : 'hopeless'
}

/** The user, the password or the database of the address is wrong. */
export const isRefusedLogin = (thrown: unknown): boolean => /^(28|3D000)/.test(sqlState(thrown) ?? '')
export const isConflict = (thrown: unknown): boolean => CONFLICTING.test(sqlState(thrown) ?? '')
export const isRefusedValue = (thrown: unknown): boolean => REFUSING.test(sqlState(thrown) ?? '')

/**
 * PostgreSQL cannot store the character NUL in a text, SQLite can. It is replaced by two characters, of which the first
 * is doubled where it stands for itself.
 */
const ESCAPE = '\uE000'
const NEEDS_ESCAPE = new RegExp(`[\\0${ESCAPE}]`, 'g')
const ESCAPED = new RegExp(`${ESCAPE}([0${ESCAPE}])`, 'g')

const encodeText = (text: string): string =>
  text.replace(NEEDS_ESCAPE, (found) => (found === ESCAPE ? ESCAPE + ESCAPE : `${ESCAPE}0`))

const decodeText = (text: string): string =>
  text.includes(ESCAPE) ? text.replace(ESCAPED, (_, kind) => (kind === '0' ? '\0' : ESCAPE)) : text

const encodeScalar = (value: Scalar): Scalar => (typeof value === 'string' ? encodeText(value) : value)
const encodeValue = (value: PgValue): unknown =>
  Array.isArray(value) ? value.map(encodeScalar) : encodeScalar(value as Scalar)

/** An integer beyond the safe range becomes a bigint, which makes its row unreadable. */
function parseInteger(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  ...[20, 21, 23].map((oid) => [oid, parseInteger] as const),
  ...[700, 701, 1700].map((oid) => [oid, Number] as const),
  [16, (text) => (text === 't' ? 1 : 0)],
])

const parserOf = (oid: number): ((text: string) => unknown) => PARSERS.get(oid) ?? decodeText
