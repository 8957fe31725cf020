/**
 * The queue suite: worker processes empty a queue in which other jobs wait, ours and peers', all durable; single jobs
 * are sent to see how soon they start; and the loop of the engine suite runs on PostgreSQL beside DBOS and Restate.
 * Subjects take turns in rounds, so that a machine that gets slower affects all of them.
 */

import { join } from 'node:path'
import { machineNow } from '../machine.ts'
import { type Figure, figureOf, medianOf } from '../measure.ts'
import type { Load } from '../meter.ts'
import { peerVersions } from '../peers/install.ts'
import type { Scale, SuiteOptions, SuiteResults } from '../suite.ts'
import { measureCrew, measureDelays, openPlace, type Place, type QueueSample } from './crew.ts'
import { queueBars, queueRatios } from './judge.ts'
import type { DatabaseUse } from './server-use.ts'
import { settleDatabase } from './server-use.ts'
import { type BenchServers, startServers } from './servers.ts'
import { measureSteps, type StepRow } from './steps.ts'
import { QUEUES, type QueueName } from './subjects.ts'

interface Plan {
  readonly rounds: number
  /** Jobs that wait behind those that are done. */
  readonly depths: readonly [few: number, many: number]
  readonly workers: readonly number[]
  /** A crew stops after so many jobs or so much time. */
  readonly jobs: number
  readonly maxMs: number
  readonly delays: { readonly jobs: number; readonly pauseMs: number }
  /** Only the first queue gets single jobs. */
  readonly isShort?: boolean
  readonly steps: Load
  readonly warmUpMs: number
}

const FULL: Plan = {
  ...{ rounds: 3, depths: [1000, 1_000_000], workers: [1, 2, 4, 8], jobs: 40_000, maxMs: 5000, warmUpMs: 2000 },
  ...{ delays: { jobs: 200, pauseMs: 20 }, steps: { sessions: 64, steps: 50 } },
}
const QUICK: Plan = {
  ...{ ...FULL, rounds: 1, depths: [1000, 100_000], workers: [1, 4], jobs: 20_000, maxMs: 2500, warmUpMs: 1000 },
  delays: { jobs: 50, pauseMs: 20 },
}
/** One process per queue, one depth. */
const SMOKE: Plan = {
  ...{ rounds: 1, depths: [1000, 1000], workers: [1], jobs: 1000, maxMs: 200, warmUpMs: 0, isShort: true },
  ...{ delays: { jobs: 3, pauseMs: 5 }, steps: { sessions: 4, steps: 5 } },
}

const PLANS: Readonly<Record<Scale, Plan>> = { full: FULL, quick: QUICK, smoke: SMOKE }

export interface QueueRow {
  readonly subject: QueueName
  /** Jobs that wait behind those that are done. */
  readonly waiting: number
  readonly workers: number
  readonly perSecond: Figure
  readonly clientCpuMs: Figure
  readonly serverCpuMs: Figure
  /** Per job; null without PostgreSQL. */
  readonly use: DatabaseUse | null
}

export interface DelayRow {
  readonly subject: QueueName
  readonly p50Ms: number
  readonly p99Ms: number
  readonly samples: number
}

/** How fast jobs can be added in bulk, to a queue that was empty. */
export interface FillRow {
  readonly subject: QueueName
  readonly jobs: number
  readonly perSecond: number
}

export interface QueueResults extends SuiteResults {
  readonly suite: 'queue'
  readonly depths: Plan['depths']
  readonly rows: readonly QueueRow[]
  readonly delays: readonly DelayRow[]
  readonly fills: readonly FillRow[]
  readonly steps: readonly StepRow[]
  readonly peers: Readonly<Record<string, string>>
  /** How each queue was used, and the settings of the servers. */
  readonly settings: Readonly<Record<string, string>>
}

export interface QueueSuiteOptions extends SuiteOptions {
  readonly withoutPeers: boolean
}

interface Run {
  readonly plan: Plan
  readonly options: QueueSuiteOptions
  readonly servers: BenchServers
  readonly names: readonly QueueName[]
}

export async function measureQueue(options: QueueSuiteOptions): Promise<QueueResults> {
  const { scale, withoutPeers, say, folder } = options
  const plan = PLANS[scale]
  const machine = machineNow()
  const servers = await startServers(options)
  try {
    const names = (Object.keys(QUEUES) as QueueName[]).filter((name) => {
      const { isPeer, needs } = QUEUES[name]
      return !(isPeer && withoutPeers) && servers[needs] !== undefined
    })
    const run: Run = { plan, options, servers, names }
    const fills: FillRow[] = []
    const rows = await measureThroughput(run, fills)
    const delays = await measureAllDelays(run)
    const { steps: load, rounds, warmUpMs } = plan
    const steps = await measureSteps({ load, rounds, warmUpMs, folder, servers, withoutPeers, say })
    const figures = { rows, delays, fills, steps, depths: plan.depths }
    return {
      ...{ suite: 'queue', scale, at: new Date().toISOString(), machine, ...figures },
      peers: withoutPeers ? {} : { ...peerVersions(PEER_PACKAGES), ...servers.versions },
      settings: { ...servers.settings, ...Object.fromEntries(names.map((name) => [name, QUEUES[name].how])) },
      bars: scale === 'smoke' ? [] : queueBars(figures),
      ratios: queueRatios(figures),
    }
  } finally {
    await servers.end()
  }
}

