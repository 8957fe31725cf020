import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type JournalRecord, recordsOfRun } from '../domain/journal-record.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunRef } from '../ports/run-sink.ts'
import type { JournalEntry } from '../ports/store/sessions.ts'
import { newTestRecord } from '../testing/store-test-helpers.ts'
import { JournalFollower } from './journal-follower.ts'
import { RunFeed } from './run-feed.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Its sleeps end at once. */
const CLOCK: Clock = { now: () => 0, monotonic: () => 0, borneOut: () => 0, budgetNow: () => 0, sleep: turn }

/** The journals of a store that other processes write to, too. */
class Journals {
  readonly entries: JournalEntry[] = []
  readonly #listeners = new Set<() => void>()
  reads = 0

  append(session_id: string, records: readonly JournalRecord[]): void {
    this.entries.push({ session_id, records })
    for (const listener of this.#listeners) listener()
  }

  readonly journal = async (session_id: string): Promise<readonly JournalRecord[]> => {
    const found = this.entries.filter((entry) => entry.session_id === session_id).flatMap(({ records }) => records)
    await turn()
    return found
  }

  readonly journalEnd = async () => ({ entry: this.entries.length, open: [] })

  readonly journalAfter = async ({ entry }: { readonly entry: number }, limit: number) => {
    this.reads += 1
    const entries = this.entries.slice(entry, entry + limit)
    return { entries, place: { entry: entry + entries.length, open: [] }, isEnd: entries.length < limit }
  }

  readonly onAppend = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  lastSeq(session_id: string): number {
    return this.entries.findLast((entry) => entry.session_id === session_id)?.records.at(-1)?.seq ?? 0
  }
}

/** What a viewer got: for each run its records, those that it was given at the opening included. */
class ViewedRuns {
  readonly runs = new Map<string, number[]>()
  readonly open = new Set<string>()
  skips = 0

