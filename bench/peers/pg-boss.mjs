// pg-boss, on the PostgreSQL of the suite. Plain JavaScript, so that the type check does not need the peers' packages.
//
// For throughput, several loops fetch and complete whole batches, with the functions that `work` uses itself. Jobs that
// are sent alone are taken by `work`, which LISTEN wakes.

import { PgBoss } from 'pg-boss'
import { serveQueue } from '../queue/serve-queue.ts'
import { PG_BOSS } from '../queue/settings.ts'

const QUEUE = 'bench'
const CHUNK = 10_000

await serveQueue(async ({ url }) => {
  const boss = new PgBoss({ connectionString: url, schedule: false, useListenNotify: true })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue(QUEUE, { notify: true, retryLimit: 0 })
  return {
    async fill(jobs) {
      for (let left = jobs; left > 0; left -= CHUNK)
        await boss.insert(
          QUEUE,
          Array.from({ length: Math.min(left, CHUNK) }, () => ({ data: { sentAt: 0 } })),
        )
    },
    send: (sentAt) => boss.send(QUEUE, { sentAt }),
    async count() {
      const { rows } = await boss
        .getDb()
        .executeSql(`SELECT count(*)::int AS n FROM pgboss.job WHERE name = '${QUEUE}' AND state < 'active'`)
      return rows[0].n
    },
    close: () => boss.stop({ graceful: false }),
    work: (meter) => work(boss, meter),
  }
})

async function work(boss, meter) {
  const { batchSize, loops } = PG_BOSS
  let isStopping = false
  const loop = async () => {
    while (!isStopping) {
      const jobs = await boss.fetch(QUEUE, { batchSize })
      if (jobs.length === 0) return
      for (const { data } of jobs) meter.started(data.sentAt)
      await boss.complete(
        QUEUE,
        jobs.map(({ id }) => id),
      )
      meter.done(jobs.length)
    }
  }
  const running = Promise.all(Array.from({ length: loops }, loop)).then(() => isStopping || listen(boss, meter))
  return async () => {
    isStopping = true
    await running
    await boss.offWork(QUEUE)
  }
}

/** For jobs that are sent while the queue is empty. */
async function listen(boss, meter) {
  await boss.work(QUEUE, async ([{ data }]) => {
    meter.started(data.sentAt)
    meter.done(1)
  })
}