async function measureThroughput(run: Run, fills: FillRow[]): Promise<readonly QueueRow[]> {
  const { plan, options, names } = run
  const rows: QueueRow[] = []
  for (const waiting of new Set(plan.depths)) {
    const places = await fillPlaces(run, waiting, fills)
    const samples = new Map<string, QueueSample[]>()
    for (let round = 1; round <= plan.rounds; round++)
      for (const workers of plan.workers)
        for (const name of names) {
          const place = places.get(QUEUES[name].group)
          if (!place) continue
          const { title } = QUEUES[name]
          options.say(`round ${round} of ${plan.rounds}: ${title}, ${waiting} waiting, ${workers} processes`)
          const { jobs, maxMs } = plan
          const sample = await measureCrew(place, { name, workers, jobs, maxMs })
          const key = JSON.stringify([name, workers])
          samples.set(key, [...(samples.get(key) ?? []), sample])
        }
    for (const [key, taken] of samples) {
      const [subject, workers] = JSON.parse(key) as [QueueName, number]
      rows.push({ subject, waiting, workers, ...summaryOf(taken) })
    }
    for (const { filler } of places.values()) await filler.end()
  }
  return rows
}

/** Contract: a place per group, with as many jobs waiting as ordered and those that the crews will do. */
async function fillPlaces(run: Run, waiting: number, fills: FillRow[]): Promise<ReadonlyMap<string, Place>> {
  const { plan, options, names } = run
  const places = new Map<string, Place>()
  for (const name of names) {
    const { group, title } = QUEUES[name]
    if (places.has(group)) continue
    const place = await newPlace(run, name)
    places.set(group, place)
    const jobs = waiting + plan.jobs
    options.say(`adding ${jobs} jobs: ${title}`)
    const { seconds } = await place.filler.ask({ kind: 'fill', jobs }, 'filled')
    fills.push({ subject: name, jobs, perSecond: jobs / seconds })
    if (place.adminUrl !== undefined) await settleDatabase(place.adminUrl, place.url)
  }
  return places
}

async function newPlace({ servers, options }: Run, name: QueueName): Promise<Place> {
  const { needs, group } = QUEUES[name]
  const server = servers[needs]
  if (!server) throw new Error(`${name} needs ${needs}`)
  const folder = join(options.folder, group)
  const adminUrl = needs === 'postgres' ? server.url : undefined
  return openPlace(name, { url: await server.newDatabase(), folder, serverPid: server.pid, adminUrl })
}

async function measureAllDelays(run: Run): Promise<readonly DelayRow[]> {
  const rows: DelayRow[] = []
  for (const subject of run.plan.isShort ? run.names.slice(0, 1) : run.names) {
    run.options.say(`single jobs: ${QUEUES[subject].title}`)
    const place = await newPlace(run, subject)
    const delays = (await measureDelays(place, subject, run.plan.delays)).toSorted((a, b) => a - b)
    await place.filler.end()
    const at = (share: number): number => delays[Math.ceil(share * delays.length) - 1] ?? Number.NaN
    rows.push({ subject, p50Ms: at(0.5), p99Ms: at(0.99), samples: delays.length })
  }
  return rows
}

function summaryOf(samples: readonly QueueSample[]): Omit<QueueRow, 'subject' | 'waiting' | 'workers'> {
  const uses = samples.flatMap(({ use }) => use ?? [])
  const median = (key: keyof DatabaseUse): number => medianOf(uses.map((use) => use[key]))
  return {
    perSecond: figureOf(samples.map(({ perSecond }) => perSecond)),
    clientCpuMs: figureOf(samples.map(({ clientCpuMs }) => clientCpuMs)),
    serverCpuMs: figureOf(samples.map(({ serverCpuMs }) => serverCpuMs)),
    use:
      uses.length === 0
        ? null
        : { walBytes: median('walBytes'), commits: median('commits'), rowsRead: median('rowsRead') },
  }
}

const PEER_PACKAGES = [
  ...['pg-boss', 'graphile-worker', 'bullmq', '@dbos-inc/dbos-sdk'],
  ...['@restatedev/restate-sdk', '@restatedev/restate-server'],
]
