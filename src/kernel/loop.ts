/**
 * The loop: waits for the beats of all schedules and runs a cycle for each, one at a time, until it is stopped.
 * Must not know: what a cycle does.
 * Invariants: I5 (cycles never overlap; requests for a cycle share the one that is already queued); a loop that fails
 * restarts with growing delays; the commit that starts a cycle also stores that its beat has fired.
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import { untilAborted } from '../ports/deadline.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { type CycleOutcome, type CycleTrigger, runCycle } from './cycle/cycle.ts'
import { isPaused } from './pause-setting.ts'
import { isOnce, type ScheduleRow, tickPolicy } from './schedule/all-schedules.ts'
import { selectLateBeats } from './schedule/missed-beats.ts'
import { type OpenSchedule, OpenSchedules } from './schedule/open-schedules.ts'
import { type Beat, ticks } from './schedule/ticks.ts'
import type { KernelDeps } from './settings.ts'

const FIRST_DELAY_MS = 5_000
const MAX_DELAY_MS = 300_000
/** How long a cycle waits for its dispatches if no beat follows and no timeout is configured. */
export const MAX_CYCLE_MS = 30 * 60_000

/** A request for a cycle without a beat; `agents` null: all agents without their own schedule. */
type ManualCycle = Pick<CycleTrigger, 'name' | 'agents'>

const MANUAL: ManualCycle = { name: 'manual', agents: null }
const WITHOUT_BEAT = { beat: null, prompt: null }

/** The parts of a trigger that the caller of `#runCycle` sets; the loop adds the rest. */
type CycleRequest = Pick<CycleTrigger, 'name' | 'beat' | 'agents' | 'prompt'> &
  Partial<Pick<CycleTrigger, 'waitsFor' | 'planned'>>

interface QueuedCycle {
  readonly wanted: ManualCycle
  readonly done: Promise<CycleOutcome>
  resolve(outcome: CycleOutcome): void
  reject(error: unknown): void
}

export class KernelLoop {
  readonly #deps: KernelDeps
  readonly #update: (outcome: CycleOutcome) => Promise<readonly Op[]>
  #changed = new AbortController()
  #queued: QueuedCycle | undefined
  #wake = (): void => {}
  #busy: Promise<unknown> = Promise.resolve()
  /** Number of queued cycles, and the signal that makes the running cycle give way to them. */
  #queuedCycles = 0
  #giveWay = new AbortController()
  /** The same, counting only cycles that a beat started. */
  #queuedBeats = 0
  #giveWayToBeat = new AbortController()
  #handedOver: readonly string[] = []
  readonly #schedules: OpenSchedules

  /** `update`: records a cycle before it ends; returns store operations for the commit that ends the cycle. */
  constructor(deps: KernelDeps, update: (outcome: CycleOutcome) => Promise<readonly Op[]>) {
    this.#deps = deps
    this.#update = update
    this.#schedules = new OpenSchedules(deps)
  }

  /** The earliest next beat of all schedules; undefined if there is none, or the loop does not run. */
  nextBeat(): number | undefined {
    const dues = this.#schedules.upcomingBeats(this.#deps.clock.now()).map(({ due }) => due)
    return dues.length === 0 ? undefined : Math.min(...dues)
  }

  /** Reads the schedules again, because they may have changed. */
  refresh(): void {
    this.#changed.abort()
  }

  /** Contract: queues a cycle behind the running one, or shares one that is queued already; resolves when it ends. */
  requestCycle(wanted: ManualCycle = MANUAL): Promise<CycleOutcome> {
    if (!this.#queued) {
      const { promise, resolve, reject } = Promise.withResolvers<CycleOutcome>()
      this.#queued = { wanted, done: promise, resolve, reject }
      this.#wake()
    }
    return this.#queued.done
  }

  /** Contract: runs one cycle after the running one, without the loop; waits also for dispatches of earlier cycles. */
  runOnce(signal: AbortSignal, planned: () => void): Promise<CycleOutcome> {
    return this.#enqueue(() => this.#runCycle({ ...MANUAL, ...WITHOUT_BEAT, waitsFor: 'left', planned }, signal))
  }

