/** The workload of `sql-worker.ts`: its tables, and what became of its acknowledged groups. */

import { join } from 'node:path'
import pg from 'pg'
import type { Workload } from './workload.ts'

const ROWS_PER_GROUP = 3

export const sqlWorkload: Workload = {
  worker: join(import.meta.dirname, 'sql-worker.ts'),

  async prepare(url) {
    await query(url, 'CREATE TABLE markers (id text PRIMARY KEY); CREATE TABLE records (id text, n int)')
  },

  async check(url, acknowledged) {
    const markers = new Set(await query(url, 'SELECT id FROM markers'))
    const counts = 'SELECT id FROM records GROUP BY id HAVING count(*)'
    const complete = new Set(await query(url, `${counts} = ${ROWS_PER_GROUP}`))
    return {
      lost: acknowledged.filter((id) => !markers.has(id)),
      doubled: await query(url, `${counts} > ${ROWS_PER_GROUP}`),
      incomplete: [...markers].filter((id) => !complete.has(id)),
    }
  },
}

/** Contract: the first column of the last statement's rows. */
async function query(url: string, sql: string): Promise<string[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows = [] } = await client.query({ text: sql, rowMode: 'array' })
    return rows.map(([value]) => String(value))
  } finally {
    await client.end()
  }
}
