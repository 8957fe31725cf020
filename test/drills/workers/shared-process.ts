/** One of the processes of the drill: `tireless start` in a home of its own, which is killed, stopped and cut off. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessRole } from '../../../src/domain/process-role.ts'
import { MAIN, NODE_FLAGS } from '../../crash/kills.ts'
import type { DatabaseWay } from './database-way.ts'

interface SharedProcessOptions {
  readonly name: string
  readonly role: ProcessRole
  readonly folder: string
  readonly way: DatabaseWay
  /** Flags of Node beside the usual ones. */
  readonly flags: readonly string[]
  /** Contract: the configuration with this address of the store. */
  configWith(store: string): string
}

export class SharedProcess {
  readonly name: string
  readonly role: ProcessRole
  readonly way: DatabaseWay
  readonly home: string
  /** Names by which the database knew each start, by process id. */
  readonly starts = new Map<number, string>()
  /** How often it ended although nobody killed it. */
  broken = 0
  /** Since when it cannot renew its lease, in milliseconds of the wall clock; undefined: it can, as far as we know. */
  lostSince: number | undefined
  /** Commands that ran although the lease of their process had ended. */
  readonly outlasting = new Map<string, number>()
  readonly #options: SharedProcessOptions
  #child: ChildProcess | undefined
  #isStopped = false

  constructor(options: SharedProcessOptions) {
    this.#options = options
    this.name = options.name
    this.role = options.role
    this.way = options.way
    this.home = join(options.folder, options.name)
    mkdirSync(this.home)
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get mayLead(): boolean {
    return this.role === 'all' || this.role === 'scheduler'
  }

  /** Whether it runs, is not stopped, and reaches the database if that runs. */
  get isUndisturbed(): boolean {
    return this.#child !== undefined && !this.#isStopped && this.way.isOpen
  }

  /** Takes note of a command that runs in this home now. */
  noteCommand(name: string, leaseMs: number): void {
    const over = Date.now() - (this.lostSince ?? Number.POSITIVE_INFINITY) - leaseMs
    if (over > 0) this.outlasting.set(name, over)
  }

  start(): void {
    const name = `${this.name}-${this.starts.size + 1}`
    writeFileSync(join(this.home, 'tireless.yaml'), this.#options.configWith(this.way.urlFor(name)))
    const output = openSync(join(this.home, 'output'), 'a')
    const args = [...NODE_FLAGS, ...this.#options.flags, MAIN, 'start', '--role', this.role, '--home', this.home]
    const env = { PATH: process.env.PATH, HOME: this.#options.folder, TMPDIR: this.#options.folder }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', output, output] })
    child.once('exit', () => {
      if (this.#child !== child) return
      this.#child = undefined
      this.broken += 1
    })
    this.#child = child
    this.#isStopped = false
    this.starts.set(child.pid ?? 0, name)
  }

  kill(): void {
    const child = this.#child
    this.#child = undefined
    child?.kill('SIGKILL')
  }

  pause(): void {
    this.#isStopped = true
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#isStopped = false
    this.#child?.kill('SIGCONT')
  }

  /** Contract: the exit code after SIGTERM. */
  async end(): Promise<number | null> {
    const child = this.#child
    if (!child) return null
    this.#child = undefined
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    return (await exited)[0]
  }
}
