/** One kernel that is measured in turn with and without viewers: the speed of the machine and of a process drifts. */

import type { ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServerReady, ServerRequest, ServerUse } from '../http/protocol.ts'
import { askProcess, nextMessage, startProcess, stopProcess } from '../server-process.ts'
import type { HaveRead, KernelLoad, KernelOrder, Watched, Watching, WatchOrder, WatchRequest } from './protocol.ts'

export interface Plan {
  /** With viewers, until measuring starts, while code is compiled. */
  readonly warmUpMs: number
  /** How often the kernel is measured with viewers, and as often without. */
  readonly pairs: number
  readonly sliceMs: number
  /** A viewer stays for at most so long, then leaves and continues. */
  readonly stayMs: number
}

/** What the kernel did in one slice. */
export interface Slice extends Pick<ServerUse, 'steps' | 'cpuMs' | 'loopP99Ms'> {
  readonly seconds: number
}

/** One slice without viewers and one with them, one right after the other. */
export interface Pair {
  readonly alone: Slice
  readonly watched: Slice & {
    /** Events that each viewer received a second. */
    readonly received: number
  }
}

export interface Round {
  readonly load: KernelLoad['kind']
  readonly pairs: readonly Pair[]
  readonly watched: Watched
}

/** Until nothing is left of those who joined or left: the last batch, and what is kept for viewers that come back. */
const SETTLE_MS = 300

export async function measureInTurn(folder: string, load: KernelLoad, viewers: number, plan: Plan): Promise<Round> {
  mkdirSync(folder)
  await using ends = new AsyncDisposableStack()
  const kernel = startProcess('viewers/kernel.ts', { folder, load } satisfies KernelOrder)
  ends.defer(() => stopProcess(kernel))
  const { url, token } = await nextMessage<ServerReady>(kernel, 'ready')
  const watchers = startProcess('viewers/watch.ts', { url, token, viewers, stayMs: plan.stayMs } satisfies WatchOrder)
  ends.defer(() => stopProcess(watchers))
  await nextMessage(watchers, 'ready')
  const alone = (): Promise<Slice> => measureFor(kernel, plan.sliceMs)
  const watched = async (): Promise<Pair['watched']> => {
    await join(watchers)
    const before = await read(watchers)
    const slice = await measureFor(kernel, plan.sliceMs)
    const after = await read(watchers)
    await leave(watchers)
    const seconds = (after.at - before.at) / 1000
    return { ...slice, received: (after.events - before.events) / viewers / seconds }
  }
  await join(watchers)
  await pause(plan.warmUpMs)
  await leave(watchers)
  const pairs: Pair[] = []
  for (let i = 0; i < plan.pairs; i += 1) {
    // Either comes first in every other turn.
    const first = i % 2 === 0 ? await alone() : undefined
    const second = await watched()
    pairs.push({ alone: first ?? (await alone()), watched: second })
  }
  if (pairs.some(({ alone: { steps } }) => steps === 0)) throw new Error('the kernel did no work')
  return { load: load.kind, pairs, watched: await leave(watchers) }
}

async function join(watchers: ChildProcess): Promise<void> {
  await askProcess<Watching>(watchers, { kind: 'join' } satisfies WatchRequest, 'watching')
  await pause(SETTLE_MS)
}

async function leave(watchers: ChildProcess): Promise<Watched> {
  const watched = await askProcess<Watched>(watchers, { kind: 'leave' } satisfies WatchRequest, 'watched')
  await pause(SETTLE_MS)
  return watched
}

async function measureFor(kernel: ChildProcess, ms: number): Promise<Slice> {
  kernel.send({ kind: 'reset' } satisfies ServerRequest)
  const began = performance.now()
  await pause(ms)
  const { steps, cpuMs, loopP99Ms } = await askProcess<ServerUse>(
    kernel,
    { kind: 'read' } satisfies ServerRequest,
    'use',
  )
  return { seconds: (performance.now() - began) / 1000, steps, cpuMs, loopP99Ms }
}

/** What arrived lags by a part of a batch, at the beginning of a slice as at its end. */
const read = (watchers: ChildProcess): Promise<HaveRead> =>
  askProcess<HaveRead>(watchers, { kind: 'read' } satisfies WatchRequest, 'have read')
