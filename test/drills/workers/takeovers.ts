/**
 * Watches the database from outside, and measures how long it takes until the lead and the dispatches of a process that
 * was killed, stopped or cut off are another's, or free.
 *
 * The time counts from the fault, or, if that is later, from the moment since which there was another process that
 * could take over: undisturbed, with a valid lease, and with a database that answers.
 */

import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import type { SharedProcess } from './shared-process.ts'

const POLL_MS = 100
const LIMIT_MS = 2000

interface WorkerRow {
  readonly epoch: number
  readonly name: string
  readonly is_valid: boolean
}

interface Snapshot {
  readonly at: number
  /** Null: the database does not answer. */
  readonly workers: readonly WorkerRow[] | null
  readonly leader: number | undefined
  /** The epoch that runs each dispatch. */
  readonly running: ReadonlyMap<string, number>
}

/** `what`: `lead`, or the id of a dispatch. */
interface OpenCase {
  readonly what: string
  readonly epoch: number
  readonly process: SharedProcess
  readonly fault: string
  since: number
}

export interface Takeover {
  readonly what: string
  readonly fault: string
  readonly ms: number
}

const SNAPSHOT = `SELECT
  (SELECT value::json ->> 'epoch' FROM settings WHERE name = 'leader default') AS leader,
  (SELECT json_agg(json_build_object('epoch', epoch, 'name', name,
     'is_valid', lease_until > extract(epoch FROM clock_timestamp()) * 1000))
     FROM workers WHERE left_at IS NULL) AS workers,
  (SELECT json_agg(json_build_array(dispatch_id, epoch)) FROM dispatches WHERE status = 'running') AS running`

export class Takeovers {
  readonly done: Takeover[] = []
  readonly #url: string
  readonly #processes: readonly SharedProcess[]
  readonly #open = new Set<OpenCase>()
  readonly #closed = new AbortController()
  readonly #watching: Promise<void>
  #client: pg.Client | undefined
  #last: Snapshot = { at: 0, workers: null, leader: undefined, running: new Map() }

  constructor(url: string, processes: readonly SharedProcess[]) {
    this.#url = url
    this.#processes = processes
    this.#watching = this.#watch()
  }

  /** Those that are still open, with the time since the fault. */
  get open(): readonly Takeover[] {
    const now = performance.now()
    return [...this.#open].map(({ what, fault, since }) => ({ what, fault, ms: now - since }))
  }

  /** Whether all processes have a valid lease, and one of them leads. */
  get isCalm(): boolean {
    const { leader } = this.#last
    const isLed = this.#last.workers?.some(({ epoch, is_valid }) => is_valid && epoch === leader) ?? false
    return isLed && this.#processes.every((process) => this.#isFit(process))
  }

  /** Call it right before the fault. */
  expect(process: SharedProcess, fault: string): void {
    const epoch = this.#epochOf(process)
    if (epoch === undefined) return
    const since = performance.now()
    const add = (what: string): unknown => this.#open.add({ what, epoch, process, fault, since })
    if (this.#last.leader === epoch) add('lead')
    for (const [id, owner] of this.#last.running) if (owner === epoch) add(id)
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.#watching
  }

  async #watch(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      this.#last = await this.#look()
      for (const open of [...this.#open]) this.#judge(open)
      await setTimeout(POLL_MS)
    }
    await this.#client?.end().catch(() => {})
  }

  #judge(open: OpenCase): void {
    const { what, epoch, process, fault } = open
    const { at, workers, leader, running } = this.#last
    const others = this.#processes.filter((other) => other !== process && (what !== 'lead' || other.mayLead))
    if (!workers || !others.some((other) => this.#isFit(other))) {
      open.since = at
      return
    }
    const isTaken = what === 'lead' ? leader !== epoch : running.get(what) !== epoch
    // It has kept its lease through a short fault.
    const isKept = process.isUndisturbed && workers.some((worker) => worker.epoch === epoch && worker.is_valid)
    if (isTaken) this.done.push({ what: what === 'lead' ? what : 'dispatch', fault, ms: Math.max(0, at - open.since) })
    if (isTaken || isKept) this.#open.delete(open)
  }

  #isFit(process: SharedProcess): boolean {
    if (!process.isUndisturbed) return false
    const mark = `process ${process.pid} `
    return this.#last.workers?.some(({ name, is_valid }) => is_valid && name.startsWith(mark)) ?? false
  }

  #epochOf({ pid }: SharedProcess): number | undefined {
    return this.#last.workers?.find(({ name }) => name.startsWith(`process ${pid} `))?.epoch
  }

  async #look(): Promise<Snapshot> {
    try {
      this.#client ??= await connect(this.#url)
      const [row] = (await this.#client.query(SNAPSHOT)).rows
      return {
        at: performance.now(),
        workers: row.workers ?? [],
        leader: row.leader === null ? undefined : Number(row.leader),
        running: new Map(row.running ?? []),
      }
    } catch {
      this.#client?.end().catch(() => {})
      this.#client = undefined
      return { ...this.#last, at: performance.now(), workers: null }
    }
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMIT_MS, query_timeout: LIMIT_MS })
  client.on('error', () => {})
  await client.connect()
  return client
}
