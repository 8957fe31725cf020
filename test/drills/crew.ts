/** The worker processes of a drill. What a worker prints before it is killed counts as acknowledged. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

const POLL_MS = 50
const LIMIT_MS = 120_000

export class Crew {
  readonly acknowledged: string[] = []
  readonly #file: string
  readonly #url: string
  readonly #workers: ChildProcess[] = []
  #started = 0
  killed = 0
  /** Workers that ended by themselves. */
  broken = 0

  constructor(file: string, url: string, workers: number) {
    this.#file = file
    this.#url = url
    for (let i = 0; i < workers; i++) this.#start()
  }

  #start(): void {
    const args = ['--disable-warning=ExperimentalWarning', this.#file, this.#url, `w${++this.#started}`]
    const worker = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    createInterface(worker.stdout).on('line', (line) => this.acknowledged.push(line))
    worker.on('exit', (code) => {
      if (code !== null) this.broken++
    })
    this.#workers.push(worker)
  }

  replaceOne(): void {
    const [worker] = this.#workers.splice(randomInt(this.#workers.length), 1)
    worker?.kill('SIGKILL')
    this.killed++
    this.#start()
  }

  async waitForMoreThan(count: number): Promise<void> {
    for (let waited = 0; this.acknowledged.length <= count; waited += POLL_MS) {
      if (waited > LIMIT_MS) throw new Error(`no commit was acknowledged for ${LIMIT_MS / 1000} s`)
      await setTimeout(POLL_MS)
    }
  }

  /** Contract: all workers have ended, and their output has been read. */
  async stop(): Promise<void> {
    const running = this.#workers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    const ended = running.map((worker) => once(worker, 'close'))
    for (const worker of running) worker.kill('SIGKILL')
    await Promise.all(ended)
  }
}
