/** One process lifetime: the real engine, kernel and commands over ports that the world answers. */

import type { Progress } from '../../src/commands/lib/progress.ts'
import { validateAndRun } from '../../src/commands/lib/validate-and-run.ts'
import { asTirelessError, TirelessError } from '../../src/domain/error.ts'
import { believed, type Clock } from '../../src/ports/clock.ts'
import { COMMANDS } from './commands.ts'
import { type ComposedProcess, composeProcess } from './compose-process.ts'
import type { SimHome } from './homes.ts'
import type { PendingCall } from './pending-calls.ts'
import type { Cut, ProcessFault } from './plan.ts'
import type { HomePlan } from './several-plan.ts'
import type { World } from './world.ts'

export type ProcessState = 'up' | 'paused' | 'dead' | 'exited'

export class SimProcess {
  readonly id: number
  /** Where it runs, if it is one of several processes. */
  readonly home: SimHome | undefined
  readonly clock: Clock
  readonly term = new AbortController()
  readonly abort = new AbortController()
  state: ProcessState = 'up'
  epoch: number | undefined
  /** Another process has joined the home after this one. */
  superseded = false
  /** The event at which its disk failed. */
  diskFailedAt = Number.POSITIVE_INFINITY
  /** It accepts no more commands. */
  isExiting = false
  /** It was paused, and another process was started in its place. */
  isReplaced = false
  /** The event at which a paused process continues. */
  resumeAt = Number.POSITIVE_INFINITY
  /** The event of SIGTERM for a process with a hanging tool. */
  termAt = Number.POSITIVE_INFINITY
  /** The event of the second SIGTERM. */
  abortAt = Number.POSITIVE_INFINITY
  /** The time of the second SIGTERM, monotonic. */
  abortedAt = Number.POSITIVE_INFINITY
  /** Its role, if it is one of several processes and stays. */
  startedAs: HomePlan['role'] | undefined
  /** Until when it cannot reach the store, monotonic. */
  cut: (Cut & { readonly until: number }) | undefined
  /** A call of it failed, because the store was away for too long. */
  lostStore = false
  /** How long it waits for a store that it cannot reach. */
  readonly patience: number
  /** Queued dispatches that it must not claim yet. */
  readonly held = new Set<string>()
  /** Since when it works, or does not, by the store's clock: it is stopped, cut off or dead. */
  worksSince = Number.POSITIVE_INFINITY
  lostAt = Number.POSITIVE_INFINITY
  /** When it was last continued after SIGSTOP, monotonic. */
  wokenAt = Number.NEGATIVE_INFINITY
  /** User commands that it is running. */
  readonly #openCommands = new Set<Promise<unknown>>()
  readonly #world: World
  readonly #parts: ComposedProcess

  /** `home`: of one of several processes. */
  constructor(world: World, home: SimHome | undefined = world.homes[0]) {
    this.#world = world
    this.home = home
    this.id = world.processes.length + 1
    this.clock =
      home?.clockOf(this) ??
      believed({
        now: () => world.wall,
        monotonic: () => world.monotonic,
        sleep: (ms, signal) => world.sleep(this, ms, signal),
      })
    this.patience = world.plan.several?.patience ?? Number.POSITIVE_INFINITY
    world.processes.push(this)
    if (home) home.process = this
    this.#parts = composeProcess(world, this)
  }

  /** Tells whether it claims from the whole queue and was not told to stop. */
  isClaiming(): boolean {
    return this.#parts.queue.isClaiming()
  }

  /** It was told to stop, or does nothing more. */
  isStopping(): boolean {
    return this.term.signal.aborted || this.isExiting
  }

  /** It has the lead after a command that needed it, but follows no schedules. */
  idlesAsLeader(): boolean {
    return this.startedAs !== undefined && !this.follows && this.#openCommands.size === 0
  }

  get follows(): boolean {
    return this.startedAs === 'all' || this.startedAs === 'scheduler'
  }

  /** Runs a command that a user sends through the socket. */
  runCommand(name: string, input: object): Promise<unknown> {
    const running = this.#run(name, input).finally(() => this.#openCommands.delete(running))
    this.#openCommands.add(running)
    return running
  }

  #run(name: string, input: object): Promise<unknown> {
    const command = COMMANDS.find((known) => known.name === name)
    if (!command) throw new TirelessError('usage', `unknown command ${name}`)
    return validateAndRun(command, this.#parts.context, input, (_: Progress) => {})
  }

  /** Runs one command as the whole process, then leaves the home and exits. */
  async runToExit(name: string, input: object): Promise<unknown> {
    try {
      const output = await this.#run(name, input)
      this.isExiting = true
      // The socket accepts no new command and answers the open ones.
      await Promise.allSettled(this.#openCommands)
      if (!this.home) this.#checkNothingPending(name)
      await this.#parts.queue.leave()
      await this.#parts.close()
      // On a shared store, a process keeps its lease until it leaves.
      if (this.home) this.#checkNothingPending(name)
      return output
    } catch (thrown) {
      this.#checkExitError(name, thrown)
      throw thrown
    } finally {
      this.#end('exited')
    }
  }

  /** I10: once a drain has returned, nothing that it started is still pending. */
  #checkNothingPending(name: string): void {
    const left = this.#world.pendingOf(this)
    if (left.length > 0)
      this.#world.fail('I10', `process ${this.id}: ${name} has ended, but these calls are pending: ${left.join(', ')}`)
  }

  #checkExitError(name: string, thrown: unknown): void {
    const { code, message } = asTirelessError(thrown)
    const known =
      (code === 'store_failed' && (Number.isFinite(this.diskFailedAt) || this.lostStore)) ||
      (code === 'store_fenced' && this.superseded) ||
      (name !== 'start' && code !== 'internal')
    if (!known) this.#world.fail('kernel', `process ${this.id}: ${name} ended with ${code}: ${message}`)
  }

  crash(how: string): void {
    this.#world.counters.add('process crashed')
    this.#world.logEvent(`${this.id} ${how}`)
    this.#end('dead')
  }

  pause(until: number): void {
    this.#world.counters.add('process paused')
    this.state = 'paused'
    this.isReplaced = !this.#world.hasHomeLock()
    this.resumeAt = until
  }

  /** Contract: what its fault interrupted goes on later. */
  suffer(fault: Exclude<ProcessFault, { kind: 'crash' }>): void {
    const { monotonic, events, several } = this.#world
    if (fault.kind === 'pause') this.pause(events + fault.events)
    else if (fault.kind === 'stop') several.stop(this, monotonic + fault.ms)
    else several.cutOff(fault.all ? this.#world.processes : [this], fault)
  }

  /** A call to the store fails after so long. */
  giveUp(call: PendingCall): void {
    this.#world.counters.add('call given up: the store is away')
    this.lostStore = true
    call.refuse(new TirelessError('store_failed', 'the database cannot be reached'))
  }

  #end(state: 'dead' | 'exited'): void {
    if (this.state === 'dead') return
    this.state = state
    this.#world.several.lose(this)
    this.#world.dropPending(this)
    this.#world.garbage.forgetProcess(this)
  }
}
