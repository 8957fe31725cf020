/** A queue of one table and two statements: what PostgreSQL itself allows, without sessions, fences or priorities. */

import pg from 'pg'
import { News } from './news.ts'
import { serveQueue } from './serve-queue.ts'
import { LOOPS, TIRELESS_BATCH } from './settings.ts'

const SCHEMA = `CREATE TABLE IF NOT EXISTS jobs (n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sent_at FLOAT8 NOT NULL, status TEXT NOT NULL DEFAULT 'pending') WITH (fillfactor = 80);
  CREATE INDEX IF NOT EXISTS jobs_pending ON jobs (n) WHERE status = 'pending'`
const ADD = 'INSERT INTO jobs (sent_at) SELECT 0 FROM generate_series(1, $1)'
const SEND = "WITH told AS (SELECT pg_notify('jobs', '')) INSERT INTO jobs (sent_at) SELECT $1 FROM told"
const CLAIM = `UPDATE jobs SET status = 'running' WHERE n IN (SELECT n FROM jobs WHERE status = 'pending'
  ORDER BY n LIMIT ${TIRELESS_BATCH} FOR UPDATE SKIP LOCKED) RETURNING n, sent_at`
const SETTLE = "UPDATE jobs SET status = 'done' WHERE n = ANY ($1::bigint[])"
const COUNT = "SELECT count(*)::int AS n FROM jobs WHERE status = 'pending'"

await serveQueue(async ({ url }) => {
  const pool = new pg.Pool({ connectionString: url, max: LOOPS + 1 })
  await pool.query(SCHEMA)
  return {
    fill: async (jobs) => void (await pool.query(ADD, [jobs])),
    send: async (sentAt) => void (await pool.query(SEND, [sentAt])),
    count: async () => Number((await pool.query(COUNT)).rows[0]?.n),
    close: () => pool.end(),
    async work(meter) {
      let isStopping = false
      const news = new News()
      const listener = await pool.connect()
      listener.on('notification', news.tell)
      await listener.query('LISTEN jobs')
      const loop = async (): Promise<void> => {
        while (!isStopping) {
          const changed = news.next
          const { rows } = await pool.query({ name: 'claim', text: CLAIM })
          for (const { sent_at } of rows) meter.started(Number(sent_at))
          if (rows.length > 0) await pool.query({ name: 'settle', text: SETTLE, values: [rows.map(({ n }) => n)] })
          else if (!isStopping) await changed
          meter.done(rows.length)
        }
      }
      const loops = Promise.all(Array.from({ length: LOOPS }, loop))
      return async () => {
        isStopping = true
        news.tell()
        await loops
        listener.release()
      }
    },
  }
})
