/** Runs that wait, and messages that arrive during a run. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { commitOne } from '../src/ports/store.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { dispatchOf, openApp, runTaskIn } from './support/open-app.ts'
import { final, probeTool } from './support/probe-tool.ts'

const MINUTE = 60_000

const DAY = 24 * 60 * MINUTE

describe('waiting', () => {
  const waiting = (args: { for: string; until?: string }): ScriptedStep => ({ calls: [{ tool: 'wait', args }] })

  test('Q4: wait parks the run without slot, lease or model call; a message wakes it', async (t) => {
    const model = scriptedModel([waiting({ for: 'message' }), final('thanks')])
    const app = await openApp(t, { model })
    const parked = await runTaskIn(app)
    assert.deepEqual({ status: parked.status, kind: parked.wait?.kind }, { status: 'waiting', kind: 'observation' })
    await app.run('start', { until_idle: true })
    assert.equal(model.requests.length, 1, 'draining does not wake it')
    const dispatch = await dispatchOf(app, parked.dispatch_id)
    assert.equal(dispatch.lease_owner, null)
    await app.run('send', { session: parked.session_id, text: 'here you are' })
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, parked.dispatch_id)).result, 'thanks')
    assert.deepEqual(
      model.requests[1]?.messages.map((message) => (message.role === 'tool' ? 'tool' : message.text)).slice(-1),
      ['here you are'],
    )
  })

  test('case 67: the deadline wakes the run with an observation; the longest wait is a day', async (t) => {
    for (const [args, after] of [
      [{ for: 'message', until: '10m' }, 600_000],
      [{ for: 'the moon' }, 86_400_000],
    ] as const) {
      const clock = new FakeClock()
      const model = scriptedModel([waiting(args), final('waited')])
      const app = await openApp(t, { model, clock })
      const parked = await runTaskIn(app)
      assert.equal(parked.wait?.until, clock.now() + after)
      await clock.advance(after - 1)
      await app.run('start', { until_idle: true })
      assert.equal(model.requests.length, 1)
      await clock.advance(1)
      await app.run('start', { until_idle: true })
      assert.equal((await dispatchOf(app, parked.dispatch_id)).result, 'waited')
      assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /event deadline/)
    }
  })

  test('case 69: a wait for a named event wakes on that event alone, or at its deadline', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([
      waiting({ for: 'event: build_done', until: '10m' }),
      waiting({ for: 'event: build_done', until: '10m' }),
      final('looked again'),
    ])
    const app = await openApp(t, { model, clock })
    const { session_id, dispatch_id } = await runTaskIn(app)
    const publish = async (name: string): Promise<void> => {
      const observation = { id: `event-${name}`, type: 'system_event', name, payload: {}, ts: clock.now() } as const
      await commitOne(app.service('store'), [
        { op: 'publish', session_id, observation, successor_id: `next-${name}`, now: clock.now() },
      ])
      await app.run('start', { until_idle: true })
    }
    await publish('build_begun')
    assert.equal(model.requests.length, 1, 'another event does not wake it')
    await publish('build_done')
    assert.equal(model.requests.length, 2)
    assert.match(JSON.stringify(model.requests[1]?.messages.slice(-2)), /build_begun.*build_done/)
    // The second event is lost: at the deadline the run looks for itself.
    await clock.advance(10 * MINUTE)
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, dispatch_id)).result, 'looked again')
    assert.match(JSON.stringify(model.requests[2]?.messages.at(-1)), /event deadline/)
  })

  test('enqueue --at: the dispatch does not start before its time', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([final()])
    const app = await openApp(t, { model, clock })
    const { dispatch_id } = await app.run('enqueue', { prompt: 'later', at: '1h' })
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'waiting')
    await clock.advance(3_600_000)
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
  })
})

describe('messages during a run (O12, case 68)', () => {
  const send = (session: string, text = 'psst') => sendThroughApp(session, text)
  let sendThroughApp: (session: string, text: string) => Promise<unknown>

  test('during the model call: delivered with the next step', async (t) => {
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const slow = {
      ...model,
      call: async (...given: Parameters<typeof model.call>) => {
        if (model.requests.length === 0) await send(await sessionId())
        return model.call(...given)
      },
    }
    const app = await openApp(t, { model: slow, tools: [probeTool()] })
    sendThroughApp = (session, text) => app.run('send', { session, text })
    const sessionId = async () => (await app.run('sessions list', {})).items[0]?.session_id ?? ''
    assert.equal((await runTaskIn(app)).status, 'done')
    assert.equal(JSON.stringify(model.requests[0]?.messages).includes('psst'), false)
    assert.equal(JSON.stringify(model.requests[1]?.messages.at(-1)).includes('psst'), true)
  })

  test('during a tool call: delivered with the next step', async (t) => {
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, final()])
    const tool = probeTool(async () => send(await sessionId()))
    const app = await openApp(t, { model, tools: [tool] })
    sendThroughApp = (session, text) => app.run('send', { session, text })
    const sessionId = async () => (await app.run('sessions list', {})).items[0]?.session_id ?? ''
    assert.equal((await runTaskIn(app)).status, 'done')
    assert.equal(JSON.stringify(model.requests[1]?.messages.at(-1)).includes('psst'), true)
  })

  test('during the model call that decides to wait: the run continues at once', async (t) => {
    const model = scriptedModel((_, turn) =>
      turn === 0 ? { calls: [{ tool: 'wait', args: { for: 'message' } }] } : { text: 'got it' },
    )
    const slow = {
      ...model,
      call: async (...given: Parameters<typeof model.call>) => {
        const answer = await model.call(...given)
        if (model.requests.length === 1) await app.run('send', { session: await sessionId(), text: 'psst' })
        return answer
      },
    }
    const app = await openApp(t, { model: slow })
    const sessionId = async () => (await app.run('sessions list', {})).items[0]?.session_id ?? ''
    const result = await runTaskIn(app)
    assert.deepEqual({ status: result.status, answer: result.answer }, { status: 'done', answer: 'got it' })
  })

  test('during the model call that gives the final answer: the session gets a new dispatch', async (t) => {
    const model = scriptedModel((_, turn) => ({ text: turn === 0 ? 'first' : 'second' }))
    const slow = {
      ...model,
      call: async (...given: Parameters<typeof model.call>) => {
        const answer = await model.call(...given)
        if (model.requests.length === 1) await app.run('send', { session: await sessionId(), text: 'psst' })
        return answer
      },
    }
    const app = await openApp(t, { model: slow })
    const sessionId = async () => (await app.run('sessions list', {})).items[0]?.session_id ?? ''
    assert.equal((await runTaskIn(app)).answer, 'first')
    await app.run('start', { until_idle: true })
    const { items } = await app.run('queue list', {})
    assert.deepEqual(
      items.map(({ status, result }) => ({ status, result })),
      [
        { status: 'done', result: 'second' },
        { status: 'done', result: 'first' },
      ],
    )
  })

  test('case 72: a message with the same key is delivered once', async (t) => {
    const model = scriptedModel([{ calls: [{ tool: 'wait', args: { for: 'message' } }] }, final()])
    const app = await openApp(t, { model })
    const { session_id } = await runTaskIn(app)
    const first = await app.run('send', { session: session_id, text: 'hello', key: 'k' })
    const second = await app.run('send', { session: session_id, text: 'hello again', key: 'k' })
    assert.deepEqual(
      [first, second].map((sent) => (sent as { duplicate: boolean }).duplicate),
      [false, true],
    )
    await app.run('start', { until_idle: true })
    assert.equal(JSON.stringify(model.requests[1]?.messages).match(/hello/g)?.length, 1)
  })

  test('case 72: the key of a message or task is remembered as long as its session', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel(() => final())
    const app = await openApp(t, { model, clock })
    const enqueue = () => app.run('enqueue', { prompt: 'the task', key: 'k' }) as Promise<{ session_id: string }>
    const { session_id } = await enqueue()
    const send = () => app.run('send', { session: session_id, text: 'hello', key: 'k' })
    await send()
    await app.run('start', { until_idle: true })
    const asked = model.requests.length
    for (const ms of [MINUTE, DAY, 80 * DAY]) {
      await clock.advance(ms)
      for (const again of [await enqueue(), await send()])
        assert.equal((again as unknown as { duplicate: boolean }).duplicate, true, `after ${ms} ms`)
    }
    await app.run('start', { until_idle: true })
    assert.equal(model.requests.length, asked)
  })
})
