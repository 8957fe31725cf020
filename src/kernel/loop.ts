/**
 * The loop: waits for the beats of every schedule, and runs a cycle for each, one after the other, until it is told to stop.
 * Must not know: what a cycle does.
 * Invariants: I5 (cycles never overlap; whoever asks for one while one is pending gets that one); a loop that breaks is begun again, later
 * each time; what fires is on record in the commit that begins its cycle.
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import { commitOne, type Op } from '../ports/store.ts'
import { type Cycled, runCycle, type Trigger } from './cycle.ts'
import { makeUp } from './lateness.ts'
import { scheduleOf } from './schedule.ts'
import type { Settings, Surroundings } from './settings.ts'
import { type Beat, ticks } from './ticks.ts'
import { dueWith, isOnce, policyOf, type Row, rowsOf } from './timetable.ts'
import { ownZone } from './zone.ts'

const FIRST_REST_MS = 5_000
const LONGEST_REST_MS = 300_000
/** A cycle without a next beat ends after this. */
const LONGEST_CYCLE_MS = 30 * 60_000

/** A cycle that no beat brings, and whom it is for; null: everybody who has no schedule of its own. */
export type Wanted = Pick<Trigger, 'name' | 'agents'>

const MANUAL: Wanted = { name: 'manual', agents: null }

interface Asked {
  readonly wanted: Wanted
  readonly done: Promise<Cycled>
  resolve(cycled: Cycled): void
  reject(error: unknown): void
}

export class Loop {
  readonly #around: Surroundings
  readonly #update: (cycled: Cycled) => Promise<readonly Op[]>
  #changed = new AbortController()
  #asked: Asked | undefined
  #wake = (): void => {}
  #busy: Promise<unknown> = Promise.resolve()
  #next = new Map<string, number | undefined>()

  /** `update`: what is to be written down of a cycle before it is over, and what belongs into that commit. */
  constructor(around: Surroundings, update: (cycled: Cycled) => Promise<readonly Op[]>) {
    this.#around = around
    this.#update = update
  }

  /** The next beat of any schedule, while the loop runs. */
  nextBeat(): number | undefined {
    const nexts = [...this.#next.values()].filter((next) => next !== undefined)
    return nexts.length === 0 ? undefined : Math.min(...nexts)
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

  /** Contract: one cycle, now, in whatever process this is; after the one that runs. */
  once(signal: AbortSignal): Promise<Cycled> {
    return this.#inLine(() => this.#byHand(MANUAL, signal))
  }

  #byHand(wanted: Wanted, signal: AbortSignal): Promise<Cycled> {
    return this.#cycle({ ...wanted, beat: null, prompt: null, ...this.#times() }, signal)
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
      this.#next.clear()
      this.#asked?.reject(new TirelessError('aborted', 'the kernel was stopped before it came to this cycle'))
      this.#asked = undefined
    }
  }

  /** Everything that is due by now and was not there for; then it is over. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#around
    for (const row of await this.#rows()) {
      const until = await this.#open(row)
      const { fire, givenUp } = makeUp(row.schedule, policyOf(row, settings()), 'missed', until, clock.now())
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
    this.#next.clear()
    const works = [...rows.map((row) => this.#pump(row, signal, stop, healthy)), this.#manual(signal, stop)]
    try {
      await Promise.race([Promise.all(works), broken(works)])
    } finally {
      this.#changed.abort()
      await Promise.allSettled(works)
    }
  }

  async #pump(row: Row, signal: AbortSignal, stop: AbortSignal, healthy: () => void): Promise<void> {
    const until = await this.#open(row)
    const note = (after: number): void => void this.#next.set(row.schedule_id, row.schedule.next(after))
    note(Math.max(until, this.#around.clock.now()))
    for await (const beat of this.#ticks(row, signal, until)) {
      note(beat.due)
      // In line: beats of several schedules may come at one instant.
      await this.#inLine(() => this.#beat(row, beat, stop))
      healthy()
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
          await this.#byHand(asked.wanted, stop).then(asked.resolve, asked.reject)
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
    const done = this.#busy.then(work)
    this.#busy = done.catch(() => {})
    return done
  }

  #ticks(row: Row, signal: AbortSignal, until: number): AsyncGenerator<Beat, void, void> {
    const { clock, settings } = this.#around
    return ticks(row.schedule, policyOf(row, settings()), clock, signal, until)
  }

  async #beat(row: Row, beat: Beat, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#around
    // Told to stop while it stood in line: the next start makes up for it.
    if (signal.aborted) return
    const { schedule_id, agents, prompt } = row
    if (beat.missed + beat.skipped > 0)
      log('warn', 'beats given up', { schedule_id, missed: beat.missed, skipped: beat.skipped })
    // Nothing is left of one that was asked for once.
    const rest: readonly Op[] =
      row.origin === 'added' && isOnce(row) ? [{ op: 'schedule_remove', id: schedule_id }] : []
    if ((await store.setting('paused')) !== null) {
      log('info', 'beat skipped: paused', { schedule_id })
      await commitOne(store, [{ op: 'schedule_fired', id: schedule_id, instant: beat.due }, ...rest])
      return
    }
    const trigger = {
      name: schedule_id,
      beat: { schedule_id, due: beat.due },
      agents,
      prompt,
      ...this.#times(),
    }
    await this.#cycle(trigger, signal)
    if (rest.length > 0) await commitOne(store, rest)
  }

  /** Its deadline is the next beat of any schedule: none is late because of a cycle. */
  #times(): Pick<Trigger, 'deadline' | 'beatMs'> {
    const { clock, settings } = this.#around
    const { timeout } = settings()
    const now = clock.now()
    const nexts = [...this.#next.values()].filter((next) => next !== undefined && next > now) as number[]
    const deadline =
      timeout === undefined ? Math.min(now + LONGEST_CYCLE_MS, ...nexts) : now + (timeout ?? LONGEST_CYCLE_MS)
    return { deadline, beatMs: beatMs(settings(), now) }
  }

  #cycle(trigger: Trigger, signal: AbortSignal): Promise<Cycled> {
    return runCycle(this.#around, trigger, this.#update, signal)
  }

  async #open({ schedule_id: id }: Row): Promise<number> {
    const { store, clock } = this.#around
    const [{ until }] = await commitOne(store, [{ op: 'schedule_open', id, now: clock.now() }])
    return until
  }

  /** Those that make somebody due. */
  async #rows(): Promise<readonly Row[]> {
    const { store, settings } = this.#around
    const rows = rowsOf(settings(), await store.schedules())
    return rows.filter((row) => !row.paused && dueWith(row, settings().agents).length > 0)
  }
}

/** From one beat of the kernel to the next. */
export function beatMs({ schedule, timezone }: Settings, now: number): number {
  const beats = scheduleOf(schedule, timezone ?? ownZone())
  const next = beats.next(now)
  const after = next === undefined ? undefined : beats.next(next)
  return next === undefined || after === undefined ? Number.POSITIVE_INFINITY : after - next
}

/** When an agent's turn comes: by its own schedule, or the kernel's; undefined where it never does. */
export function nextFor(
  { enabled, agents, schedule, timezone }: Settings,
  agentId: string,
  now: number,
): number | undefined {
  const agent = agents.find(({ agent_id }) => agent_id === agentId)
  if (!enabled || !agent?.enabled) return undefined
  return scheduleOf(agent.schedule ?? schedule, timezone ?? ownZone()).next(now)
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
