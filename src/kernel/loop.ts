/**
 * The loop: waits for the beats of every schedule, and runs a cycle for each, one after the other, until it is told to stop.
 * Must not know: what a cycle does.
 * Invariants: I5 (cycles never overlap; whoever asks for one while one is pending gets that one); a loop that breaks is begun again, later
 * each time; what fires is on record in the commit that begins its cycle.
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { type Cycled, runCycle, type Trigger } from './cycle.ts'
import { comingBeat, makeUp } from './lateness.ts'
import { isPaused } from './paused.ts'
import type { Surroundings } from './settings.ts'
import { type Beat, ticks } from './ticks.ts'
import { dueWith, isOnce, meaningless, policyOf, type Row, rowsOf } from './timetable.ts'

const FIRST_REST_MS = 5_000
const LONGEST_REST_MS = 300_000
/** A cycle without a next beat ends after this. */
export const LONGEST_CYCLE_MS = 30 * 60_000

/** A cycle that no beat brings, and whom it is for; null: everybody who has no schedule of its own. */
export type Wanted = Pick<Trigger, 'name' | 'agents'>

const MANUAL: Wanted = { name: 'manual', agents: null }
const BY_HAND = { beat: null, prompt: null }

/** How a cycle is begun: the rest of its trigger is the loop's to say. */
type Begun = Pick<Trigger, 'name' | 'beat' | 'agents' | 'prompt'> & Partial<Pick<Trigger, 'waitsFor' | 'planned'>>

interface Asked {
  readonly wanted: Wanted
  readonly done: Promise<Cycled>
  resolve(cycled: Cycled): void
  reject(error: unknown): void
}

interface AwaitedSchedule {
  readonly row: Row
  /** Nothing up to here fires any more. */
  over: number
}

export class Loop {
  readonly #around: Surroundings
  readonly #update: (cycled: Cycled) => Promise<readonly Op[]>
  #changed = new AbortController()
  #asked: Asked | undefined
  #wake = (): void => {}
  #busy: Promise<unknown> = Promise.resolve()
  /** How many cycles stand in line, and how the one that runs hears of it. */
  #inLineNow = 0
  #giveWay = new AbortController()
  /** The same of those that a beat brings. */
  #beatsInLine = 0
  #giveWayToBeat = new AbortController()
  #handedOver: readonly string[] = []
  /** The schedules whose beats are waited for, and how far each has come. */
  readonly #awaited = new Map<string, AwaitedSchedule>()

  /** `update`: what is to be written down of a cycle before it is over, and what belongs into that commit. */
  constructor(around: Surroundings, update: (cycled: Cycled) => Promise<readonly Op[]>) {
    this.#around = around
    this.#update = update
  }

  /** The next beat of any schedule, while the loop runs. */
  nextBeat(): number | undefined {
    const dues = this.#coming(this.#around.clock.now()).map(({ due }) => due)
    return dues.length === 0 ? undefined : Math.min(...dues)
  }

