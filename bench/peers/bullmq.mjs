// BullMQ, on a Redis that syncs its log before it answers.

import { Queue, Worker } from 'bullmq'
import { serveQueue } from '../queue/serve-queue.ts'
import { BULLMQ } from '../queue/settings.ts'

const QUEUE = 'bench'
const CHUNK = 5000

await serveQueue(async ({ url }) => {
  const { hostname: host, port, pathname } = new URL(url)
  const connection = { host, port: Number(port), db: Number(pathname.slice(1)), maxRetriesPerRequest: null }
  const defaultJobOptions = { removeOnComplete: true }
  const queue = new Queue(QUEUE, { connection, defaultJobOptions })
  await queue.waitUntilReady()
  return {
    async fill(jobs) {
      for (let left = jobs; left > 0; left -= CHUNK)
        await queue.addBulk(Array.from({ length: Math.min(left, CHUNK) }, () => ({ name: QUEUE, data: { sentAt: 0 } })))
    },
    send: (sentAt) => queue.add(QUEUE, { sentAt }),
    count: () => queue.getWaitingCount(),
    close: () => queue.close(),
    async work(meter) {
      const worker = new Worker(QUEUE, async ({ data }) => meter.started(data.sentAt), { connection, ...BULLMQ })
      worker.on('completed', () => meter.done(1))
      worker.on('error', (error) => console.error(error))
      return () => worker.close()
    },
  }
})
