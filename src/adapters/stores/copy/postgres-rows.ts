/** The rows of a PostgreSQL database, as the source or the target of a copy, inside the transaction of the caller. */

import { TirelessError } from '../../../domain/error.ts'
import { isRefusedValue, type PgConnection, type PgValue } from '../postgres/connection.ts'
import { addWords } from '../postgres/facts.ts'
import { readPages } from '../postgres/scan-rows.ts'
import type { SqlRow } from '../rows/rows.ts'
import { type CopiedRow, type CopiedValue, keyText, type RowSource, type RowTarget } from './copy-rows.ts'
import { type CopiedTable, columnList, keyColumns, quoteName } from './tables.ts'

export function createPostgresRows(db: PgConnection): RowSource & RowTarget {
  return {
    async *batches(table) {
      const order = keyColumns(table).map(({ name }) => quoteName(name))
      const query = `SELECT ${columnList(table)} FROM ${table.name} ORDER BY ${order.join(', ')}`
      for await (const rows of readPages(db, query)) yield rows.map((row) => toCopied(table, row))
    },
    async count({ name }) {
      return Number((await db.get(`SELECT count(*) AS n FROM ${name}`))?.n)
    },
    async lastNumber(table) {
      const query = table === 'audit' ? 'SELECT n FROM audit_head' : `SELECT last_value AS n FROM ${WORKER_NUMBERS}`
      return Number((await db.get(query))?.n ?? 0)
    },
    async insert(table, rows) {
      await insertOrName(db, table, rows)
      if (table.name === 'facts') for (const row of rows) await addFactWords(db, table, row)
    },
    async find(table, rows) {
      const keys = keyColumns(table)
      const columns = table.key.map((i) => rows.map((row) => bindable(row[i] ?? null)))
      const given = keys.map((_, i) => `k${i}`)
      const matches = keys.map(({ name }, i) => `t.${quoteName(name)} = ${given[i]}`)
      const found = await db.all(
        `SELECT place, ${columnList(table, 't.')} FROM ${table.name} t
         JOIN unnest(${arrays(keys)}) WITH ORDINALITY AS k (${given.join(', ')}, place) ON ${matches.join(' AND ')}`,
        ...columns,
      )
      const byPlace = new Map(found.map((row) => [Number(row.place), toCopied(table, row)]))
      return rows.map((_, i) => byPlace.get(i + 1))
    },
    async finish({ workers, audit }) {
      for (const [table, column] of await numberedColumns(db))
        await db.exec(
          `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), greatest(max("${column}"), 1),
           max("${column}") IS NOT NULL) FROM ${table}`,
        )
      if (workers > 0) await db.exec(`SELECT setval('${WORKER_NUMBERS}', ${workers})`)
      await db.run(
        `UPDATE audit_head SET n = $1, hash = coalesce((SELECT hash FROM audit ORDER BY n DESC LIMIT 1), '')`,
        audit,
      )
    },
  }
}

const WORKER_NUMBERS = 'workers_epoch_seq'

const arrays = (columns: CopiedTable['columns']): string =>
  columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ')

const toCopied = ({ columns }: CopiedTable, row: SqlRow): CopiedRow =>
  columns.map(({ name }) => (row[name] ?? null) as CopiedValue)

const bindable = (value: CopiedValue): string | number | null => (typeof value === 'bigint' ? `${value}` : value)

/** Contract: throws `store_failed` with the row that PostgreSQL refuses. */
async function insertOrName(db: PgConnection, table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
  await db.exec('SAVEPOINT batch')
  try {
    await insertRows(db, table, rows)
    await db.exec('RELEASE batch')
  } catch (thrown) {
    if (!isRefusedValue(thrown)) throw thrown
    await db.exec('ROLLBACK TO batch')
    const [row] = rows
    if (rows.length === 1 && row) throw refusedRow(table, row, thrown)
    for (const one of rows) await insertOrName(db, table, [one])
  }
}

function refusedRow(table: CopiedTable, row: CopiedRow, cause: unknown): TirelessError {
  const got = cause instanceof Error ? cause.message : String(cause)
  return new TirelessError(
    'store_failed',
    {
      ...{ what: 'PostgreSQL refuses a record of this home', where: `${table.name} ${keyText(table, row)}`, got },
      fix: 'run tireless doctor --fix, then move again; if the record is too long, remove it first',
    },
    { cause },
  )
}

const insertRows = (db: PgConnection, table: CopiedTable, rows: readonly CopiedRow[]): Promise<number> =>
  db.run(
    `INSERT INTO ${table.name} (${columnList(table)}) SELECT * FROM unnest(${arrays(table.columns)})`,
    ...table.columns.map((_, i): PgValue => rows.map((row) => bindable(row[i] ?? null))),
  )

async function addFactWords(db: PgConnection, { columns }: CopiedTable, row: CopiedRow): Promise<void> {
  const value = (name: string): CopiedValue => row[columns.findIndex((column) => column.name === name)] ?? null
  if (value('status') === 'known') await addWords(db, Number(value('n')), String(value('key')), String(value('text')))
}

/** The columns whose next values PostgreSQL chooses. */
async function numberedColumns(db: PgConnection): Promise<readonly (readonly [string, string])[]> {
  const found = await db.all(
    `SELECT table_name AS name, column_name AS numbered FROM information_schema.columns
     WHERE table_schema = current_schema() AND is_identity = 'YES' ORDER BY 1`,
  )
  return found.map(({ name, numbered }) => [String(name), String(numbered)] as const)
}
