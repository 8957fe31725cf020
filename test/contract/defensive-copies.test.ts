import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/domain/json.ts'
import type { Memory } from '../../src/ports/memory.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { runTask } from '../../src/run-task.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { replayRun } from '../support/approval-fixtures.ts'
import { fakeBehaviour, fakeTool, recordsOf } from '../support/fake-tools.ts'
import { freshFolder, openApp, runTaskIn } from '../support/open-app.ts'

const SENT_ARGS = { to: 'ann@example.org', body: { text: 'hello', lines: [1, 2] } }

/** Overwrites each string at any depth and adds entries, as far as the value is not frozen; never throws. */
function tamper(value: unknown, depth = 8): void {
  if (typeof value !== 'object' || value === null || depth === 0) return
  for (const [key, inner] of Object.entries(value)) {
    tamper(inner, depth - 1)
    if (typeof inner === 'string') Reflect.set(value, key, 'mallory')
  }
  Reflect.set(value, 'added', 'mallory')
  if (Array.isArray(value)) Reflect.set(value, value.length, 'mallory')
}

/** Tampers at once and again later, when the call may already be running. */
const tamperRepeatedly = (value: unknown): void => {
  tamper(value)
  queueMicrotask(() => tamper(value))
  setImmediate(() => tamper(value))
}

const script = () => scriptedModel([{ calls: [{ tool: 'send', args: SENT_ARGS }] }, { text: 'done' }])

/** By the part that tampers with its input. */
const PARTS = {
  'a gate': {
    plugins: [
      definePlugin({
        name: 'tampering gate',
        needs: ['gates'],
        setup: (host) =>
          host.get('gates').add({
            name: 'tampering',
            judge(call) {
              tamperRepeatedly(call)
              return { kind: 'allow' }
            },
          }),
      }),
    ],
  },
  'a hook': {
    hooks: [
      {
        name: 'tampering',
        on_event: tamperRepeatedly,
        on_before_act: tamperRepeatedly,
        on_after_decide: tamperRepeatedly,
        on_run_start: tamperRepeatedly,
      },
    ],
  },
  'a critic': {
    critics: [
      {
        name: 'tampering',
        judge(state: Json, step: unknown) {
          tamperRepeatedly([state, step])
          return { kind: 'continue' } as const
        },
      },
    ],
  },
  'a sink': {
    plugins: [
      definePlugin({
        name: 'tampering sink',
        needs: ['events'],
        setup: (host) =>
          host.get('events').add({
            onRunOpened: tamperRepeatedly,
            onRecord: (_, record) => tamperRepeatedly(record),
            onRunClosed() {},
            delta: tamperRepeatedly,
          }),
      }),
    ],
  },
  'the before() of a tool': { before: true },
} as const

describe('observers and judges get copies', () => {
  for (const [part, parts] of Object.entries(PARTS))
    test(`${part} cannot change the call that is executed, recorded and reported`, async (t) => {
      const send = fakeTool({
        name: 'send',
        ...('before' in parts ? { before: async (args: Json) => void tamperRepeatedly(args) as unknown as Json } : {}),
        run: (args) => {
          const received = structuredClone(args)
          tamperRepeatedly(args)
          return JSON.stringify(received)
        },
      })
      const { before: _, ...more } = { before: false, ...parts }
      const app = await openApp(t, { model: script(), tools: [send], ...more })
      const reported: string[] = []
      app.context.listen((progress) => progress.kind === 'event' && reported.push(JSON.stringify(progress.event)))
      const { status, session_id, dispatch_id } = await runTaskIn(app)
      assert.equal(status, 'done')
      const [intended] = await recordsOf(app, session_id, 'call_intended')
      const [settled] = await recordsOf(app, session_id, 'call_settled')
      assert.deepEqual(
        { args: intended?.call.args, content: settled?.result.content },
        { args: SENT_ARGS, content: JSON.stringify(SENT_ARGS) },
      )
      assert.doesNotMatch(reported.join('\n'), /mallory/)
      assert.equal((await replayRun(app, dispatch_id)).identical, true)
    })

  test('listeners and onProgress cannot change the call or the events of others', async (t) => {
    const executed: unknown[] = []
    const send = fakeTool({ name: 'send', run: (args) => void executed.push(structuredClone(args)) })
    const reported: string[] = []
    const listeners = definePlugin({
      name: 'listeners',
      needs: ['events'],
      setup(host) {
        host.get('events').listen(tamperRepeatedly)
        host.get('events').listen((progress) => reported.push(JSON.stringify(progress)))
      },
    })
    const options = {
      home: freshFolder(t),
      model: script(),
      tools: [send],
      plugins: [listeners],
      onProgress: tamperRepeatedly,
    }
    assert.equal((await runTask('send it', options)).status, 'done')
    assert.deepEqual(executed, [SENT_ARGS])
    assert.ok(reported.length > 0)
    assert.doesNotMatch(reported.join('\n'), /mallory/)
  })

  test('I9: a listener or onProgress that throws or rejects does not affect the run', async (t) => {
    const home = freshFolder(t)
    for (const onProgress of [() => assert.fail('listener failed'), async () => assert.fail('listener failed later')])
      assert.equal((await runTask('x', { home, model: scriptedModel([{ text: 'done' }]), onProgress })).status, 'done')
    const app = await openApp(t, { home, model: scriptedModel([{ text: 'done' }]) })
    app.context.listen(async () => assert.fail('listener failed later'))
    assert.equal((await runTaskIn(app)).status, 'done')
  })

  test('a memory cannot change the messages that the model reads', async (t) => {
    const model = script()
    const memory = (): Memory => ({
      reset() {},
      append: tamperRepeatedly,
      retrieve(query) {
        tamperRepeatedly(query)
        return { from: 0, summary: '', recalled: [] }
      },
      summarise: () => '',
      evict: () => 0,
    })
    const own = fakeBehaviour({ tools: ['send'], memory: 'tampering' })
    const app = await openApp(t, {
      model,
      tools: [fakeTool({ name: 'send' })],
      behaviours: [own],
      memories: [{ name: 'tampering', open: memory }],
    })
    assert.equal((await runTaskIn(app, 'send it', { behaviour: 'own' })).status, 'done')
    assert.doesNotMatch(JSON.stringify(model.requests), /mallory/)
  })

  test('a behaviour cannot change a decision after it was returned', async (t) => {
    const executed: unknown[] = []
    const send = fakeTool({ name: 'send', run: (args) => void executed.push(structuredClone(args)) })
    const args = structuredClone(SENT_ARGS)
    const own = fakeBehaviour({
      tools: ['send'],
      initState: () => 0,
      decide(state) {
        if (state !== 0) return { kind: 'final', answer: 'done' }
        queueMicrotask(() => tamper(args))
        return { kind: 'act', calls: [{ tool: 'send', args }] }
      },
      reduce: () => 1,
    })
    const app = await openApp(t, { tools: [send], behaviours: [own] })
    assert.equal((await runTaskIn(app, 'send it', { behaviour: 'own' })).status, 'done')
    assert.deepEqual(executed, [SENT_ARGS])
  })
})
