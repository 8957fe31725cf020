/** The bus: observations are durable, seen once, bounded; slices are the latest values; events wake runs by name. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { Json } from '../../src/domain/json.ts'
import type { Publication } from '../../src/ports/bus.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { assertReadable, undefinedIfRefused } from '../support/garbage-assertions.ts'
import { anyText, anyValue, checkProperty } from '../support/garbage-values.ts'
import { NOON } from '../support/kernels.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from '../support/open-app.ts'
import { openResidence } from '../support/residents.ts'

const NOOP = { text: '{"action": {"type": "noop", "payload": ""}}' }
const WATCHER = { agent_id: 'watcher', hz: 10 }

/** Names and payloads of what the looks of a session saw, one list per look. */
const seenBy = (journal: readonly JournalRecord[]): Json[][] =>
  journal.flatMap((record) =>
    record.kind === 'input_bound' && record.input.length > 0
      ? [record.input.map((one) => (one.type === 'system_event' ? [one.name, one.payload ?? null] : one.text))]
      : [],
  )

describe('K2: the bus', () => {
  test('K2: an observation outlives the process, and a repeated key is ignored, also after the look', async (t) => {
    const home = freshFolder(t)
    const yaml = JSON.stringify({ residents: [WATCHER] })
    const offline = await openApp(t, { home, yaml, clock: new FakeClock({ now: NOON }) })
    const observe = { agent: 'watcher', type: 'mail', payload: '{"n": 1}', key: 'mail-1' }
    const first = await offline.run('observe', observe)
    assert.deepEqual(
      { duplicate: first.duplicate, kernel_running: first.kernel_running },
      { duplicate: false, kernel_running: false },
    )
    await offline.close()
    const model = scriptedModel(() => NOOP)
    const residence = await openResidence(t, { home, yaml, model, residents: [] })
    await residence.pass(1000)
    assert.equal((await residence.app.run('observe', observe)).duplicate, true)
    await residence.pass(1000)
    assert.equal(model.requests.length, 1)
    assert.deepEqual(seenBy(await journalOf(residence.app, 'resident-watcher-1')), [[['mail', { n: 1 }]]])
  })

  test('E14: start --until-idle lets residents see what is there, and ends', async (t) => {
    const model = scriptedModel(() => ({ text: '{"action": {"type": "say", "payload": "seen"}}' }))
    const app = await openApp(t, { yaml: JSON.stringify({ residents: [WATCHER] }), model })
    await app.run('observe', { agent: 'watcher', type: 'mail' })
    const { queue } = await app.run('start', { until_idle: true })
    assert.deepEqual({ done: queue?.done, calls: model.requests.length }, { done: 1, calls: 1 })
  })

  test('K2: slices are coalesced: a look sees the latest value, and a slice alone causes no look', async (t) => {
    const model = scriptedModel(() => NOOP)
    const home = await openResidence(t, { model, residents: [WATCHER] })
    for (let n = 1; n <= 500; n++) home.app.service('bus').setSlice(['watcher'], 'temperature', n)
    await home.app.run('observe', { agent: 'watcher', type: 'light', payload: '"on"', latest: true })
    await home.pass(5000)
    assert.equal(model.requests.length, 0)
    await home.app.run('observe', { agent: 'watcher', type: 'door_opened' })
    await home.pass(1000)
    await home.app.run('observe', { agent: 'watcher', type: 'door_opened' })
    await home.pass(1000)
    const slices = ['slices', { temperature: 500, light: 'on' }]
    const opened = ['door_opened', null]
    assert.deepEqual(seenBy(await journalOf(home.app, 'resident-watcher-1')), [[opened, slices], [opened]])
  })

  test('K2, case 70: a full bus refuses events before messages, and the next look is told how many', async (t) => {
    const home = await openResidence(t, { model: scriptedModel(() => NOOP), residents: [{ ...WATCHER, hz: 0.1 }] })
    const bus = home.app.service('bus')
    await home.pass(10)
    for (let n = 0; n < 1000; n++)
      await bus.publish({ agents: ['watcher'], id: `e${n}`, observation: { type: 'system_event', name: 'tick' } })
    const refused = home.app.run('observe', { agent: 'watcher', type: 'tick' })
    await assert.rejects(refused, /too many unread observations; got 1000; expected fewer than 1000/)
    await home.say('watcher', 'are you there?')
    await home.pass(60_000)
    const seen = seenBy(await journalOf(home.app, 'resident-watcher-1')).flat()
    assert.ok(seen.includes('are you there?'))
    assert.ok(seen.some((one) => JSON.stringify(one) === JSON.stringify(['bus_overflow', { refused: 1 }])))
    assert.equal(seen.filter((one) => Array.isArray(one) && one[0] === 'tick').length, 1000)
  })

  test('K2, case 120: after a hundred looks another session follows, with all that was known', async (t) => {
    const residents = [{ ...WATCHER, slots: ['city'] }]
    const learnt = { text: '{"action": {"type": "noop", "payload": ""}, "known": {"city": "Paris"}}' }
    const model = scriptedModel(() => (model.requests.length === 1 ? learnt : NOOP))
    const home = await openResidence(t, { model, residents })
    const label = { trust: 'untrusted', private: true } as const
    const observation = { type: 'system_event', name: 'mail' } as const
    const status = async () => (await home.app.run('status', {})).residents[0]
    for (let n = 0; (await status())?.session_id !== 'resident-watcher-2'; n++) {
      await home.app.service('bus').publish({ agents: ['watcher'], id: `m${n}`, observation, label })
      await home.pass(200)
    }
    await home.pass(1000)
    assert.deepEqual((await status())?.known, { city: 'Paris' })
    assert.match(model.requests.at(-1)?.messages.at(-1)?.text ?? '', /city: Paris/)
    const before = (await journalOf(home.app, 'resident-watcher-1')).filter(({ kind }) => kind === 'run_started')
    const after = await journalOf(home.app, 'resident-watcher-2')
    assert.deepEqual({ before: before.length, after: seenBy(after).length }, { before: 100, after: 1 })
    const bound = after.find((record) => record.kind === 'input_bound')
    assert.ok(bound?.kind === 'input_bound' && bound.input.some((one) => one.label?.trust === 'untrusted'))
    assert.equal(
      (await home.app.service('bus').publish({ agents: ['watcher'], id: 'm0', observation, label })).duplicate,
      true,
    )
  })

  test('case 130: a goal wakes its resident at its interval, and is over at its deadline', async (t) => {
    const model = scriptedModel(() => NOOP)
    const until = new Date((await openResidence(t, { model, residents: [] })).clock.now() + 3_500_000).toISOString()
    const goals = [{ goal: 'water the plants', every: '20m', until }]
    const home = await openResidence(t, { model, residents: [{ ...WATCHER, goals }] })
    await home.pass(7_200_000)
    const goal = { goal: 'water the plants' }
    assert.deepEqual(seenBy(await journalOf(home.app, 'resident-watcher-1')), [
      [['goal_due', goal]],
      [['goal_due', goal]],
      [['goal_over', goal]],
    ])
    assert.match(model.requests[0]?.messages.at(-1)?.text ?? '', /Goals:\n- water the plants/)
    assert.doesNotMatch(model.requests[2]?.messages.at(-1)?.text ?? '', /Goals:/)
  })

  test('K1, K9: plugins publish, take snapshots and hear actions; a tool of theirs is an action', async (t) => {
    const heard: string[] = []
    const weather = definePlugin({
      name: 'weather',
      needs: ['bus'],
      setup(host) {
        const bus = host.get('bus')
        bus.onAction(({ action, text }) => heard.push(`${action} ${text}`))
        bus.onAction(() => {
          throw new Error('a broken listener harms nobody')
        })
      },
    })
    const model = scriptedModel(() => ({ text: '{"action": {"type": "query", "payload": "an umbrella?"}}' }))
    const home = await openResidence(t, { model, plugins: [weather], residents: [{ ...WATCHER, hz: 0.1 }] })
    await home.pass(10)
    const bus = home.app.service('bus')
    const observation = { type: 'system_event', name: 'rain' } as const
    await bus.publish({ agents: ['watcher'], id: 'r1', observation })
    const { observations } = await bus.snapshot('watcher')
    assert.deepEqual(
      observations.map(({ id }) => id),
      ['r1'],
    )
    await home.pass(20_000)
    assert.deepEqual((await bus.snapshot('watcher')).observations, [])
    assert.deepEqual(heard, ['query an umbrella?'])
  })

  test('Q4: an event wakes the runs that wait for it by name, and no others', async (t) => {
    const model = scriptedModel((_, turn) =>
      turn === 0 ? { calls: [{ tool: 'wait', args: { for: 'event:build_done' } }] } : { text: 'built' },
    )
    const app = await openApp(t, { model })
    const { session_id } = await runTaskIn(app, 'wait for the build', { behaviour: 'solo' })
    const [{ agent_id = '' } = {}] = (await app.run('queue list', {})).items
    await assert.rejects(app.run('observe', { agent: agent_id, type: 'other' }), /nothing waits for this/)
    const observe = { agent: agent_id, type: 'build_done', payload: '{"ok": true}', key: 'b1' }
    assert.equal((await app.run('observe', observe)).woken, 1)
    await app.run('start', { until_idle: true })
    assert.deepEqual(seenBy(await journalOf(app, session_id)).at(-1), [['build_done', { ok: true }]])
  })

  test('observe says what is wrong with its input', async (t) => {
    const app = await openApp(t, { yaml: JSON.stringify({ residents: [WATCHER] }) })
    const rows: readonly [input: Parameters<typeof app.run<'observe'>>[1], error: RegExp][] = [
      [{ agent: 'nobody', type: 'x' }, /nothing waits for this.*got nobody; expected a resident \(watcher\)/],
      [{ agent: 'nobody', type: 'x', latest: true }, /nothing waits for this/],
      [{ agent: 'watcher', type: 'x', payload: '{"a"' }, /the payload is not JSON; got \{"a"/],
      [{ agent: 'watcher', type: 'user_message', payload: '{}' }, /a user_message needs a text; got \{\}/],
      [{ agent: 'watcher', type: 'user_message' }, /a user_message needs a text; got null/],
    ]
    for (const [input, error] of rows) await assert.rejects(app.run('observe', input), error)
    const plain = await app.run('observe', { agent: 'watcher', type: 'user_message', payload: '你好 plain words' })
    assert.equal(plain.duplicate, false)
    const shaped = { name: 'door', payload: { n: 2 } }
    await app.run('observe', { agent: 'watcher', type: 'system_event', payload: JSON.stringify(shaped) })
    const { observations } = await app.service('bus').snapshot('watcher')
    assert.deepEqual(
      observations.map((one) => (one.type === 'system_event' ? [one.name, one.payload] : one.text)),
      ['你好 plain words', ['door', { n: 2 }]],
    )
  })

  test('K2: garbage at the bus is refused there; the resident and the home are unharmed', async (t) => {
    const model = scriptedModel(() => NOOP)
    const home = await openResidence(t, { model, residents: [WATCHER] })
    const bus = home.app.service('bus')
    const valid = { agents: ['watcher'], id: 'g', observation: { type: 'system_event', name: 'x', payload: 1 } }
    const publication = fc.oneof(
      anyValue,
      fc.record({ agents: fc.constant(['watcher']), id: anyValue, observation: anyValue, label: anyValue }),
      fc
        .tuple(fc.constantFrom('agents', 'id', 'observation', 'label', 'replyTo'), anyValue)
        .map(([key, value]) => ({ ...valid, [key]: value })),
      anyValue.map((payload) => ({ ...valid, id: 'p', observation: { ...valid.observation, payload } })),
    )
    await checkProperty(150, publication, async (value) => {
      await undefinedIfRefused(() => bus.publish(value as Publication))
    })
    await checkProperty(100, fc.tuple(anyText, anyValue), async ([name, value]) => {
      await undefinedIfRefused(async () => bus.setSlice(['watcher'], name, value as Json))
    })
    await home.app.run('observe', { agent: 'watcher', type: 'after', key: 'after all' })
    await home.pass(2000)
    const seen = JSON.stringify(seenBy(await journalOf(home.app, 'resident-watcher-1')))
    assert.match(seen, /after/)
    assert.equal((await home.app.run('status', {})).residents[0]?.unread, 0)
    await assertReadable(home.app)
  })
})