  readonly sink = {
    onRunOpened: ({ run_id }: RunRef, past: readonly JournalRecord[]): void => {
      assert.ok(!this.open.has(run_id), `${run_id} is opened once`)
      this.open.add(run_id)
      const seqs = past.map(({ seq }) => seq)
      // It was closed before: nothing may have been left out meanwhile.
      if (this.runs.has(run_id)) assert.deepEqual(seqs, this.runs.get(run_id))
      else this.runs.set(run_id, seqs)
    },
    onRecord: ({ run_id }: RunRef, { seq }: JournalRecord): void => {
      assert.ok(this.open.has(run_id), `${run_id} is open`)
      this.runs.get(run_id)?.push(seq)
    },
    onRunClosed: ({ run_id }: RunRef): void => assert.ok(this.open.delete(run_id)),
    delta() {},
  }
}

function follow(journals: Journals) {
  const viewed = new ViewedRuns()
  const feed = new RunFeed(viewed.sink)
  const store = journals as unknown as ConstructorParameters<typeof JournalFollower>[0]['store']
  const follower = new JournalFollower({ store, clock: CLOCK, feed, onSkipped: () => (viewed.skips += 1) })
  return { viewed, feed, follower }
}

const record = (seq: number, kind: 'step' | 'park' | 'end', run_id: string): JournalRecord =>
  kind === 'end'
    ? newTestRecord(seq, { kind: 'run_ended', run_id })
    : newTestRecord(seq, {
        ...{ kind: 'step_committed', turn: seq },
        next: kind === 'park' ? { kind: 'park', wait: { kind: 'retry' } } : { kind: 'continue' },
      } as Partial<JournalRecord>)

interface Turn {
  readonly session: number
  readonly isHere: boolean
  readonly steps: readonly ('step' | 'park')[]
  readonly end: boolean
  readonly pause: number
}

const TURNS = fc.array(
  fc.record<Turn>({
    session: fc.nat({ max: 2 }),
    isHere: fc.boolean(),
    steps: fc.array(fc.constantFrom('step', 'step', 'step', 'park'), { minLength: 1, maxLength: 5 }),
    end: fc.boolean(),
    pause: fc.nat({ max: 3 }),
  }),
  { maxLength: 25 },
)

/** Runs go on in this process or in another one. Contract: the records of each run. */
async function work(journals: Journals, feed: RunFeed, turns: readonly Turn[]): Promise<Map<string, number[]>> {
  const current = new Map<string, string>()
  const written = new Map<string, number[]>()
  for (const [i, { session, isHere, steps, end, pause }] of turns.entries()) {
    const session_id = `s${session}`
    const isNew = !current.has(session_id)
    const run_id = current.get(session_id) ?? `r${i}`
    current.set(session_id, run_id)
    const ref = { run_id, session_id }
    if (isHere) feed.onRunOpened(ref, recordsOfRun(await journals.journal(session_id), run_id))
    let seq = journals.lastSeq(session_id)
    const add = async (made: (seq: number) => JournalRecord): Promise<void> => {
      seq += 1
      const added = made(seq)
      written.set(run_id, [...(written.get(run_id) ?? []), seq])
      journals.append(session_id, [added])
      // The journal may bring the record before the run itself does.
      for (let turns = 0; turns < pause; turns += 1) await turn()
      if (isHere) feed.onRecord(ref, added)
    }
    if (isNew) await add((n) => newTestRecord(n, { run_id }))
    for (const kind of steps) await add((n) => record(n, kind, run_id))
    if (end) await add((n) => record(n, 'end', run_id))
    if (end) current.delete(session_id)
    if (isHere) feed.onRunClosed(ref)
  }
  return written
}

test('E15: a viewer gets each record of all runs once, in order, whichever process they run in', async () => {
  await fc.assert(
    fc.asyncProperty(TURNS, async (turns) => {
      const journals = new Journals()
      const { viewed, feed, follower } = follow(journals)
      const stop = follower.follow()
      const written = await work(journals, feed, turns)
      const isComplete = (): boolean =>
        [...written].every(([run, seqs]) => viewed.runs.get(run)?.length === seqs.length)
      for (let waited = 0; !isComplete() && waited < 2000; waited += 1) await turn()
      assert.deepEqual([...viewed.runs].toSorted(), [...written].toSorted())
      stop()
      await follower.close()
      assert.deepEqual([...viewed.open], [])
    }),
    { numRuns: 200 },
  )
})

test('E15: a viewer that comes later gets the rest of a run; without viewers nothing is read', async () => {
  const journals = new Journals()
  const { viewed, follower } = follow(journals)
  journals.append('s', [newTestRecord(1, { run_id: 'r' })])
  await turn()
  assert.equal(journals.reads, 0)
  const stop = follower.follow()
  for (let i = 0; i < 20; i += 1) await turn()
  const { reads } = journals
  for (let i = 0; i < 20; i += 1) await turn()
  assert.equal(journals.reads, reads, 'nothing is read while nothing is new')
  journals.append('s', [record(2, 'step', 'r')])
  for (let i = 0; i < 50; i += 1) await turn()
  assert.deepEqual(viewed.runs.get('r'), [1, 2])
  stop()
  await follower.close()
})

test('E15: if too much is new, the rest is skipped and the viewers are told; then it goes on', async () => {
  const journals = new Journals()
  const { viewed, follower } = follow(journals)
  const stop = follower.follow()
  for (let i = 0; i < 10; i += 1) await turn()
  for (let i = 0; i < 20_000; i += 1) journals.entries.push({ session_id: `s${i}`, records: [newTestRecord(1)] })
  journals.append('first', [newTestRecord(1, { run_id: 'first' })])
  for (let i = 0; i < 5000 && viewed.skips === 0; i += 1) await turn()
  assert.equal(viewed.skips, 1)
  assert.equal(viewed.runs.has('first'), false)
  for (let i = 0; i < 20; i += 1) await turn()
  journals.append('first', [record(2, 'step', 'first')])
  for (let i = 0; i < 50; i += 1) await turn()
  assert.deepEqual(viewed.runs.get('first'), [1, 2])
  stop()
  await follower.close()
})

test('E15: unreadable entries and garbage harm no other session', async () => {
  const garbage = fc.array(fc.oneof(fc.anything(), fc.record({ seq: fc.anything(), kind: fc.anything() })))
  await fc.assert(
    fc.asyncProperty(fc.array(garbage, { maxLength: 10 }), async (bad) => {
      const journals = new Journals()
      const { viewed, follower } = follow(journals)
      const stop = follower.follow()
      for (let i = 0; i < 5; i += 1) await turn()
      journals.append('good', [newTestRecord(1, { run_id: 'good' })])
      for (const records of bad) journals.append('bad', records as unknown as JournalRecord[])
      journals.append('gap', [record(7, 'step', 'gap')])
      journals.append('good', [record(2, 'end', 'good')])
      for (let i = 0; i < 500 && viewed.runs.get('good')?.length !== 2; i += 1) await turn()
      assert.deepEqual(viewed.runs.get('good'), [1, 2])
      stop()
      await follower.close()
    }),
    { numRuns: 100 },
  )
})
