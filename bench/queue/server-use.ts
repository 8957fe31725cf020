/** What a PostgreSQL has used so far: its log, commits and rows read. */

import pg from 'pg'

/** Counters of a database and its server. */
export interface DatabaseUse {
  readonly walBytes: number
  readonly commits: number
  readonly rowsRead: number
}

const USE = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes",
    xact_commit::float8 AS commits, (tup_returned + tup_fetched)::float8 AS "rowsRead"
  FROM pg_stat_database WHERE datname = $1`

/** Contract: the counters now; processes report theirs when they leave. */
export async function readDatabaseUse(adminUrl: string, database: string): Promise<DatabaseUse> {
  const [use] = await query<DatabaseUse>(adminUrl, USE, [database])
  if (!use) throw new Error(`there is no database ${database}`)
  return use
}

export async function versionOf(url: string): Promise<string> {
  const [row] = await query<{ readonly server_version: string }>(url, 'SHOW server_version')
  return row?.server_version ?? ''
}

/** After a bulk load, as the server itself would do soon; so that it happens in no measurement. */
export async function settleDatabase(adminUrl: string, url: string): Promise<void> {
  const admin = Object.assign(new URL(adminUrl), { pathname: new URL(url).pathname }).href
  await query(admin, 'VACUUM (ANALYZE)')
  await query(admin, 'CHECKPOINT')
}

async function query<T>(url: string, text: string, values: readonly string[] = []): Promise<readonly T[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text, [...values])).rows as T[]
  } finally {
    await client.end()
  }
}
