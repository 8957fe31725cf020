/**
 * A worker of the failover drill that speaks SQL: writes groups of rows, and prints a group's name when its commit was
 * acknowledged. If the connection breaks before that, the group's marker says whether the commit took effect.
 *
 *   node sql-worker.ts URL NAME
 */

import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'

const [url = '', name = ''] = process.argv.slice(2)
const PAUSE_MS = 5

// Ends with the drill, also when that is killed.
process.stdin.resume().once('end', () => process.exit())

let client: pg.Client | undefined
for (let n = 1; ; n++) {
  await commitGroup(`${name}-${n}`)
  writeSync(1, `${name}-${n}\n`)
  await setTimeout(PAUSE_MS)
}

async function commitGroup(group: string): Promise<void> {
  for (let isUnknown = false; ; isUnknown = true) {
    try {
      client ??= await connect()
      if (isUnknown && (await isCommitted(client, group))) return
      await client.query('BEGIN')
      await client.query('INSERT INTO markers VALUES ($1)', [group])
      await client.query('INSERT INTO records SELECT $1, generate_series(1, 3)', [group])
      await client.query('COMMIT')
      return
    } catch {
      client?.end().catch(() => {})
      client = undefined
      await setTimeout(PAUSE_MS * 10)
    }
  }
}

async function connect(): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  opened.on('error', () => {})
  await opened.connect()
  return opened
}

async function isCommitted(connection: pg.Client, group: string): Promise<boolean> {
  return (await connection.query('SELECT FROM markers WHERE id = $1', [group])).rowCount === 1
}
