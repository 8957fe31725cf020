/** Lets a crew of worker processes empty a queue for a while, and measures the span in which all of them worked. */

import { setTimeout as pause } from 'node:timers/promises'
import { serverCpuMs } from '../server-cpu.ts'
import { MARK_MS, type Mark, sharedNow, type Worked } from './protocol.ts'
import { commonSpan, growthIn, QueueProcess } from './queue-process.ts'
import { type DatabaseUse, readDatabaseUse } from './server-use.ts'
import { fillerOf, QUEUES, type QueueName } from './subjects.ts'

const LOOK_AGAIN_MS = MARK_MS / 5

/** A queue with so many waiting jobs, and the process that adds jobs to it. */
export interface Place {
  readonly url: string
  readonly folder: string
  readonly serverPid: number
  /** Of the superuser of PostgreSQL; undefined for another server. */
  readonly adminUrl: string | undefined
  readonly filler: QueueProcess
}

export interface QueueSample {
  readonly perSecond: number
  readonly clientCpuMs: number
  readonly serverCpuMs: number
  /** Per job, over the whole run; null without PostgreSQL. */
  readonly use: DatabaseUse | null
}

interface CrewOrder {
  readonly name: QueueName
  readonly workers: number
  /** Stops after so many jobs, or so much time. */
  readonly jobs: number
  readonly maxMs: number
}

export async function openPlace(name: QueueName, place: Omit<Place, 'filler'>): Promise<Place> {
  return { ...place, filler: await QueueProcess.start(fillerOf(name), place) }
}

/** Contract: afterwards as many jobs wait as before. Throws if a job was done twice, or not at all. */
export async function measureCrew(place: Place, order: CrewOrder): Promise<QueueSample> {
  const { filler } = place
  const { jobs: before } = await filler.ask({ kind: 'count' }, 'counted')
  const useBefore = await useOf(place)
  const { crew, server } = await runCrew(place, order)
  const done = crew.reduce((sum, each) => sum + each.done, 0)
  const useAfter = await useOf(place)
  const { jobs: after } = await filler.ask({ kind: 'count' }, 'counted')
  if (after !== before - done)
    throw new Error(`${QUEUES[order.name].title}: ${before} jobs waited, ${done} were done, and ${after} wait`)
  await filler.ask({ kind: 'fill', jobs: done }, 'filled')
  const marks = crew.map((worked) => worked.marks)
  const span = commonSpan(marks)
  const jobs = marks.reduce((sum, each) => sum + growthIn(each, span, 'done'), 0)
  return {
    perSecond: (1000 * jobs) / (span.until - span.from),
    clientCpuMs: marks.reduce((sum, each) => sum + growthIn(each, span, 'cpuMs'), 0) / jobs,
    serverCpuMs: growthIn(server, span, 'cpuMs') / jobs,
    use: useBefore && useAfter && perJob(useBefore, useAfter, done),
  }
}

async function runCrew({ url, folder, serverPid }: Place, { name, workers, jobs, maxMs }: CrewOrder) {
  const start = (): Promise<QueueProcess> => QueueProcess.start(QUEUES[name].file, { url, folder })
  const crew = await Promise.all(Array.from({ length: workers }, start))
  const server: Mark[] = []
  const mark = (): void => void server.push({ at: sharedNow(), done: 0, cpuMs: serverCpuMs(serverPid) })
  const timer = setInterval(mark, MARK_MS)
  try {
    mark()
    await Promise.all(crew.map((member) => member.ask({ kind: 'work' }, 'working')))
    await waitUntil(() => crew.every(({ done }) => done > 0), 'a process got no job')
    const began = performance.now()
    const doneByAll = (): number => crew.reduce((sum, { done }) => sum + done, 0)
    while (doneByAll() < jobs && performance.now() < began + maxMs) await pause(LOOK_AGAIN_MS)
    const worked: Worked[] = await Promise.all(crew.map((member) => member.ask({ kind: 'stop' }, 'worked')))
    mark()
    return { crew: worked, server }
  } finally {
    clearInterval(timer)
    await Promise.all(crew.map((member) => member.end()))
  }
}

async function useOf({ url, adminUrl }: Place): Promise<DatabaseUse | null> {
  return adminUrl === undefined ? null : readDatabaseUse(adminUrl, new URL(url).pathname.slice(1))
}

function perJob(before: DatabaseUse, after: DatabaseUse, jobs: number): DatabaseUse {
  const each = (key: keyof DatabaseUse): number => (after[key] - before[key]) / jobs
  return { walBytes: each('walBytes'), commits: each('commits'), rowsRead: each('rowsRead') }
}

/** Contract: throws after a minute. */
async function waitUntil(holds: () => boolean, otherwise: string): Promise<void> {
  const until = performance.now() + 60_000
  while (!holds()) {
    if (performance.now() > until) throw new Error(otherwise)
    await pause(LOOK_AGAIN_MS)
  }
}

const WARM_UP_JOBS = 20

/** Contract: how long each of the jobs waited that were sent one by one to one process with nothing else to do. */
export async function measureDelays(
  place: Place,
  name: QueueName,
  { jobs, pauseMs }: { readonly jobs: number; readonly pauseMs: number },
): Promise<readonly number[]> {
  const { url, folder, filler } = place
  const all = WARM_UP_JOBS + jobs
  const worker = await QueueProcess.start(QUEUES[name].file, { url, folder })
  try {
    await worker.ask({ kind: 'work' }, 'working')
    await filler.ask({ kind: 'send', jobs: all, pauseMs }, 'sent')
    await waitUntil(() => worker.done >= all, `${QUEUES[name].title}: ${worker.done} of ${all} jobs were started`)
    const { delaysMs } = await worker.ask({ kind: 'stop' }, 'worked')
    return delaysMs.slice(WARM_UP_JOBS)
  } finally {
    await worker.end()
  }
}
