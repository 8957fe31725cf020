/** The main function of each process of a queue, ours and peers: it fills the queue, sends single jobs, or works. */

import { setTimeout as pause } from 'node:timers/promises'
import { MARK_MS, type Mark, type QueueAnswer, type QueueOrder, type QueueRequest, sharedNow } from './protocol.ts'

export interface WorkMeter {
  /** Jobs that are done, and whose end the queue has acknowledged, or will before it gives out much more. */
  done(jobs: number): void
  /** Called when a job starts. `sentAt`: from its data; 0 for jobs of `fill`. */
  started(sentAt: number): void
}

export interface BenchQueue {
  fill(jobs: number): Promise<void>
  send(sentAt: number): Promise<void>
  /** Contract: how many jobs wait. */
  count(): Promise<number>
  /** Contract: begins to work and resolves; the result ends it, and resolves when everything that began is done. */
  work(meter: WorkMeter): Promise<() => Promise<void>>
  close(): Promise<void>
}

export async function serveQueue(open: (order: QueueOrder) => Promise<BenchQueue>): Promise<void> {
  // Ends with the suite, also when that is killed.
  process.once('disconnect', () => process.exit())
  const queue = await open(JSON.parse(process.argv[2] ?? '') as QueueOrder)
  const answer = (message: QueueAnswer): unknown => process.send?.(message)
  let stopWork: (() => Promise<QueueAnswer>) | undefined
  const handle = async (request: QueueRequest): Promise<QueueAnswer> => {
    if (request.kind === 'fill') return fill(queue, request.jobs)
    if (request.kind === 'send') return sendSlowly(queue, request.jobs, request.pauseMs)
    if (request.kind === 'count') return { kind: 'counted', jobs: await queue.count() }
    if (request.kind === 'stop') return (await stopWork?.()) ?? { kind: 'worked', marks: [], done: 0, delaysMs: [] }
    stopWork = await work(queue, answer)
    return { kind: 'working' }
  }
  process.on('message', (request: QueueRequest) => void handle(request).then(answer, fail))
  process.once('SIGTERM', () => void queue.close().then(() => process.exit(), fail))
  answer({ kind: 'ready' })
}

function fail(error: unknown): never {
  console.error(error)
  process.exit(1)
}

async function fill(queue: BenchQueue, jobs: number): Promise<QueueAnswer> {
  const began = performance.now()
  await queue.fill(jobs)
  return { kind: 'filled', seconds: (performance.now() - began) / 1000 }
}

async function sendSlowly(queue: BenchQueue, jobs: number, pauseMs: number): Promise<QueueAnswer> {
  for (let n = 0; n < jobs; n++) {
    await queue.send(sharedNow())
    await pause(pauseMs)
  }
  return { kind: 'sent' }
}

async function work(queue: BenchQueue, answer: (message: QueueAnswer) => unknown): Promise<() => Promise<QueueAnswer>> {
  const marks: Mark[] = []
  const delaysMs: number[] = []
  let done = 0
  const mark = (): void => {
    const { user, system } = process.cpuUsage()
    marks.push({ at: sharedNow(), done, cpuMs: (user + system) / 1000 })
  }
  const stop = await queue.work({
    done: (jobs) => (done += jobs),
    started: (sentAt) => sentAt > 0 && delaysMs.push(sharedNow() - sentAt),
  })
  const timer = setInterval(() => {
    mark()
    answer({ kind: 'progress', done })
  }, MARK_MS)
  return async () => {
    mark()
    clearInterval(timer)
    await stop()
    return { kind: 'worked', marks, done, delaysMs }
  }
}
