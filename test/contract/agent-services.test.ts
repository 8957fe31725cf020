/** The services of the agent domain: `ai`, `memory`, `runtime` and `bus`, for plugins and programs. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { App } from '../../src/app.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { Ai, FactMemory, Runtime } from '../../src/ports/agent-services.ts'
import type { Model } from '../../src/ports/model.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { eventNames, finalAnswer, openRecordedApp, runScripted, scriptedBehaviour } from '../support/event-recorder.ts'
import { advanceUntilDone, openApp, runTaskIn } from '../support/open-app.ts'

const PRICE = { input: 1, output: 1000, max_output: 100 }

const spentBy = async (app: App): Promise<readonly (readonly [string, number])[]> =>
  (await app.context.store.spend('2000-01-01', '9999-12-31')).map(({ agent_id, usd }) => [agent_id, usd] as const)

const hasCode =
  (...codes: string[]) =>
  (thrown: unknown) =>
    thrown instanceof TirelessError && codes.includes(thrown.code)

describe('K1: the services of the agent domain', () => {
  test('K1: a plugin gets ai, memory, runtime and bus by their names', async (t) => {
    const seen: string[] = []
    const using = definePlugin({
      ...{ name: 'using', needs: ['ai', 'memory', 'runtime', 'bus'] },
      async start(host) {
        const { text } = await host.get('ai').chat('hello')
        await host.get('memory').remember({ key: 'greeting', text })
        const { dispatch_id } = await host.get('runtime').enqueue({ task: 'later', key: 'once' })
        seen.push(text, (await host.get('runtime').status(dispatch_id)).status, typeof host.get('bus').publish)
      },
    })
    const app = await openApp(t, { model: scriptedModel(() => ({ text: 'hi' })), plugins: [using] })
    assert.deepEqual(seen, ['hi', 'pending', 'function'])
    assert.equal((await app.service('memory').recall({ text: 'greeting' }))[0]?.text, 'hi')
  })

  test('K1, I11: ai books what it spends, and stops at the cap', async (t) => {
    const usage = { input_tokens: 0, output_tokens: 100, cached_tokens: 0 }
    const scripted = scriptedModel(() => ({ text: 'hi', usage }))
    const model: Model = { ...scripted, price: PRICE }
    const app = await openApp(t, { model, yaml: 'budget: { per_day_usd: 0.15 }' })
    const ai = app.service('ai')
    const answer = await ai.chat([{ role: 'user', text: 'one' }], { system: 'be brief', agent: 'clerk' })
    assert.deepEqual(answer, { text: 'hi', model: model.id, usage, usd: 0.1 })
    assert.deepEqual(scripted.requests[0], { system: 'be brief', messages: [{ role: 'user', text: 'one' }], tools: [] })
    assert.deepEqual(await spentBy(app), [['clerk', 100_000]])
    await assert.rejects(ai.chat('two'), hasCode('budget_money'))
    assert.equal(scripted.requests.length, 1)
  })

  test('K1: ai asks the fallback model, and gives up a model that hangs', async (t) => {
    const clock = new FakeClock()
    const provider = (name: string, call: Model['call']) => ({
      name,
      models: ['m'],
      open: () => ({ call, price: PRICE }),
    })
    const app = await openApp(t, {
      clock,
      modelProviders: [
        provider('down', () => Promise.reject(new TirelessError('model_unavailable', 'down'))),
        provider('up', scriptedModel(() => ({ text: 'up' })).call),
        provider('deaf', () => new Promise(() => {})),
      ],
      yaml: 'sandbox: off\nmodels: { default: down/m, fallback: [up/m], timeout: 5s }\n',
    })
    assert.equal((await app.service('ai').chat('hello')).model, 'up/m')
    await assert.rejects(
      advanceUntilDone(clock, app.service('ai').chat('hello', { model: 'deaf/m' })),
      hasCode('model_timeout'),
    )
    const stop = new AbortController()
    const aborted = app.service('ai').chat('hello', { model: 'deaf/m', signal: stop.signal })
    stop.abort()
    await assert.rejects(aborted, hasCode('aborted'))
  })

  test('K1, I12: memory remembers, recalls and forgets facts with labels; a run recalls them', async (t) => {
    const model = scriptedModel(() => ({ text: 'done' }))
    const app = await openApp(t, { model, yaml: 'sandbox: off\n' })
    const memory = app.service('memory')
    await memory.remember({ key: 'oak', text: 'the treasure lies under the oak' })
    const private_ = { trust: 'trusted', private: true } as const
    assert.equal((await memory.remember({ key: 'oak', text: 'it lies under the elm', label: private_ })).replaced, true)
    const [fact] = await memory.recall({ text: 'elm' })
    assert.deepEqual([fact?.text, fact?.trust, fact?.private], ['it lies under the elm', 'trusted', true])
    await memory.remember({ key: 'spade', text: 'a spade digs' })
    assert.equal((await memory.recall({ text: 'spade' }))[0]?.trust, 'untrusted')
    await runTaskIn(app, 'what lies under the elm?')
    assert.match(JSON.stringify(model.requests[0]?.messages), /it lies under the elm/)
    assert.equal(await memory.forget({ key: 'oak' }), true)
    assert.equal(await memory.forget({ key: 'oak' }), false)
    assert.deepEqual(await memory.recall({ text: 'elm' }), [])
  })

  test('K1: runtime adds tasks, sends messages, cancels, and hears events', async (t) => {
    const { app } = await openRecordedApp(t, {
      behaviours: [scriptedBehaviour([finalAnswer()])],
      yaml: 'sandbox: off\n',
    })
    const runtime = app.service('runtime')
    const heard: Parameters<Parameters<Runtime['on']>[0]>[0][] = []
    const off = runtime.on((event) => void heard.push(event))
    const { dispatch_id, duplicate } = await runtime.enqueue({ task: 'go', behaviour: 'scripted', key: 'k' })
    assert.deepEqual([duplicate, (await runtime.enqueue({ task: 'go', key: 'k' })).duplicate], [false, true])
    await app.run('start', { until_idle: true })
    assert.equal((await runtime.status(dispatch_id)).status, 'done')
    assert.equal(eventNames(heard).at(-1), 'END end')
    off()
    const count = heard.length
    const { session_id } = await runScripted(app)
    assert.equal(heard.length, count)
    assert.equal((await runtime.send({ session: session_id, text: 'more', key: 'm' })).duplicate, false)
    const later = await runtime.enqueue({ task: 'later', at: '10h' })
    await runtime.cancel(later.dispatch_id)
    assert.equal((await runtime.status(later.dispatch_id)).status, 'cancelled')
    await assert.rejects(runtime.status('nothing'), hasCode('not_found'))
  })

  test('K1: invalid arguments are refused with the name of the method, whatever they are', async (t) => {
    const app = await openApp(t, { model: scriptedModel(() => ({ text: 'hi' })) })
    const [ai, memory, runtime] = [app.service('ai'), app.service('memory'), app.service('runtime')]
    const methods: Record<string, (value: never) => unknown> = {
      'ai.chat': (value: Parameters<Ai['chat']>[0]) => ai.chat(value),
      'ai.chat()': (value: Parameters<Ai['chat']>[1]) => ai.chat('x', value),
      'memory.remember': (value: Parameters<FactMemory['remember']>[0]) => memory.remember(value),
      'memory.recall': (value: Parameters<FactMemory['recall']>[0]) => memory.recall(value),
      'memory.forget': (value: Parameters<FactMemory['forget']>[0]) => memory.forget(value),
      'runtime.enqueue': (value: Parameters<Runtime['enqueue']>[0]) => runtime.enqueue(value),
      'runtime.send': (value: Parameters<Runtime['send']>[0]) => runtime.send(value),
      'runtime.status': (value: string) => runtime.status(value),
      'runtime.cancel': (value: string) => runtime.cancel(value),
      'runtime.on': async (value: Parameters<Runtime['on']>[0]) => runtime.on(value),
    }
    const odd = [42, Number.NaN, null, {}, [], '', { key: 1 }, new Proxy({}, { ownKeys: () => assert.fail('no') })]
    const values = [...odd, { key: 'k', text: 'x'.repeat(100_000_000) }, ...fc.sample(fc.object(), 5)]
    for (const [name, call] of Object.entries(methods))
      for (const value of values)
        try {
          await call(value as never)
        } catch (thrown) {
          assert.ok(thrown instanceof TirelessError, `${name}: ${String(thrown)}`)
          assert.doesNotMatch(thrown.code, /^(store_|internal)/, `${name}: ${thrown.message.slice(0, 200)}`)
        }
    await assert.rejects(ai.chat(42 as never), /ai\.chat\(\): messages: .*expected/)
    await assert.rejects(memory.remember({ key: '', text: 'x' }), /memory\.remember\(\): key/)
    assert.equal((await ai.chat('still there?')).text, 'hi')
  })
})
