/**
 * Kills the primary of a PostgreSQL cluster again and again, and workers beside it, and counts what is lost of the
 * commits that were acknowledged.
 */

import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { Crew } from './crew.ts'
import { openLeaderProxy } from './leader-proxy.ts'
import { PatroniCluster, type Replication } from './patroni-cluster.ts'
import type { Damage, Workload } from './workload.ts'

interface FailoverOptions {
  readonly kills: number
  readonly replication: Replication
  readonly workload: Workload
}

interface FailoverResult extends Damage {
  readonly acknowledged: number
  readonly killedWorkers: number
  readonly brokenWorkers: number
}

const WORKERS = 4
/** Time without kills before each kill of the primary, and the most that its standbys are cut off before. */
const [WORK_MS, SILENT_MS] = [1500, 500]
/** A killed node comes back after this time, as a supervisor restarts it; usually another has taken over before. */
const RESTART_MS = 15_000

export async function drillFailover(options: FailoverOptions): Promise<FailoverResult> {
  const { cluster, close } = await PatroniCluster.start(options.replication)
  const proxy = await openLeaderProxy(cluster)
  try {
    const url = await createDatabase(cluster.password, proxy.port)
    await options.workload.prepare(url)
    const crew = new Crew(options.workload.worker, url, WORKERS)
    try {
      printRow(HEADER)
      for (let kill = 1; kill <= options.kills; kill++) await killPrimary(cluster, crew, kill)
    } finally {
      await crew.stop()
    }
    await cluster.whenHealthy(2)
    const damage = await options.workload.check(url, crew.acknowledged)
    const { acknowledged, killed, broken } = crew
    return { ...damage, acknowledged: acknowledged.length, killedWorkers: killed, brokenWorkers: broken }
  } catch (error) {
    throw new Error(`${error}\n${cluster.logs()}`, { cause: error })
  } finally {
    await proxy.close()
    await close()
  }
}

async function killPrimary(cluster: PatroniCluster, crew: Crew, kill: number): Promise<void> {
  // A kill while a node is rewound would leave that node unable to start.
  await cluster.whenHealthy(3)
  await setTimeout(randomInt(WORK_MS))
  crew.replaceOne()
  await setTimeout(randomInt(WORK_MS))
  const killed = await cluster.leader()
  if (killed === undefined) throw new Error('the cluster has no primary although nothing was killed')
  await cluster.killNode(killed, randomInt(SILENT_MS))
  const [began, before] = [performance.now(), crew.acknowledged.length]
  const restarted = setTimeout(RESTART_MS).then(() => cluster.startNode(killed))
  crew.replaceOne()
  await crew.waitForMoreThan(before)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const next = (await cluster.leader())?.name ?? 'none'
  await restarted
  printRow([kill, killed.name, next, seconds, crew.acknowledged.length])
}

const HEADER = ['kill', 'primary', 'next', 'seconds without commits', 'acknowledged']
const printRow = (cells: readonly (string | number)[]): void =>
  console.log(cells.map((cell, i) => String(cell).padStart(HEADER[i]?.length ?? 0)).join('  '))

async function createDatabase(password: string, port: number): Promise<string> {
  const client = new pg.Client(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`)
  await client.connect()
  await client.query(`CREATE ROLE tireless LOGIN PASSWORD '${password}'`)
  await client.query('CREATE DATABASE drill OWNER tireless')
  await client.end()
  return `postgres://tireless:${password}@127.0.0.1:${port}/drill`
}
