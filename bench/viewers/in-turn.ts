/** Kernels that run in turn, a slice of time each, while the others are stopped: the speed of the machine drifts. */

import type { ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServerReady, ServerRequest, ServerUse } from '../http/protocol.ts'
import { medianOf } from '../measure.ts'
import { askProcess, nextMessage, startProcess, stopProcess } from '../server-process.ts'
import type { HaveRead, KernelLoad, KernelOrder, Watched, Watching, WatchOrder, WatchRequest } from './protocol.ts'

export interface Plan {
  /** Until measuring starts, while code is compiled. */
  readonly warmUpMs: number
  /** How often each kernel runs, and for how long. */
  readonly slices: number
  readonly sliceMs: number
  /** A viewer stays for at most so long, then leaves and continues. */
  readonly stayMs: number
}

/** What one kernel did in all its slices. */
export interface Round {
  readonly load: KernelLoad['kind']
  readonly viewers: number
  readonly seconds: number
  readonly steps: number
  readonly cpuMs: number
  readonly loopP99Ms: number
  /** Events that each viewer received a second, until the last slice; undefined: it has no viewers. */
  readonly received: number | undefined
  readonly watched: Watched | undefined
}

/** `counts`: how many viewers each kernel has. */
export async function measureInTurn(
  folder: string,
  load: KernelLoad,
  counts: readonly number[],
  plan: Plan,
): Promise<readonly Round[]> {
  mkdirSync(folder)
  await using ends = new AsyncDisposableStack()
  const kernels: WatchedKernel[] = []
  for (const viewers of counts) {
    const kernel = await WatchedKernel.start(join(folder, String(kernels.length)), load, viewers, plan.stayMs)
    ends.defer(() => kernel.end())
    await kernel.runFor(plan.warmUpMs)
    kernels.push(kernel)
  }
  for (let slice = 0; slice < plan.slices; slice += 1)
    // Either comes first in every other turn.
    for (const kernel of slice % 2 === 0 ? kernels : kernels.toReversed()) await kernel.measure(plan.sliceMs)
  return await Promise.all(kernels.map((kernel) => kernel.result(load.kind)))
}

class WatchedKernel {
  readonly #kernel: ChildProcess
  readonly #watchers: ChildProcess | undefined
  readonly #viewers: number
  readonly #uses: (ServerUse & { readonly seconds: number })[] = []
  #runSeconds = 0
  /** Events that all viewers together have received. */
  #events = 0

  private constructor(kernel: ChildProcess, watchers: ChildProcess | undefined, viewers: number) {
    this.#kernel = kernel
    this.#watchers = watchers
    this.#viewers = viewers
  }

  /** Contract: it is stopped until it is its turn. */
  static async start(folder: string, load: KernelLoad, viewers: number, stayMs: number): Promise<WatchedKernel> {
    mkdirSync(folder)
    const kernel = startProcess('viewers/kernel.ts', { folder, load } satisfies KernelOrder)
    const { url, token } = await nextMessage<ServerReady>(kernel, 'ready')
    const order: WatchOrder = { url, token, viewers, stayMs }
    const watchers = viewers === 0 ? undefined : startProcess('viewers/watch.ts', order)
    if (watchers) await nextMessage<Watching>(watchers, 'watching')
    kernel.kill('SIGSTOP')
    return new WatchedKernel(kernel, watchers, viewers)
  }

  async runFor(ms: number): Promise<void> {
    await this.#run(() => pause(ms))
  }

  async measure(ms: number): Promise<void> {
    await this.#run(async () => {
      this.#kernel.send({ kind: 'reset' } satisfies ServerRequest)
      const began = performance.now()
      await pause(ms)
      const use = await askProcess<ServerUse>(this.#kernel, { kind: 'read' } satisfies ServerRequest, 'use')
      this.#uses.push({ ...use, seconds: (performance.now() - began) / 1000 })
    })
  }

  async result(load: KernelLoad['kind']): Promise<Round> {
    const sum = (key: 'steps' | 'cpuMs' | 'seconds'): number => this.#uses.reduce((all, use) => all + use[key], 0)
    const stop: WatchRequest = { kind: 'stop' }
    // Viewers that are about to come back are let in.
    this.#kernel.kill('SIGCONT')
    const watched = this.#watchers && (await askProcess<Watched>(this.#watchers, stop, 'watched'))
    if (sum('steps') === 0) throw new Error('the kernel did no work')
    return {
      ...{ load, viewers: this.#viewers, seconds: sum('seconds'), steps: sum('steps'), cpuMs: sum('cpuMs') },
      loopP99Ms: medianOf(this.#uses.map(({ loopP99Ms }) => loopP99Ms)),
      ...{ received: watched && this.#events / this.#viewers / this.#runSeconds, watched },
    }
  }

  async end(): Promise<void> {
    this.#kernel.kill('SIGCONT')
    if (this.#watchers) await stopProcess(this.#watchers)
    await stopProcess(this.#kernel)
  }

  async #run(work: () => Promise<unknown>): Promise<void> {
    this.#kernel.kill('SIGCONT')
    const began = performance.now()
    await work()
    this.#runSeconds += (performance.now() - began) / 1000
    this.#kernel.kill('SIGSTOP')
    const read: WatchRequest = { kind: 'read' }
    if (this.#watchers) this.#events = (await askProcess<HaveRead>(this.#watchers, read, 'have read')).events
  }
}
