/** When a resident looks: at its rate, never without news, never twice at a time. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { TirelessError } from '../../src/domain/error.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { commitOne } from '../../src/ports/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { journalOf } from '../support/open-app.ts'
import { openResidence } from '../support/residents.ts'

const NOOP = { text: '{"thought": "nothing", "action": {"type": "noop", "payload": ""}}' }
const HOUR = 3_600_000

describe('K4, K6: looks of a resident', () => {
  test('K6, case 120: a day at 3 Hz without news: no model call, no write; one observation: one call', async (t) => {
    const model = scriptedModel(() => NOOP)
    const home = await openResidence(t, { model, residents: [{ agent_id: 'watcher', hz: 3 }] })
    await home.pass(1000)
    const before = home.app.context.store.commits()
    await home.clock.advance(24 * HOUR)
    assert.deepEqual(
      { commits: home.app.context.store.commits() - before, calls: model.requests.length },
      { commits: 0, calls: 0 },
    )
    await home.app.run('observe', { agent: 'watcher', type: 'door_opened', payload: '{"door": 2}' })
    await home.pass(HOUR)
    assert.equal(model.requests.length, 1)
    const [resident] = (await home.app.run('status', {})).residents
    assert.deepEqual(
      { state: resident?.state, unread: resident?.unread, why: resident?.why },
      { state: 'idle', unread: 0, why: 'nothing was to be done' },
    )
  })

  test('K2, K4: what arrives between two looks is seen together, at the next instant of the grid', async (t) => {
    const model = scriptedModel(() => NOOP)
    const home = await openResidence(t, { model, residents: [{ agent_id: 'watcher', hz: 0.5 }] })
    const began = home.clock.monotonic()
    await home.pass(10)
    for (const door of [1, 2, 3]) {
      await home.app.run('observe', { agent: 'watcher', type: 'door_opened', payload: JSON.stringify({ door }) })
      await home.pass(150)
    }
    assert.equal(model.requests.length, 0)
    await home.pass(10_000)
    assert.equal(model.requests.length, 1)
    const journal = await journalOf(home.app, 'resident-watcher-1')
    const bound = journal.find(({ kind }) => kind === 'input_bound')
    assert.equal(((((bound?.ts ?? 0) - (home.clock.now() - home.clock.monotonic()) - began) % 2000) + 2000) % 2000, 0)
    assert.deepEqual(
      bound?.kind === 'input_bound' &&
        bound.input.map((observation) => 'payload' in observation && observation.payload),
      [{ door: 1 }, { door: 2 }, { door: 3 }],
    )
  })

  test('I5, K4: a look of 5 s is never overlapped; skip waits for the grid, catch_up goes on at once', async (t) => {
    for (const overrun of ['skip', 'catch_up'] as const) {
      let running = 0
      let most = 0
      const starts: number[] = []
      const base = scriptedModel(() => NOOP)
      const model = {
        ...base,
        async call(...args: Parameters<typeof base.call>) {
          running += 1
          most = Math.max(most, running)
          starts.push(home.clock.monotonic())
          await home.clock.sleep(5_200)
          running -= 1
          return base.call(...args)
        },
      }
      const home = await openResidence(t, { model, residents: [{ agent_id: 'watcher', hz: 1, overrun }] })
      for (let n = 0; n < 12; n++) {
        await home.app.run('observe', { agent: 'watcher', type: 'sound' })
        await home.pass(1000)
      }
      await home.pass(20_000)
      const [first = 0, second = 0] = starts
      assert.equal(most, 1)
      assert.equal(second - first, overrun === 'skip' ? 6000 : 5200, overrun)
      await home.stop()
    }
  })

  test('case 130: a model error keeps the observation, and the resident backs off', async (t) => {
    let isDown = true
    const model = scriptedModel(() => {
      if (isDown) throw new TirelessError('model_refused', 'the model wants no such text')
      return { text: '{"action": {"type": "say", "payload": "the door is open"}}' }
    })
    const home = await openResidence(t, { model, residents: [{ agent_id: 'watcher', hz: 5 }] })
    await home.app.run('observe', { agent: 'watcher', type: 'door_opened' })
    await home.pass(60_000)
    const calls = model.requests.length
    assert.ok(calls >= 2 && calls <= 6, `${calls} calls in a minute`)
    const [resident] = (await home.app.run('status', {})).residents
    assert.deepEqual({ state: resident?.state, unread: resident?.unread }, { state: 'backing_off', unread: 1 })
    assert.match(resident?.why ?? '', /the last look failed: .*no such text/)
    isDown = false
    await home.pass(HOUR)
    assert.deepEqual(home.actions, ['watcher say: the door is open'])
  })

  test('K4: jumps of the wall clock in both directions keep the rhythm', async (t) => {
    const model = scriptedModel(() => NOOP)
    const home = await openResidence(t, { model, residents: [{ agent_id: 'watcher', hz: 2 }] })
    for (const jump of [-HOUR, 2 * HOUR]) {
      home.clock.setWall(home.clock.now() + jump)
      await home.app.run('observe', { agent: 'watcher', type: 'sound' })
      await home.pass(600)
    }
    assert.equal(model.requests.length, 2)
  })

  test('K6: a message to the session is a look, too: it sees what is new, and no second look follows', async (t) => {
    const model = scriptedModel(() => NOOP)
    const home = await openResidence(t, { model, residents: [{ agent_id: 'watcher', hz: 0.1 }] })
    await home.pass(1000)
    await home.app.run('observe', { agent: 'watcher', type: 'sound' })
    await home.app.run('send', { session: 'resident-watcher-1', text: 'what do you hear?' })
    await home.pass(60_000)
    const journal = await journalOf(home.app, 'resident-watcher-1')
    const runs = journal.filter(({ kind }) => kind === 'run_started').length
    assert.deepEqual({ runs, calls: model.requests.length }, { runs: 1, calls: 1 })
  })

  test('K6: after unanswered queries the resident is slower and asks no more, until its owner writes', async (t) => {
    const model = scriptedModel(() => ({ text: '{"action": {"type": "query", "payload": "who is there?"}}' }))
    const home = await openResidence(t, { model, residents: [{ agent_id: 'watcher', hz: 1, max_queries: 2 }] })
    for (let n = 0; n < 3; n++) {
      await home.app.run('observe', { agent: 'watcher', type: 'sound' })
      await home.pass(20_000)
    }
    assert.deepEqual(home.actions, ['watcher query: who is there?', 'watcher query: who is there?', 'watcher noop: '])
    const [slow] = (await home.app.run('status', {})).residents
    assert.deepEqual({ hz: slow?.hz, unanswered: slow?.unanswered }, { hz: 1 / 8, unanswered: 2 })
    assert.match(slow?.why ?? '', /not asked again/)
    await home.say('watcher', 'it is me')
    await home.pass(20_000)
    assert.deepEqual(home.actions.at(-1), 'watcher query: who is there?')
  })

  test('I5: a long task that holds the only slot does not delay a look', async (t) => {
    const model = scriptedModel(({ messages }, turn) => {
      if (/^Look t=/.test(messages[0]?.text ?? '')) return NOOP
      return turn === 0 ? { calls: [{ tool: 'sleep_long', args: {} }] } : { text: 'done' }
    })
    const yaml = JSON.stringify({ kernel: { max_concurrent: 1 }, residents: [{ agent_id: 'watcher', hz: 1 }] })
    const sleepLong = defineTool({
      name: 'sleep_long',
      description: 'takes an hour',
      args: z.object({}),
      effect: () => ({ recovery: 'pure', reach: 'none' }),
      async run() {
        await home.clock.sleep(HOUR / 4)
        return { status: 'ok', content: 'slept' }
      },
    })
    const home = await openResidence(t, { model, yaml, tools: [sleepLong], residents: [] })
    await home.app.run('enqueue', { task: 'sleep', behaviour: 'solo' })
    await home.pass(5000)
    assert.equal((await home.app.run('status', {})).queue.running, 1)
    await home.app.run('observe', { agent: 'watcher', type: 'sound' })
    await home.pass(3000)
    assert.deepEqual(home.actions, ['watcher noop: '])
    await home.pass(HOUR)
  })

  test('E14: a paused kernel takes no look; after resume it sees what came meanwhile', async (t) => {
    const model = scriptedModel(() => NOOP)
    const home = await openResidence(t, { model, residents: [{ agent_id: 'watcher', hz: 1 }] })
    await home.app.run('pause', {})
    await home.app.run('observe', { agent: 'watcher', type: 'sound' })
    await home.pass(60_000)
    assert.equal(model.requests.length, 0)
    await home.app.run('resume', {})
    await home.pass(5000)
    assert.equal(model.requests.length, 1)
  })

  test('K3: what a resident knows outlives the deletion of its session', async (t) => {
    const known = { text: '{"action": {"type": "noop", "payload": ""}, "known": {"city": "Paris"}}' }
    const home = await openResidence(t, {
      model: scriptedModel(() => known),
      residents: [{ agent_id: 'watcher', hz: 1, slots: ['city'] }],
    })
    await home.app.run('observe', { agent: 'watcher', type: 'mail' })
    await home.pass(5000)
    await home.stop()
    const { store } = home.app.context
    await commitOne(store, [{ op: 'prune', before: home.clock.now() + HOUR, limit: 10 }])
    assert.equal(await store.session('resident-watcher-1'), undefined)
    const folder = home.app.context.homeSetup.home
    await home.app.close()
    const model = scriptedModel(() => NOOP)
    const after = await openResidence(t, {
      home: folder,
      model,
      residents: [{ agent_id: 'watcher', hz: 1, slots: ['city'] }],
    })
    assert.deepEqual((await after.app.run('status', {})).residents[0]?.known, { city: 'Paris' })
    await after.app.run('observe', { agent: 'watcher', type: 'mail' })
    await after.pass(5000)
    assert.match(model.requests[0]?.messages.at(-1)?.text ?? '', /city: Paris/)
  })
})
