import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { timerSource } from '../../src/kernel/sources/timer-source.ts'
import { definePlugin, type PluginHost as SetupHost } from '../../src/ports/plugin.ts'
import type { Source, SourceSink } from '../../src/ports/source.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { NOON, runClockFor } from '../support/kernels.ts'
import { waitUntil } from '../support/open-app.ts'
import { openSourceApp, payloadsOf, type SourceApp, waitForEvents } from '../support/source-app.ts'

const DAY = 86_400_000

const untilMarked = (app: SourceApp, name: string): Promise<void> =>
  waitUntil(async () => (await app.app.service('store').setting(`source:${name}`)) !== null)

describe('timers', () => {
  test('K7: an interval fires at each instant; what was missed while no process ran fires once', async (t) => {
    const clock = new FakeClock({ now: NOON })
    const sources = { beat: { type: 'timer', every: '10m', event: 'tick' } }
    const first = await openSourceApp(t, sources, { clock })
    await untilMarked(first, 'beat')
    await runClockFor(clock, 20 * 60_000 + 1000)
    await waitForEvents(first, 2)
    assert.deepEqual(payloadsOf(first), [
      { due: '2030-03-10T12:10:00.000Z', missed: 0 },
      { due: '2030-03-10T12:20:00.000Z', missed: 0 },
    ])
    assert.deepEqual(first.heard[0]?.label, { trust: 'trusted', private: false })
    await first.stop()
    const later = new FakeClock({ now: NOON + 3_600_000 + 30_000 })
    const second = await openSourceApp(t, sources, { clock: later, before: first })
    await waitForEvents(second, 3)
    assert.deepEqual(payloadsOf(second).slice(2), [{ due: '2030-03-10T13:00:00.000Z', missed: 3 }])
  })

  test('case 132: a timer of more than 24.8 days fires once, on time', async () => {
    const clock = new FakeClock({ now: NOON })
    const at = new Date(NOON + 30 * DAY).toISOString()
    const fired: number[] = []
    const sink: SourceSink = {
      async publish() {
        fired.push(clock.now() - NOON)
        return { duplicate: false }
      },
      setSlice() {},
      mark: async () => null,
      async saveMark() {},
    }
    const source = timerSource({ name: 'far', spec: { at }, timezone: 'UTC', event: 'timer', clock })
    const ended = source.run(sink, new AbortController().signal)
    await clock.advance(31 * DAY)
    await ended
    assert.deepEqual(fired, [30 * DAY])
  })

  test('case 132: restarts on the way neither lose nor repeat such a timer', async (t) => {
    const sources = { far: { type: 'timer', at: new Date(NOON + 30 * DAY).toISOString() } }
    const first = await openSourceApp(t, sources, { clock: new FakeClock({ now: NOON }) })
    await untilMarked(first, 'far')
    await first.stop()
    const clock = new FakeClock({ now: NOON + 30 * DAY - 60_000 })
    const second = await openSourceApp(t, sources, { clock, before: first })
    await runClockFor(clock, 59_000)
    assert.deepEqual(second.heard, [])
    await runClockFor(clock, 2000)
    await waitForEvents(second, 1)
    await waitUntil(async () => (await second.state('far')).state === 'ended')
    await second.stop()
    const third = await openSourceApp(t, sources, { clock: new FakeClock({ now: NOON + 31 * DAY }), before: second })
    await waitUntil(async () => (await third.state('far')).state === 'ended')
    assert.equal(third.heard.length, 1)
  })

  test('K7: a cron line in a time zone', async (t) => {
    const clock = new FakeClock({ now: NOON })
    const app = await openSourceApp(
      t,
      { nine: { type: 'timer', cron: '0 9 * * *', timezone: 'America/New_York' } },
      { clock },
    )
    await untilMarked(app, 'nine')
    await runClockFor(clock, 3_600_000 + 1000)
    await waitForEvents(app, 1)
    assert.deepEqual(payloadsOf(app), [{ due: '2030-03-10T13:00:00.000Z', missed: 0 }])
  })
})

describe('the start-up event', () => {
  test('K7: one event per start of the process, with the time of the start before', async (t) => {
    const first = await openSourceApp(t, { boot: { type: 'startup' } })
    await waitForEvents(first, 1)
    await first.stop()
    const second = await openSourceApp(t, { boot: { type: 'startup' } }, { before: first })
    await waitForEvents(second, 2)
    const [one, two] = payloadsOf(second) as { at: string; previous: string | null }[]
    assert.equal(one?.previous, null)
    assert.equal(two?.previous, one?.at)
    await waitUntil(async () => (await second.state('boot')).state === 'ended')
  })
})

describe('supervision', () => {
  test('K7: a slice that the bus cannot take is counted as refused, and the source goes on', async (t) => {
    const source: Source = {
      ...{ name: 'mine', type: 'mine' },
      async run(sink) {
        sink.setSlice('large', 'x'.repeat(30_000))
        await sink.publish({ id: 'after', observation: { type: 'system_event', name: 'after' } })
      },
    }
    const plugin = definePlugin({
      ...{ name: 'mine', needs: ['sources'] },
      setup: (host) => host.get('sources').add(source),
    })
    const more = { residents: [{ agent_id: 'ear', sources: ['mine'] }] }
    const app = await openSourceApp(t, {}, { plugins: [plugin], more })
    await waitUntil(async () => (await app.state('mine')).state !== 'running')
    const { published, refused } = await app.state('mine')
    assert.deepEqual({ published, refused }, { published: 1, refused: 1 })
  })

  test('K7: a source that fails restarts later each time; a healthy one is not disturbed', async (t) => {
    const clock = new FakeClock({ now: NOON })
    let starts = 0
    const flaky = {
      ...{ name: 'flaky', type: 'mine' },
      async run() {
        starts += 1
        throw new Error(`broke ${starts}`)
      },
    }
    const plugin = {
      name: 'mine',
      needs: ['sources'] as const,
      setup: (host: SetupHost) => host.get('sources').add(flaky),
    }
    const more = { residents: [{ agent_id: 'ear', sources: ['flaky', 'beat'] }] }
    const app = await openSourceApp(t, { beat: { type: 'timer', every: '1m' } }, { clock, plugins: [plugin], more })
    await untilMarked(app, 'beat')
    await waitUntil(async () => (await app.state('flaky')).state === 'failed')
    assert.match(String((await app.state('flaky')).why), /broke 1; next attempt in 1 s/)
    await runClockFor(clock, 1100)
    assert.equal(starts, 2)
    await runClockFor(clock, 1100)
    assert.equal(starts, 2)
    await runClockFor(clock, 1000)
    assert.equal(starts, 3)
    await runClockFor(clock, 60_000)
    assert.ok(starts < 8, `${starts} starts`)
    await waitForEvents(app, 1)
  })
})