  /** Reckoned anew each time: a beat that is late, or a clock that was set, must not leave a schedule without a next one. */
  #coming(now: number): readonly { readonly due: number; readonly fires: number }[] {
    const { settings } = this.#around
    return [...this.#awaited.values()].flatMap(
      ({ row, over }) => comingBeat(row.schedule, policyOf(row, settings()), over, now) ?? [],
    )
  }

  /** Schedules may have changed: they are looked at anew. */
  refresh(): void {
    this.#changed.abort()
  }

  /** Contract: one cycle, after the one that runs; who asks while another waits for it gets the same. */
  now(wanted: Wanted = MANUAL): Promise<Cycled> {
    if (!this.#asked) {
      const { promise, resolve, reject } = Promise.withResolvers<Cycled>()
      this.#asked = { wanted, done: promise, resolve, reject }
      this.#wake()
    }
    return this.#asked.done
  }

  /** Contract: one cycle, now, in whatever process this is; after the one that runs. It waits also for what earlier ones left. */
  once(signal: AbortSignal, planned: () => void): Promise<Cycled> {
    return this.#inLine(() => this.#cycle({ ...MANUAL, ...BY_HAND, waitsFor: 'left', planned }, signal))
  }

  /** Contract: resolves when told to stop; rejects only where the store has failed. */
  async run(signal: AbortSignal): Promise<void> {
    let rest = FIRST_REST_MS
    try {
      while (!signal.aborted) {
        try {
          await this.#turn(signal, () => {
            rest = FIRST_REST_MS
          })
        } catch (thrown) {
          const error = asTirelessError(thrown)
          if (error.code.startsWith('store_')) throw error
          this.#around.log('error', 'kernel loop broke', { message: error.message, restart_in_ms: rest })
          await this.#around.clock.sleep(rest, signal)
          rest = Math.min(rest * 2, LONGEST_REST_MS)
        }
      }
    } finally {
      this.#awaited.clear()
      this.#asked?.reject(new TirelessError('aborted', 'the kernel was stopped before it came to this cycle'))
      this.#asked = undefined
    }
  }

  /** Everything that is due by now and was not there for; then it is over. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#around
    for (const row of await this.#rows()) {
      const awaited = await this.#await(row)
      if (!awaited) continue
      const { fire, givenUp } = makeUp(row.schedule, policyOf(row, settings()), 'missed', awaited.over, clock.now())
      for (const [i, due] of fire.entries())
        await this.#inLine(() =>
          this.#beat(row, { due, at: clock.now(), missed: i === 0 ? givenUp : 0, skipped: 0 }, signal),
        )
    }
  }

  /** With the schedules as they are, until they change. */
  async #turn(stop: AbortSignal, healthy: () => void): Promise<void> {
    this.#changed = new AbortController()
    const signal = AbortSignal.any([stop, this.#changed.signal])
    const rows = await this.#rows()
    const opened = (await Promise.all(rows.map((row) => this.#await(row)))).filter((one) => one !== undefined)
    // Before any cycle: the first one has a deadline, too.
    this.#awaited.clear()
    for (const awaited of opened) this.#awaited.set(awaited.row.schedule_id, awaited)
    const works = [...opened.map((awaited) => this.#pump(awaited, signal, stop, healthy)), this.#manual(signal, stop)]
    try {
      await Promise.race([Promise.all(works), broken(works)])
    } finally {
      this.#changed.abort()
      await Promise.allSettled(works)
    }
  }

  async #pump(awaited: AwaitedSchedule, signal: AbortSignal, stop: AbortSignal, healthy: () => void): Promise<void> {
    const { row } = awaited
    const beats = this.#ticks(row, signal, awaited.over)
    for (let turn = await beats.next(); !turn.done; ) {
      const beat = turn.value
      awaited.over = beat.due
      // In line: beats of several schedules may come at one instant.
      this.#beatsInLine += 1
      this.#giveWayToBeat.abort()
      const free = await this.#inLine(() => {
        this.#beatsInLine -= 1
        return this.#beat(row, beat, stop)
      })
      healthy()
      turn = await beats.next(free)
    }
    await aborted(signal)
  }

  async #manual(signal: AbortSignal, stop: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const asked = this.#asked
      if (asked) {
        await this.#inLine(async () => {
          if (stop.aborted) return
          this.#asked = undefined
          await this.#cycle({ ...asked.wanted, ...BY_HAND }, stop).then(asked.resolve, asked.reject)
        })
        continue
      }
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#wake = resolve
        }),
        aborted(signal),
      ])
    }
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    this.#inLineNow += 1
    this.#giveWay.abort()
    const done = this.#busy.then(() => {
      this.#inLineNow -= 1
      return work()
    })
    this.#busy = done.catch(() => {})
    return done
  }

  #ticks(row: Row, signal: AbortSignal, until: number): AsyncGenerator<Beat, void, number | undefined> {
    const { clock, settings } = this.#around
    return ticks(row.schedule, policyOf(row, settings()), clock, signal, until)
  }

  /** Contract: since when it has been ready for another one; undefined: only now. */
  async #beat(row: Row, beat: Beat, signal: AbortSignal): Promise<number | undefined> {
    const { store, log } = this.#around
    // Told to stop while it stood in line: the next start makes up for it.
    if (signal.aborted) return undefined
    const { schedule_id, agents, prompt } = row
    if (beat.missed + beat.skipped > 0)
      log('warn', 'beats given up', { schedule_id, missed: beat.missed, skipped: beat.skipped })
    // Nothing is left of one that was asked for once.
    const rest: readonly Op[] =
      row.origin === 'added' && isOnce(row) ? [{ op: 'schedule_remove', id: schedule_id }] : []
    if (await isPaused(store)) {
      log('info', 'beat skipped: paused', { schedule_id })
      await commitOne(store, [{ op: 'schedule_fired', id: schedule_id, instant: beat.due }, ...rest])
      return undefined
    }
    const trigger = { name: schedule_id, beat: { schedule_id, due: beat.due }, agents, prompt }
    const { freeSince } = await this.#cycle(trigger, signal)
    if (rest.length > 0) await commitOne(store, rest)
    return freeSince
  }

  /** Its deadline is the next beat of any schedule, or the owner's where that is sooner: none is late because of a cycle. */
  #deadline(): number {
    const { clock, settings } = this.#around
    const now = clock.now()
    // One that is due at this instant stands in line, or is this one.
    const nexts = this.#coming(now + 1).map(({ fires }) => fires)
    return Math.min(now + (settings().timeout ?? LONGEST_CYCLE_MS), ...nexts)
  }

  async #cycle(begun: Begun, signal: AbortSignal): Promise<Cycled> {
    this.#giveWay = new AbortController()
    this.#giveWayToBeat = new AbortController()
    if (this.#inLineNow > 0) this.#giveWay.abort()
    if (this.#beatsInLine > 0) this.#giveWayToBeat.abort()
    // A single cycle is waited for by whoever asked for it: it ends with its work, unless the kernel is started meanwhile.
    const giveWay = begun.waitsFor === 'left' ? this.#giveWayToBeat.signal : this.#giveWay.signal
    const trigger = { waitsFor: this.#handedOver, planned: () => {}, ...begun, deadline: this.#deadline(), giveWay }
    const cycled = await runCycle(this.#around, trigger, this.#update, signal)
    const its = new Set([...this.#handedOver, ...cycled.result.agents.map(({ dispatch_id }) => dispatch_id)])
    const gaveWay = giveWay.aborted && cycled.freeSince !== undefined
    this.#handedOver = gaveWay ? cycled.open.filter((id) => its.has(id)) : []
    return cycled
  }

  /** Undefined where nobody can tell how far it has come: the others go on. */
  async #await(row: Row): Promise<AwaitedSchedule | undefined> {
    const { store, clock, log } = this.#around
    const { schedule_id: id } = row
    try {
      const [{ until }] = await commitOne(store, [{ op: 'schedule_open', id, now: clock.now() }])
      return { row, over: until }
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      if (code !== 'row_unreadable') throw thrown
      log('error', 'schedule left out', { schedule_id: id, message })
      return undefined
    }
  }

  /** Those that make somebody due. */
  async #rows(): Promise<readonly Row[]> {
    const { store, settings, log } = this.#around
    const entries = await store.schedules()
    for (const { id, why } of meaningless(entries)) log('error', 'schedule left out', { schedule_id: id, message: why })
    const rows = rowsOf(settings(), entries)
    return rows.filter((row) => !row.paused && dueWith(row, settings().agents).length > 0)
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

/** The first that fails; those that end are not waited for. */
function broken(works: readonly Promise<unknown>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const work of works) work.catch(reject)
  })
}
