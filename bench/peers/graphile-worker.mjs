// graphile-worker, on the PostgreSQL of the suite, with the settings of its page on performance.
// A job counts when its task has run; the worker completes jobs in batches right after that.

import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { serveQueue } from '../queue/serve-queue.ts'
import { GRAPHILE_WORKER } from '../queue/settings.ts'

const TASK = 'bench'
const CHUNK = 100_000
const ADD = `SELECT 1 FROM graphile_worker.add_jobs(array(
  SELECT json_populate_recordset(null::graphile_worker.job_spec, $1::json)))`
const silent = new Logger(() => (level, message) => level === 'error' && console.error(message))

await serveQueue(async ({ url }) => {
  const utils = await makeWorkerUtils({ connectionString: url, logger: silent })
  await utils.migrate()
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  return {
    async fill(jobs) {
      for (let left = jobs; left > 0; left -= CHUNK) {
        const chunk = Array.from({ length: Math.min(left, CHUNK) }, () => ({
          identifier: TASK,
          payload: { sentAt: 0 },
        }))
        await pool.query(ADD, [JSON.stringify(chunk)])
      }
    },
    send: (sentAt) => utils.addJob(TASK, { sentAt }),
    async count() {
      const { rows } = await pool.query('SELECT count(*)::int AS n FROM graphile_worker._private_jobs')
      return rows[0].n
    },
    async close() {
      await pool.end()
      await utils.release()
    },
    async work(meter) {
      const taskList = {
        [TASK]({ sentAt }) {
          meter.started(sentAt)
          meter.done(1)
        },
      }
      const runner = await run({
        ...{ connectionString: url, logger: silent, taskList, noHandleSignals: true },
        preset: { worker: GRAPHILE_WORKER },
      })
      return () => runner.stop()
    },
  }
})
