/** Rows that today's version would never write: SQL changes one value of a row, bypassing every check. */

import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'

type Value = string | number | bigint | null

export interface Column {
  readonly table: string
  readonly column: string
  readonly isNumber: boolean
  readonly isNullable: boolean
}

/** Tables that the program does not write: the index of the fact search, and tables that nothing reads. */
const EXCLUDED_TABLES = /^(sqlite_|facts_words|set_aside$|commits$)/
/** Numbers that the database itself assigns as references. */
const REFERENCES: readonly string[] = ['n', 'session', 'parent', 'epoch']

export function columnsIn(file: string): readonly Column[] {
  return withDatabase(file, (db) =>
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => String(name))
      .filter((table) => !EXCLUDED_TABLES.test(table))
      .flatMap((table) =>
        db
          .prepare(`PRAGMA table_info(${table})`)
          .all()
          .filter(({ name }) => table === 'tally' || !REFERENCES.includes(String(name)))
          .map(({ name, type, notnull }) => ({
            ...{ table, column: String(name), isNumber: type === 'INTEGER', isNullable: notnull === 0 },
          })),
      ),
  )
}

/** `place`: which value inside the JSON, modulo their number. */
export interface Damage {
  readonly row: number
  readonly place: number
  readonly kind: number
}

export const anyDamage: fc.Arbitrary<Damage> = fc.record({
  row: fc.nat(50),
  place: fc.nat(200),
  kind: fc.nat(50),
})

const NUMBERS: readonly Value[] = [-1, 2n ** 53n + 1n, 253_402_300_800_000, 2n ** 62n, -(2n ** 62n), 7]
const TEXTS: readonly Value[] = [
  '{"damaged',
  'no such word',
  '',
  '5',
  '[]',
  '{}',
  'null',
  '"text"',
  '[1.5, null]',
  '\0',
]
const JSON_VALUES: readonly unknown[] = [-1, 1.5, 1e300, 8.64e15 + 2, 'no such word', null, [], {}, true, undefined]

/** Returns the old and the new value; undefined if nothing could be changed. */
export function damageRow(
  file: string,
  { table, column, isNumber, isNullable }: Column,
  how: Damage,
): string | undefined {
  return withDatabase(file, (db) => {
    const keys = db
      .prepare(`PRAGMA table_info(${table})`)
      .all()
      .filter(({ pk }) => Number(pk) > 0)
      .map(({ name }) => `"${name}"`)
    const rows = db.prepare(`SELECT ${keys.join(', ')}, "${column}" AS value FROM ${table}`).all()
    const row = rows[how.row % Math.max(1, rows.length)]
    if (!row) return undefined
    const { value: oldValue, ...key } = row
    const value = changed(oldValue as Value, how, isNumber, isNullable)
    if (value === oldValue) return undefined
    const where = keys.map((name) => `${name} = ?`).join(' AND ')
    const named = Object.values(key) as Value[]
    try {
      withoutTriggers(db, () => db.prepare(`UPDATE ${table} SET "${column}" = ? WHERE ${where}`).run(value, ...named))
    } catch (thrown) {
      // A value that the table itself refuses cannot occur.
      if (/constraint failed|cannot store/.test(String(thrown))) return undefined
      throw thrown
    }
    const change = `${String(oldValue).slice(0, 300)} → ${String(value).slice(0, 300)}`
    return `${table}.${column} of ${named.join(' ')}: ${change}`
  })
}

function changed(oldValue: Value, { place, kind }: Damage, isNumber: boolean, isNullable: boolean): Value {
  if (isNumber) {
    const all = [...NUMBERS, ...(isNullable ? [null] : [])]
    return all[kind % all.length] ?? null
  }
  const all: Value[] = [...TEXTS, ...(isNullable ? [null] : [])]
  const inner =
    oldValue !== null && /^[[{]/.test(String(oldValue)) ? changeInJson(String(oldValue), place, kind) : undefined
  // Mostly changes values inside JSON: there are more of them.
  return inner !== undefined && place % 4 !== 0 ? inner : (all[kind % all.length] ?? null)
}

function changeInJson(text: string, place: number, kind: number): string | undefined {
  const whole = JSON.parse(text) as unknown
  const paths: { readonly at: Record<string, unknown>; readonly key: string }[] = []
  const collectPaths = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      paths.push({ at: value as Record<string, unknown>, key })
      collectPaths(inner)
    }
  }
  collectPaths(whole)
  const target = paths[place % Math.max(1, paths.length)]
  if (!target) return undefined
  target.at[target.key] = JSON_VALUES[kind % JSON_VALUES.length]
  return JSON.stringify(whole)
}

/** Disables the triggers during `work`, then recreates them. */
function withoutTriggers(db: DatabaseSync, work: () => void): void {
  const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  try {
    work()
  } finally {
    for (const { sql } of triggers) db.exec(String(sql))
  }
}

/** The rows of each table as text, by primary key. */
export type StoredRows = ReadonlyMap<string, ReadonlyMap<string, string>>

export function rowsIn(file: string): StoredRows {
  return withDatabase(file, (db) => {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    return new Map(
      tables
        .map(({ name }) => String(name))
        .filter((table) => !/^(sqlite_|facts_words|commits$)/.test(table))
        .map((table) => [table, rowTexts(db, table)]),
    )
  })
}

/** In the format of rows that were set aside, so that the two can be compared. */
function rowTexts(db: DatabaseSync, table: string): ReadonlyMap<string, string> {
  const columns = db.prepare(`PRAGMA table_info(${table})`).all()
  const pairs = columns.map(({ name }) => `'${name}', "${name}"`).join(', ')
  const key = columns.filter(({ pk }) => Number(pk) > 0).map(({ name }) => `"${name}"`)
  return new Map(
    db
      .prepare(`SELECT json_array(${key.join(', ')}) AS key, json_object(${pairs}) AS row FROM ${table}`)
      .all()
      .map((row) => [String(row.key), String(row.row)]),
  )
}

export function withDatabase<T>(file: string, look: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  try {
    return look(db)
  } finally {
    db.close()
  }
}
