import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createEventFanout } from '../src/app/event-fanout.ts'
import type { App } from '../src/app.ts'
import type { Event } from '../src/domain/event.ts'
import type { JournalRecord } from '../src/domain/journal-record.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { dispatchOf, journalOf, openApp, runTaskIn } from './support/open-app.ts'

const WAIT_CALL = { calls: [{ tool: 'wait', args: { for: 'user_message' } }] }

function recordEvents({ listen }: ReturnType<typeof createEventFanout>): Event[] {
  const recorded: Event[] = []
  listen((progress) => progress.kind === 'event' && recorded.push(progress.event))
  return recorded
}

const numbersOf = (events: readonly Event[]): number[] => events.map(({ seq }) => seq)

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

describe('live events', () => {
  test('K3: no state is kept for a thousand parked runs', async (t) => {
    const app = await openApp(t, { model: scriptedModel([WAIT_CALL]), yaml: 'kernel:\n  max_concurrent: 50\n' })
    const { following } = app.service('events')
    await Promise.all(upTo(1000).map((n) => app.run('enqueue', { prompt: `task ${n}` })))
    let maxFollowing = 0
    app.service('events').listen(() => {
      maxFollowing = Math.max(maxFollowing, following())
    })
    await app.run('start', { until_idle: true })
    assert.deepEqual(
      { waitingCount: await countWaiting(app), following: following() },
      { waitingCount: 1000, following: 0 },
    )
    assert.ok(maxFollowing > 0, 'runs are followed while they are active')
  })

  test('events of a run that parks and resumes are numbered without a gap and match its journal', async (t) => {
    const app = await openApp(t, { model: scriptedModel([WAIT_CALL, WAIT_CALL, { text: 'heard' }]) })
    const recorded = recordEvents(app.service('events'))
    const { dispatch_id, session_id } = await runTaskIn(app)
    for (const text of ['once', 'twice']) {
      await app.run('send', { session: session_id, text })
      await app.run('start', { until_idle: true })
    }
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
    assert.ok(recorded.filter(({ phase }) => phase === 'OBSERVE').length >= 3)
    assert.deepEqual(numbersOf(recorded), upTo(recorded.length))
    const { events } = await app.run('trace show', { run: dispatch_id, events: true })
    assert.deepEqual(numbersOf(events ?? []), numbersOf(recorded))
  })

  test('events continue for a run that is reopened before it was closed', async (t) => {
    const app = await openApp(t, { model: scriptedModel([WAIT_CALL, { text: 'heard' }]) })
    const { dispatch_id: run_id, session_id } = await runTaskIn(app)
    await app.run('send', { session: session_id, text: 'go on' })
    await app.run('start', { until_idle: true })
    const journal = await journalOf(app, session_id)
    const parked = journal.findIndex((record) => record.kind === 'step_committed') + 1
    const events = createEventFanout(() => ({ push: (text) => text, end: () => '' }))
    const recorded = recordEvents(events)
    const { sink } = events
    const run = { run_id, session_id }
    const sendRecords = (records: readonly JournalRecord[]): void => {
      for (const record of records) sink.onRecord(run, record)
    }
    sink.onRunOpened(run, [])
    sendRecords(journal.slice(0, parked))
    sink.onRunOpened(run, journal.slice(0, parked))
    sink.onRunClosed(run)
    sendRecords(journal.slice(parked))
    assert.equal(recorded.at(-1)?.phase, 'END')
    assert.deepEqual(
      { numbers: numbersOf(recorded), following: events.following() },
      { numbers: upTo(recorded.length), following: 1 },
    )
    sink.onRunClosed(run)
    assert.equal(events.following(), 0)
  })
})

async function countWaiting(app: App): Promise<number> {
  return (await app.service('store').counts()).waiting
}
