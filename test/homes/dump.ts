/** A database as SQL that can be read and compared, and back. Paths of the home it came from are written as @HOME@. */

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

/** What a virtual table keeps its content in is made with it. */
const shadowsOf = (entries: readonly Entry[]): ReadonlySet<string> => {
  const virtual = entries.filter(({ sql }) => sql?.startsWith('CREATE VIRTUAL')).map(({ name }) => name)
  return new Set(entries.map(({ name }) => name).filter((name) => virtual.some((own) => name.startsWith(`${own}_`))))
}

export function dumpDatabase(file: string, home: string): string {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const entries = entriesOf(db)
    const shadows = shadowsOf(entries)
    const isOwn = ({ name, sql }: Entry): boolean => sql !== null && !name.startsWith('sqlite_')
    const tables = entries.filter(({ type, sql }) => type === 'table' && !sql?.startsWith('CREATE VIRTUAL'))
    const lines = [
      `PRAGMA user_version = ${db.prepare('PRAGMA user_version').get()?.user_version};`,
      ...entries.filter((entry) => isOwn(entry) && entry.type === 'table' && !shadows.has(entry.name)).map(made),
      ...tables.flatMap(({ name }) => [
        ...(shadows.has(name) || name === 'sqlite_sequence' ? [`DELETE FROM "${name}";`] : []),
        ...db
          .prepare(`SELECT * FROM "${name}" ORDER BY 1`)
          .all()
          .map((row) => `INSERT INTO "${name}" VALUES (${Object.values(row).map(literal).join(', ')});`),
      ]),
      // Last: they would act on what is loaded.
      ...entries.filter((entry) => isOwn(entry) && entry.type !== 'table').map(made),
    ]
    return `${lines.join('\n').replaceAll(home, HOME)}\n`
  } finally {
    db.close()
  }
}

export function loadDump(sql: string, file: string, home: string): void {
  // Else what the search for facts keeps could not be written as it is.
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false, defensive: false })
  try {
    db.exec(`BEGIN; ${sql.replaceAll(HOME, home)}; COMMIT`)
  } finally {
    db.close()
  }
}

/** Every table, index and trigger by its name, without what the text may differ in and yet mean the same. */
export function schemaIn(db: DatabaseSync): Readonly<Record<string, string>> {
  return Object.fromEntries(entriesOf(db).map(({ type, name, sql }) => [`${type} ${name}`, normal(sql ?? '')]))
}

const made = ({ sql }: Entry): string => `${sql};`

const normal = (sql: string): string =>
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
