/** Rows as no version of today would write them: one value of a row is changed by SQL, past every check. */

import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'

type Value = string | number | bigint | null

export interface Column {
  readonly table: string
  readonly column: string
  readonly isNumber: boolean
  readonly isNullable: boolean
}

/** Not of the program: its own bookkeeping of the search for facts, and what nobody reads. */
const LEFT_OUT = /^(sqlite_|facts_words|set_aside$|commits$)/
/** Numbers that the database itself gives out and refers by: no version ever wrote one of its own. */
const REFERENCES: readonly string[] = ['n', 'session', 'parent', 'epoch']

export function columnsIn(file: string): readonly Column[] {
  return inside(file, (db) =>
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => String(name))
      .filter((table) => !LEFT_OUT.test(table))
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

/** `place`: which value inside of JSON, counted around. */
export interface Damage {
  readonly row: number
  readonly place: number
  readonly kind: number
}

export const damages: fc.Arbitrary<Damage> = fc.record({
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
const INSIDE: readonly unknown[] = [-1, 1.5, 1e300, 8.64e15 + 2, 'no such word', null, [], {}, true, undefined]

/** What was there, and what is there now; undefined where nothing could be changed. */
export function damage(file: string, { table, column, isNumber, isNullable }: Column, how: Damage): string | undefined {
  return inside(file, (db) => {
    const keys = db
      .prepare(`PRAGMA table_info(${table})`)
      .all()
      .filter(({ pk }) => Number(pk) > 0)
      .map(({ name }) => `"${name}"`)
    const rows = db.prepare(`SELECT ${keys.join(', ')}, "${column}" AS value FROM ${table}`).all()
    const row = rows[how.row % Math.max(1, rows.length)]
    if (!row) return undefined
    const { value: was, ...key } = row
    const value = changed(was as Value, how, isNumber, isNullable)
    if (value === was) return undefined
    const where = keys.map((name) => `${name} = ?`).join(' AND ')
    const named = Object.values(key) as Value[]
    try {
      pastTriggers(db, () => db.prepare(`UPDATE ${table} SET "${column}" = ? WHERE ${where}`).run(value, ...named))
    } catch (thrown) {
      // What the tables themselves refuse cannot be in them.
      if (/constraint failed|cannot store/.test(String(thrown))) return undefined
      throw thrown
    }
    return `${table}.${column} of ${named.join(' ')}: ${String(was).slice(0, 300)} → ${String(value).slice(0, 300)}`
  })
}

function changed(was: Value, { place, kind }: Damage, isNumber: boolean, isNullable: boolean): Value {
  if (isNumber) {
    const all = [...NUMBERS, ...(isNullable ? [null] : [])]
    return all[kind % all.length] ?? null
  }
  const all: Value[] = [...TEXTS, ...(isNullable ? [null] : [])]
  const inner = was !== null && /^[[{]/.test(String(was)) ? changedInside(String(was), place, kind) : undefined
  // JSON mostly from the inside: there is more of it.
  return inner !== undefined && place % 4 !== 0 ? inner : (all[kind % all.length] ?? null)
}

function changedInside(text: string, place: number, kind: number): string | undefined {
  const whole = JSON.parse(text) as unknown
  const spots: { readonly at: Record<string, unknown>; readonly key: string }[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      spots.push({ at: value as Record<string, unknown>, key })
      walk(inner)
    }
  }
  walk(whole)
  const spot = spots[place % Math.max(1, spots.length)]
  if (!spot) return undefined
  spot.at[spot.key] = INSIDE[kind % INSIDE.length]
  return JSON.stringify(whole)
}

/** Triggers are made again as they were. */
function pastTriggers(db: DatabaseSync, work: () => void): void {
  const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  try {
    work()
  } finally {
    for (const { sql } of triggers) db.exec(String(sql))
  }
}

/** Of each table, its rows as text by their primary keys. */
export type StoredRows = ReadonlyMap<string, ReadonlyMap<string, string>>

export function rowsIn(file: string): StoredRows {
  return inside(file, (db) => {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    return new Map(
      tables
        .map(({ name }) => String(name))
        .filter((table) => !/^(sqlite_|facts_words|commits$)/.test(table))
        .map((table) => [table, rowTexts(db, table)]),
    )
  })
}

/** As they are set aside, so that the two can be compared. */
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

export function inside<T>(file: string, look: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  try {
    return look(db)
  } finally {
    db.close()
  }
}
