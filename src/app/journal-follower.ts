/**
 * Follows the journals of all sessions on a shared store, so that viewers of this process see the runs of others. It
 * reads only while there are viewers and something is new. If too much is new, it goes on at the end, and the viewers
 * have to fetch what they missed.
 */

import { asTirelessError } from '../domain/error.ts'
import { type JournalRecord, recordsOfRun } from '../domain/journal-record.ts'
import { createWakeSignal } from '../kernel/queue/wake-signal.ts'
import type { Clock } from '../ports/clock.ts'
import { notifySafely } from '../ports/run-sink.ts'
import type { JournalEntry, JournalPlace } from '../ports/store/sessions.ts'
import { fallbackIfUnreadable, type Store } from '../ports/store.ts'
import type { RunFeed } from './run-feed.ts'

/** Entries per read. After a read, the event loop is free for at least as long as it took, and for this time. */
const ENTRIES_AT_ONCE = 100
const PAUSE_MS = 30
const PAUSE_FACTOR = 2
/** After so many full reads in a row, the rest is skipped. */
const MOST_FULL_READS = 50
const RETRY_MS = 1000
/** The most sessions whose place in the journal is kept. */
const MAX_SESSIONS = 5000

interface FollowerDeps {
  readonly store: Pick<Store, 'journal' | 'journalEnd' | 'journalAfter' | 'onAppend'>
  readonly clock: Clock
  readonly feed: RunFeed
  /** Entries were skipped: what viewers have seen of runs is incomplete. */
  onSkipped(): void
}

/** The last record of a session that was read, and the run that it belongs to; undefined: to none. */
interface SessionPlace {
  readonly seq: number
  readonly run_id: string | undefined
}

/** How far the journals were read. */
interface Progress {
  place: JournalPlace | undefined
  /** What was read and is not passed on yet. */
  entries: JournalEntry[]
  isEnd: boolean
  /** How many reads in a row have not reached the end. */
  fullReads: number
}

export class JournalFollower {
  readonly #deps: FollowerDeps
  readonly #sessions = new Map<string, SessionPlace>()
  #viewers = 0
  #stop = new AbortController()
  #reading: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(deps: FollowerDeps) {
    this.#deps = deps
  }

  /** Contract: follows the journals until the result is called as often as this. */
  follow(): () => void {
    this.#viewers += 1
    if (this.#viewers === 1 && !this.#isClosed) this.#begin()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#viewers -= 1
      if (this.#viewers === 0) this.#end()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#end()
    await this.#reading
  }

  #begin(): void {
    const { feed } = this.#deps
    this.#stop = new AbortController()
    const { signal } = this.#stop
    feed.beginFollowing()
    this.#reading = this.#reading.then(() => this.#read(signal))
  }

  #end(): void {
    this.#stop.abort()
    this.#sessions.clear()
    this.#deps.feed.endFollowing()
  }

  /** Contract: never rejects. */
  async #read(stop: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps
    const news = createWakeSignal()
    const unsubscribe = store.onAppend?.(() => news.ring())
    const progress: Progress = { place: undefined, entries: [], isEnd: false, fullReads: 0 }
    while (!stop.aborted) {
      const [since, began] = [news.ringCount(), clock.monotonic()]
      try {
        await this.#readOnce(progress, stop)
        await clock.sleep(Math.max(PAUSE_MS, PAUSE_FACTOR * (clock.monotonic() - began)), stop)
        if (progress.isEnd) await news.wait(since, stop)
      } catch (thrown) {
        if (asTirelessError(thrown).code === 'store_closed') break
        await clock.sleep(RETRY_MS, stop)
      }
    }
    unsubscribe?.()
  }

  async #readOnce(progress: Progress, stop: AbortSignal): Promise<void> {
    const { store } = this.#deps
    if (progress.entries.length === 0) {
      progress.place ??= await store.journalEnd()
      const found = await store.journalAfter(progress.place, ENTRIES_AT_ONCE)
      progress.fullReads = found.isEnd ? 0 : progress.fullReads + 1
      Object.assign(progress, { ...found, entries: [...found.entries] })
    }
    for (let [entry] = progress.entries; entry && !stop.aborted; [entry] = progress.entries) {
      await this.#passOn(entry, stop)
      progress.entries.shift()
    }
    if (progress.fullReads <= MOST_FULL_READS) return
    this.#sessions.clear()
    this.#deps.feed.forgetOthers()
    this.#deps.onSkipped()
    Object.assign(progress, { place: undefined, fullReads: 0 })
  }

  /** Contract: rejects, before anything is passed on, if the store fails. */
  async #passOn({ session_id, records }: JournalEntry, stop: AbortSignal): Promise<void> {
    const [first] = records
    if (!first) return
    const journal = this.#isKnown(session_id, first)
      ? undefined
      : await fallbackIfUnreadable(this.#deps.store.journal(session_id), [])
    if (!stop.aborted) notifySafely(() => this.#passRecords(session_id, records, journal))
  }

  /** Whether the records before this one need not be read. */
  #isKnown(session_id: string, first: JournalRecord): boolean {
    const place = this.#sessions.get(session_id)
    if (place ? first.seq !== place.seq + 1 : first.kind !== 'run_started') return false
    const run_id = runAt(place?.run_id, first)
    return run_id === undefined || !this.#deps.feed.needsPast(run_id, first)
  }

  /** `journal`: the session's records, if those before the first one are needed; empty if they are unreadable. */
  #passRecords(
    session_id: string,
    records: readonly JournalRecord[],
    journal: readonly JournalRecord[] | undefined,
  ): void {
    const first = records[0]?.seq ?? 0
    const earlier = journal?.filter(({ seq }) => seq < first) ?? []
    let run_id = journal ? lastRunIn(earlier) : this.#sessions.get(session_id)?.run_id
    let past = run_id === undefined ? [] : recordsOfRun(earlier, run_id)
    for (const record of records) {
      run_id = runAt(run_id, record)
      if (run_id !== undefined) this.#deps.feed.addFromJournal({ run_id, session_id }, record, past)
      past = []
      if (record.kind === 'run_ended') run_id = undefined
    }
    this.#remember(session_id, { seq: records.at(-1)?.seq ?? 0, run_id })
  }

  #remember(session_id: string, place: SessionPlace): void {
    this.#sessions.delete(session_id)
    this.#sessions.set(session_id, place)
    if (this.#sessions.size <= MAX_SESSIONS) return
    const [[oldest, { run_id }] = ['', place]] = this.#sessions
    this.#sessions.delete(oldest)
    if (run_id !== undefined) this.#deps.feed.forget(run_id)
  }
}

const runAt = (run_id: string | undefined, record: JournalRecord): string | undefined =>
  record.kind === 'run_started' ? record.run_id : run_id

/** The run that the records end in; undefined: in none. */
function lastRunIn(records: readonly JournalRecord[]): string | undefined {
  const last = records.findLast(({ kind }) => kind === 'run_started' || kind === 'run_ended')
  return last?.kind === 'run_started' ? last.run_id : undefined
}
