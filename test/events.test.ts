import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createEventFanout } from '../src/app/event-fanout.ts'
import type { App } from '../src/app.ts'
import type { Event } from '../src/domain/event.ts'
import type { JournalRecord } from '../src/domain/journal-record.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { dispatchOf, journalOf, openApp, runTaskIn } from './support/open-app.ts'

const waiting = { calls: [{ tool: 'wait', args: { for: 'user_message' } }] }

function eventsIn({ listen }: ReturnType<typeof createEventFanout>): Event[] {
  const heard: Event[] = []
  listen((progress) => progress.kind === 'event' && heard.push(progress.event))
  return heard
}

const numbersOf = (events: readonly Event[]): number[] => events.map(({ seq }) => seq)

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

describe('live events', () => {
  test('K3: of a thousand runs that are parked nothing is kept', async (t) => {
    const app = await openApp(t, { model: scriptedModel([waiting]), yaml: 'kernel:\n  max_concurrent: 50\n' })
    const { following } = app.service('events')
    await Promise.all(upTo(1000).map((n) => app.run('enqueue', { prompt: `task ${n}` })))
    let most = 0
    app.service('events').listen(() => {
      most = Math.max(most, following())
    })
    await app.run('start', { until_idle: true })
    assert.deepEqual([await waitingIn(app), following()], [1000, 0])
    assert.ok(most > 0, 'while they are worked on, they are followed')
  })

  test('the events of a run that parks and goes on are counted without a gap, and are those of its journal', async (t) => {
    const app = await openApp(t, { model: scriptedModel([waiting, waiting, { text: 'heard' }]) })
    const heard = eventsIn(app.service('events'))
    const { dispatch_id, session_id } = await runTaskIn(app)
    for (const text of ['once', 'twice']) {
      await app.run('send', { session: session_id, text })
      await app.run('start', { until_idle: true })
    }
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
    assert.ok(heard.filter(({ phase }) => phase === 'OBSERVE').length >= 3)
    assert.deepEqual(numbersOf(heard), upTo(heard.length))
    const { events } = (await app.run('trace show', { run: dispatch_id, events: true })) as { events: Event[] }
    assert.deepEqual(numbersOf(events), numbersOf(heard))
  })

  test('one that is taken up again before it was put down is followed on', async (t) => {
    const app = await openApp(t, { model: scriptedModel([waiting, { text: 'heard' }]) })
    const { dispatch_id: run_id, session_id } = await runTaskIn(app)
    await app.run('send', { session: session_id, text: 'go on' })
    await app.run('start', { until_idle: true })
    const journal = await journalOf(app, session_id)
    const parked = journal.findIndex((record) => record.kind === 'step_committed') + 1
    const events = createEventFanout(() => ({ push: (text) => text, end: () => '' }))
    const heard = eventsIn(events)
    const { sink } = events
    const run = { run_id, session_id }
    const telling = (records: readonly JournalRecord[]): void => {
      for (const record of records) sink.onRecord(run, record)
    }
    sink.onRunOpened(run, [])
    telling(journal.slice(0, parked))
    sink.onRunOpened(run, journal.slice(0, parked))
    sink.onRunClosed(run)
    telling(journal.slice(parked))
    assert.equal(heard.at(-1)?.phase, 'END')
    assert.deepEqual([numbersOf(heard), events.following()], [upTo(heard.length), 1])
    sink.onRunClosed(run)
    assert.equal(events.following(), 0)
  })
})

async function waitingIn(app: App): Promise<number> {
  return (await app.service('store').counts()).waiting
}
