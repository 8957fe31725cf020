/** Writes a database as readable SQL that can be compared, and loads it again. Paths of its home become @HOME@. */

import { DatabaseSync } from 'node:sqlite'

export const HOME = '@HOME@'
type Value = string | number | bigint | null | Uint8Array

interface Entry {
  readonly type: string
  readonly name: string
  readonly sql: string | null
}

const entriesOf = (db: DatabaseSync): Entry[] =>
  db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all() as unknown as Entry[]

/** The content tables of a virtual table are created together with it. */
const shadowTablesOf = (entries: readonly Entry[]): ReadonlySet<string> => {
  const virtual = entries.filter(({ sql }) => sql?.startsWith('CREATE VIRTUAL')).map(({ name }) => name)
  return new Set(
    entries.map(({ name }) => name).filter((name) => virtual.some((table) => name.startsWith(`${table}_`))),
  )
}

export function dumpDatabase(file: string, home: string): string {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const entries = entriesOf(db)
    const shadowTables = shadowTablesOf(entries)
    const isOwn = ({ name, sql }: Entry): boolean => sql !== null && !name.startsWith('sqlite_')
    const tables = entries.filter(({ type, sql }) => type === 'table' && !sql?.startsWith('CREATE VIRTUAL'))
    const lines = [
      `PRAGMA user_version = ${db.prepare('PRAGMA user_version').get()?.user_version};`,
      ...entries
        .filter((entry) => isOwn(entry) && entry.type === 'table' && !shadowTables.has(entry.name))
        .map(created),
      ...tables.flatMap(({ name }) => [
        ...(shadowTables.has(name) || name === 'sqlite_sequence' ? [`DELETE FROM "${name}";`] : []),
        ...db
          .prepare(`SELECT * FROM "${name}" ORDER BY 1`)
          .all()
          .map((row) => `INSERT INTO "${name}" VALUES (${Object.values(row).map(literal).join(', ')});`),
      ]),
      // Triggers come last: they would act on the loaded rows.
      ...entries.filter((entry) => isOwn(entry) && entry.type !== 'table').map(created),
    ]
    return `${lines.join('\n').replaceAll(home, HOME)}\n`
  } finally {
    db.close()
  }
}

export function loadDump(sql: string, file: string, home: string): void {
  // Otherwise the content of the fact search could not be written as it is.
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false, defensive: false })
  try {
    db.exec(`BEGIN; ${sql.replaceAll(HOME, home)}; COMMIT`)
  } finally {
    db.close()
  }
}

/** Every table, index and trigger by name, normalised where the SQL may differ and mean the same. */
export function schemaIn(db: DatabaseSync): Readonly<Record<string, string>> {
  return Object.fromEntries(entriesOf(db).map(({ type, name, sql }) => [`${type} ${name}`, normalizeSql(sql ?? '')]))
}

const created = ({ sql }: Entry): string => `${sql};`

const normalizeSql = (sql: string): string =>
  sql
    .replace(/--[^\n]*/g, ' ')
    .replace(/"(\w+)"/g, '$1')
    .replace(/\s+/g, ' ')
    .replace(/\s*([(),])\s*/g, '$1')

function literal(value: unknown): string {
  const known = value as Value
  if (known === null) return 'NULL'
  if (known instanceof Uint8Array) return `x'${Buffer.from(known).toString('hex')}'`
  return typeof known === 'string' ? `'${known.replaceAll("'", "''")}'` : String(known)
}
