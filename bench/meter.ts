/**
 * Measures inside the subject's process: warms the subject up, measures it as often as ordered, and prints the samples
 * as one JSON line. All subjects, ours and peers, are measured by this file.
 */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { serverCpuMs } from './server-cpu.ts'

/** `sessions` concurrent sessions of `steps` steps; a step is a model answer with one tool call, and that call. */
export interface Load {
  readonly sessions: number
  readonly steps: number
  /** Token limit of a request, to make the memory cut the history early. */
  readonly maxInput?: number | undefined
}

/** A server that the subject uses. `admin`: another address of it, for set-up. */
export interface SubjectServer {
  readonly url: string
  readonly pid: number
  readonly admin?: string
}

export interface Order extends Load {
  readonly server?: SubjectServer
  /** Databases are created and removed in this folder. */
  readonly folder: string
  readonly warmUpMs: number
  readonly repeat: number
}

export interface Sample {
  readonly seconds: number
  /** User and system time of all threads. */
  readonly cpuMs: number
  /** The same of the server; 0 without one. */
  readonly serverCpuMs: number
  readonly lagP99Ms: number
  /** Size of the closed database, including its write-ahead log. */
  readonly bytes: number
  /** Commits between the start of the first step and the start of the last. */
  readonly commits: number | null
  /** Only with one session: time between the starts of consecutive steps, in ms. */
  readonly stepMs: readonly number[]
}

export interface Bench extends Load {
  /** Folder for the subject's files. */
  readonly folder: string
  readonly server?: SubjectServer | undefined
  /** Marks the start of a step, or of the final answer. `commits`: durable commits so far, if known. */
  step(commits?: number): void
  /** Contract: call it once, around the measured work; set-up and tear-down stay outside. */
  measure(work: () => Promise<unknown>): Promise<void>
}

/** Runs one load, including set-up and tear-down. */
type Subject = (bench: Bench) => Promise<void>

const WARM_UP_STEPS = 50
const LAG_RESOLUTION_MS = 10

/** The main function of a subject's process. */
export async function serve(subject: Subject): Promise<void> {
  const order = JSON.parse(process.argv[2] ?? '') as Order
  const until = performance.now() + order.warmUpMs
  while (performance.now() < until) await sample(subject, { ...order, steps: Math.min(order.steps, WARM_UP_STEPS) })
  const samples: Sample[] = []
  while (samples.length < order.repeat) samples.push(await sample(subject, order))
  console.log(JSON.stringify(samples))
}

type Timed = Pick<Sample, 'seconds' | 'cpuMs' | 'serverCpuMs' | 'lagP99Ms'>

async function sample(subject: Subject, load: Order): Promise<Sample> {
  mkdirSync(load.folder, { recursive: true })
  const folder = mkdtempSync(join(load.folder, 'run-'))
  const starts: number[] = []
  const commits: number[] = []
  let measured: Timed | undefined
  try {
    await subject({
      folder,
      server: load.server,
      sessions: load.sessions,
      steps: load.steps,
      maxInput: load.maxInput,
      step(committed) {
        starts.push(performance.now())
        if (committed !== undefined) commits.push(committed)
      },
      async measure(work) {
        measured = await timed(work, load.server)
      },
    })
    if (!measured) throw new Error('the subject measured nothing')
    const expected = load.sessions * load.steps
    if (starts.length < expected) throw new Error(`the subject started ${starts.length} of ${expected} steps`)
    return {
      ...measured,
      bytes: databaseBytes(folder),
      commits: commits.length > 0 ? (commits.at(-1) ?? 0) - (commits[0] ?? 0) : null,
      stepMs: load.sessions === 1 ? starts.slice(1).map((at, i) => at - (starts[i] ?? at)) : [],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function timed(work: () => Promise<unknown>, server: SubjectServer | undefined): Promise<Timed> {
  const serverCpu = (): number => (server ? serverCpuMs(server.pid) : 0)
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  // The monitor measures between timers, so the pauses let one fire before and one after work that blocks the loop.
  lag.enable()
  await pause(2 * LAG_RESOLUTION_MS)
  const [cpu, serverBefore] = [process.cpuUsage(), serverCpu()]
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const serverAfter = serverCpu()
  await pause(2 * LAG_RESOLUTION_MS)
  lag.disable()
  return {
    seconds,
    cpuMs: (user + system) / 1000,
    serverCpuMs: serverAfter - serverBefore,
    lagP99Ms: Math.max(0, lag.percentile(99) / 1e6 - LAG_RESOLUTION_MS),
  }
}

function databaseBytes(folder: string): number {
  const files = readdirSync(folder).filter((name) => /\.db(-wal)?$/.test(name))
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
