/**
 * The clock of an app, with the time that the commits of its store bear out. The record is written with other commits,
 * at most once a minute: an idle program writes nothing.
 */

import {
  afterCommit,
  believeWall,
  borneOutTime,
  budgetTime,
  CLOCK_SETTING,
  type ClockRecord,
  cutoffAfterDays,
  firstClockRecord,
  isInDoubt,
  readClockRecord,
} from '../domain/borne-out.ts'
import type { Json } from '../domain/json.ts'
import type { BasicClock, Clock } from '../ports/clock.ts'
import { type Batch, commitOne, fallbackIfUnreadable, type Op, type Store } from '../ports/store.ts'

const WRITE_EVERY_MS = 60_000

export class StoreClock implements Clock {
  readonly #clock: BasicClock
  #store: Store | undefined
  #record: ClockRecord | undefined
  /** Monotonic time of the last commit. */
  #committedAt = 0
  /** The record in the store. */
  #written: ClockRecord | undefined

  constructor(clock: BasicClock) {
    this.#clock = clock
  }

  now = (): number => this.#clock.now()
  monotonic = (): number => this.#clock.monotonic()
  sleep: Clock['sleep'] = (ms, signal) => this.#clock.sleep(ms, signal)

  borneOut(): number {
    return this.#record === undefined ? this.now() : borneOutTime(this.#record, this.#reading())
  }

  budgetNow(): number {
    return this.#record === undefined ? this.now() : budgetTime(this.#record, this.#reading())
  }

  /** Contract: how far the wall clock is ahead of what is borne out; undefined if it is not in doubt. */
  doubt(): { readonly ahead_ms: number; readonly borne_out: number } | undefined {
    const reading = this.#reading()
    if (this.#record === undefined || !isInDoubt(this.#record, reading)) return undefined
    const borne_out = borneOutTime(this.#record, reading)
    return { ahead_ms: reading.wall - borne_out, borne_out }
  }

  /** Contract: records from before it are older than so many days on which the store committed; undefined: none is. */
  cutoff(days: number): number | undefined {
    return this.#record && cutoffAfterDays(this.#record, days, this.borneOut())
  }

  /** Contract: the owner says that the wall clock is right; on disk when it resolves. */
  async accept(): Promise<void> {
    const store = this.#store
    if (store === undefined) return
    const believed = believeWall(this.#record ?? firstClockRecord(undefined, this.now()), this.now())
    await commitOne(store, [this.#writeOp(believed)])
    this.#record = believed
    this.#committedAt = this.monotonic()
    this.#written = believed
  }

  /** Contract: a store whose commits are noted. Call it once, before anything is committed. */
  async follow(store: Store): Promise<Store> {
    this.#store = store
    this.#written = readClockRecord(await fallbackIfUnreadable(store.setting(CLOCK_SETTING), null))
    this.#record = this.#written ?? firstClockRecord(await newestInstant(store), this.now())
    this.#committedAt = this.monotonic()
    return { ...store, commit: (batches) => this.#commit(store, batches) }
  }

  async #commit(store: Store, batches: readonly Batch[]): ReturnType<Store['commit']> {
    if (this.#record === undefined || batches.every(({ ops }) => ops.length === 0)) return store.commit(batches)
    const before = this.#record
    const next = afterCommit(before, this.#reading())
    const isDue = this.#written === undefined || mustBeWritten(this.#written, next)
    const outcomes = await store.commit(isDue ? [...batches, { ops: [this.#writeOp(next)] }] : batches)
    // Another commit, or the owner's word, may have come first: it is not older.
    if (this.#record === before) {
      this.#record = next
      this.#committedAt = this.monotonic()
    }
    if (!isDue) return outcomes
    this.#written = next
    return outcomes.slice(0, batches.length)
  }

  #writeOp(record: ClockRecord): Op {
    return { op: 'set', name: CLOCK_SETTING, value: record as unknown as Json }
  }

  #reading(): { readonly elapsed: number; readonly wall: number } {
    return { elapsed: this.monotonic() - this.#committedAt, wall: this.now() }
  }
}

function mustBeWritten(written: ClockRecord, next: ClockRecord): boolean {
  return (
    Math.abs(next.at - written.at) >= WRITE_EVERY_MS ||
    next.days !== written.days ||
    (next.doubt === null) !== (written.doubt === null) ||
    (next.left === null) !== (written.left === null)
  )
}

/** A home of an earlier version has no record: what its newest work says is borne out. */
async function newestInstant(store: Store): Promise<number | undefined> {
  const [newest] = await fallbackIfUnreadable(store.dispatches({ limit: 1 }), [])
  return newest === undefined ? undefined : Date.parse(newest.updated_at)
}