  /** Contract: resolves when stopped; rejects only if the store has failed. */
  async run(signal: AbortSignal): Promise<void> {
    let delay = FIRST_DELAY_MS
    try {
      while (!signal.aborted) {
        try {
          await this.#runUntilChanged(signal, () => {
            delay = FIRST_DELAY_MS
          })
        } catch (thrown) {
          const error = asTirelessError(thrown)
          if (error.code.startsWith('store_')) throw error
          this.#deps.log('error', 'kernel loop failed', { message: error.message, restart_in_ms: delay })
          await this.#deps.clock.sleep(delay, signal)
          delay = Math.min(delay * 2, MAX_DELAY_MS)
        }
      }
    } finally {
      this.#schedules.close()
      this.#queued?.reject(new TirelessError('aborted', 'the kernel stopped before this cycle started'))
      this.#queued = undefined
    }
  }

  /** Fires the missed beats that the policy wants fired, each with its cycle, then returns. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#deps
    for (const row of await this.#schedules.activeRows()) {
      const awaited = await this.#schedules.read(row)
      if (!awaited) continue
      const { fire, dropped: givenUp } = selectLateBeats(
        row.schedule,
        tickPolicy(row, settings()),
        'missed',
        awaited.over,
        clock.now(),
      )
      for (const [i, due] of fire.entries())
        await this.#enqueue(() =>
          this.#runBeat(row, { due, at: clock.now(), missed: i === 0 ? givenUp : 0, skipped: 0 }, signal),
        )
    }
  }

  /** Runs with the current schedules until they change. */
  async #runUntilChanged(stop: AbortSignal, onSuccess: () => void): Promise<void> {
    this.#changed = new AbortController()
    const signal = AbortSignal.any([stop, this.#changed.signal])
    // Opened before any cycle starts, because the deadline of the first cycle depends on all schedules.
    const opened = await this.#schedules.open()
    const tasks = [
      ...opened.map((awaited) => this.#fireBeats(awaited, signal, stop, onSuccess)),
      this.#runManualCycles(signal, stop),
    ]
    try {
      await Promise.race([Promise.all(tasks), firstFailure(tasks)])
    } finally {
      this.#changed.abort()
      await Promise.allSettled(tasks)
    }
  }

  async #fireBeats(
    awaited: OpenSchedule,
    signal: AbortSignal,
    stop: AbortSignal,
    onSuccess: () => void,
  ): Promise<void> {
    const { row } = awaited
    const beats = this.#ticks(row, signal, awaited.over)
    for (let turn = await beats.next(); !turn.done; ) {
      const beat = turn.value
      awaited.over = beat.due
      // Beats are queued, because beats of several schedules may come at the same instant.
      this.#queuedBeats += 1
      this.#giveWayToBeat.abort()
      const freeSince = await this.#enqueue(() => {
        this.#queuedBeats -= 1
        return this.#runBeat(row, beat, stop)
      })
      onSuccess()
      turn = await beats.next(freeSince)
    }
    await untilAborted(signal)
  }

  async #runManualCycles(signal: AbortSignal, stop: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const queued = this.#queued
      if (queued) {
        await this.#enqueue(async () => {
          if (stop.aborted) return
          this.#queued = undefined
          await this.#runCycle({ ...queued.wanted, ...WITHOUT_BEAT }, stop).then(queued.resolve, queued.reject)
        })
        continue
      }
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#wake = resolve
        }),
        untilAborted(signal),
      ])
    }
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    this.#queuedCycles += 1
    this.#giveWay.abort()
    const done = this.#busy.then(() => {
      this.#queuedCycles -= 1
      return task()
    })
    this.#busy = done.catch(() => {})
    return done
  }

  #ticks(row: ScheduleRow, signal: AbortSignal, until: number): AsyncGenerator<Beat, void, number | undefined> {
    const { clock, settings } = this.#deps
    return ticks(row.schedule, tickPolicy(row, settings()), clock, signal, until)
  }

  /** Contract: the instant since which the loop was free for another beat; undefined: only now. */
  async #runBeat(row: ScheduleRow, beat: Beat, signal: AbortSignal): Promise<number | undefined> {
    const { store, log } = this.#deps
    // Stopped while the beat was queued: the next start of the kernel fires it.
    if (signal.aborted) return undefined
    const { schedule_id, agents, prompt } = row
    if (beat.missed + beat.skipped > 0)
      log('warn', 'beats dropped', { schedule_id, missed: beat.missed, skipped: beat.skipped })
    // A one-time schedule is removed after its beat.
    const removal: readonly Op[] =
      row.origin === 'added' && isOnce(row) ? [{ op: 'schedule_remove', id: schedule_id }] : []
    if (await isPaused(store)) {
      log('info', 'beat skipped: paused', { schedule_id })
      await commitOne(store, [{ op: 'schedule_fired', id: schedule_id, instant: beat.due }, ...removal])
      return undefined
    }
    const trigger = { name: schedule_id, beat: { schedule_id, due: beat.due }, agents, prompt }
    const { freeSince } = await this.#runCycle(trigger, signal)
    if (removal.length > 0) await commitOne(store, removal)
    return freeSince
  }

  /** A cycle's deadline: the next beat of all schedules, or the timeout if sooner. So no cycle makes a beat late. */
  #deadline(): number {
    const { clock, settings } = this.#deps
    const now = clock.now()
    // A beat that is due at this very instant is either queued already, or the one that started this cycle.
    const nexts = this.#schedules.upcomingBeats(now + 1).map(({ fires }) => fires)
    return Math.min(now + (settings().timeout ?? MAX_CYCLE_MS), ...nexts)
  }

  async #runCycle(request: CycleRequest, signal: AbortSignal): Promise<CycleOutcome> {
    this.#giveWay = new AbortController()
    this.#giveWayToBeat = new AbortController()
    if (this.#queuedCycles > 0) this.#giveWay.abort()
    if (this.#queuedBeats > 0) this.#giveWayToBeat.abort()
    // A single cycle waits until its dispatches end, because its caller waits for them; only a beat makes it give way.
    const giveWay = request.waitsFor === 'left' ? this.#giveWayToBeat.signal : this.#giveWay.signal
    const trigger = { waitsFor: this.#handedOver, planned: () => {}, ...request, deadline: this.#deadline(), giveWay }
    const outcome = await runCycle(this.#deps, trigger, this.#update, signal)
    const known = new Set([...this.#handedOver, ...outcome.result.agents.map(({ dispatch_id }) => dispatch_id)])
    const gaveWay = giveWay.aborted && outcome.freeSince !== undefined
    this.#handedOver = gaveWay ? outcome.open.filter((id) => known.has(id)) : []
    return outcome
  }
}

/** Rejects with the first failure; never resolves. */
function firstFailure(tasks: readonly Promise<unknown>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const task of tasks) task.catch(reject)
  })
}
