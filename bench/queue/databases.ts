/** Databases that a subject creates for one sample. */

import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** Contract: removes the database afterwards, also with open connections. */
export async function withDatabase(adminUrl: string, use: (url: string) => Promise<void>): Promise<void> {
  const name = `bench_${randomBytes(8).toString('hex')}`
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client(adminUrl)
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await run(`CREATE DATABASE ${name}`)
  try {
    await use(Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href)
  } finally {
    await run(`DROP DATABASE ${name} WITH (FORCE)`)
  }
}
