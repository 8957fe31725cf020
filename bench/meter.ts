/**
 * The inside of a measurement: a subject runs in a process of its own, is warmed up, then measured as often as asked, and
 * answers with one line of JSON. Every subject, ours or a peer, is measured by this one file.
 */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'

/** `sessions` at once, each of them `steps` steps: a model's answer with one tool call, and that call. */
export interface Load {
  readonly sessions: number
  readonly steps: number
  /** Tokens of one request, where the past is to be cut sooner than by itself. */
  readonly maxInput?: number | undefined
}

export interface Order extends Load {
  /** Databases are made and removed below it. */
  readonly folder: string
  readonly warmUpMs: number
  readonly repeat: number
}

export interface Sample {
  readonly seconds: number
  /** User and system time of all threads. */
  readonly cpuMs: number
  readonly lagP99Ms: number
  /** The subject's database and its log, once it is closed. */
  readonly bytes: number
  /** Between the beginning of the first step and the beginning of the last. */
  readonly commits: number | null
  /** With one session: milliseconds between the beginnings of neighbouring steps. */
  readonly stepMs: readonly number[]
}

export interface Bench extends Load {
  /** Where the subject's files belong. */
  readonly folder: string
  /** Says that a step begins (or the answer after the last one), and how many durable commits there were so far, if known. */
  step(commits?: number): void
  /** Contract: call it once, around the work alone: what comes before and after it is set-up. */
  measure(work: () => Promise<unknown>): Promise<void>
}

/** Runs one load from opening to closing. */
export type Subject = (bench: Bench) => Promise<void>

const WARM_UP_STEPS = 50
const LAG_RESOLUTION_MS = 10

/** The whole of a subject's process. */
export async function serve(subject: Subject): Promise<void> {
  const order = JSON.parse(process.argv[2] ?? '') as Order
  const until = performance.now() + order.warmUpMs
  while (performance.now() < until)
    await sample(subject, order.folder, { ...order, steps: Math.min(order.steps, WARM_UP_STEPS) })
  const samples: Sample[] = []
  while (samples.length < order.repeat) samples.push(await sample(subject, order.folder, order))
  console.log(JSON.stringify(samples))
}

async function sample(subject: Subject, parent: string, load: Load): Promise<Sample> {
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'run-'))
  const starts: number[] = []
  const commits: number[] = []
  let measured: Pick<Sample, 'seconds' | 'cpuMs' | 'lagP99Ms'> | undefined
  try {
    await subject({
      folder,
      sessions: load.sessions,
      steps: load.steps,
      maxInput: load.maxInput,
      step(committed) {
        starts.push(performance.now())
        if (committed !== undefined) commits.push(committed)
      },
      async measure(work) {
        measured = await timed(work)
      },
    })
    if (!measured) throw new Error('the subject measured nothing')
    const asked = load.sessions * load.steps
    if (starts.length < asked) throw new Error(`the subject began ${starts.length} of ${asked} steps`)
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

async function timed(work: () => Promise<unknown>): Promise<Pick<Sample, 'seconds' | 'cpuMs' | 'lagP99Ms'>> {
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  // It measures from timer to timer: one before the work, and one after work that never gave the loop a turn.
  lag.enable()
  await pause(2 * LAG_RESOLUTION_MS)
  const cpu = process.cpuUsage()
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  await pause(2 * LAG_RESOLUTION_MS)
  lag.disable()
  return {
    seconds,
    cpuMs: (user + system) / 1000,
    lagP99Ms: Math.max(0, lag.percentile(99) / 1e6 - LAG_RESOLUTION_MS),
  }
}

function databaseBytes(folder: string): number {
  const files = readdirSync(folder).filter((name) => /\.db(-wal)?$/.test(name))
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
