import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { AppOptions } from '../../src/app.ts'
import type { Gate, GatedCall, GateVerdict } from '../../src/ports/gate.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  answerAndDrain,
  call,
  drainQueue,
  LETTER,
  listApprovals,
  replayRun,
  sendTool,
  waitStep,
} from '../support/approval-fixtures.ts'
import { scriptedBehaviour } from '../support/event-recorder.ts'
import { enqueue, fakeTool, lastMessageIn, resultsOf } from '../support/fake-tools.ts'
import { advanceUntilDone, dispatchOf, openApp, runTaskIn } from '../support/open-app.ts'

const saying = (name: string, said: GateVerdict | (() => never)): Gate => ({
  name,
  judge: () => (typeof said === 'function' ? said() : said),
})
const ask: GateVerdict = { kind: 'ask', reason: 'somebody should know' }
const deny: GateVerdict = { kind: 'deny', reason: 'never' }
const allow: GateVerdict = { kind: 'allow' }

/** One step with these calls, then a wait; how each was settled, and what was run. */
async function stepOf(t: TestContext, calls: ReturnType<typeof call>[], options: AppOptions) {
  const model = scriptedModel([{ calls }, waitStep, { text: 'done' }])
  const app = await openApp(t, { model, ...options })
  const run = await runTaskIn(app)
  const statuses = (await resultsOf(app, run.session_id)).map(({ status }) => status).slice(0, calls.length)
  return { app, model, run, statuses }
}

describe('gates', () => {
  test('case 55: three calls, of which the last has to be allowed: none has run, and each has its result', async (t) => {
    const note = fakeTool({ name: 'note' })
    const send = sendTool()
    const calls = [call('note', { n: 1 }), call('note', { n: 2 }), call('send', LETTER)]
    const { app, model, run, statuses } = await stepOf(t, calls, { tools: [note, send] })
    assert.deepEqual(
      [note.receivedArgs, send.receivedArgs, statuses],
      [[], [], ['not_started', 'not_started', 'parked']],
    )
    const results = model.requests[1]?.messages.filter(({ role }) => role === 'tool') ?? []
    assert.deepEqual(
      results.map((message) => message.role === 'tool' && message.tool),
      ['note', 'note', 'send'],
    )
    assert.match(JSON.stringify(results[0]), /Call it again/)
    await answerAndDrain(app, 'allow')
    assert.deepEqual([note.receivedArgs, send.receivedArgs], [[], [LETTER]], 'its neighbours were not allowed with it')
    assert.equal((await replayRun(app, run.dispatch_id)).identical, true)
  })

  test('case 55: also one that changes nothing and stands beside others like it is held back with them', async (t) => {
    const look = fakeTool({ name: 'look', effect: { recovery: 'pure', reach: 'none' } })
    const gates = [
      { name: 'second', judge: ({ args }: GatedCall) => (JSON.stringify(args).includes('2') ? ask : allow) },
    ]
    const calls = [call('look', { n: 1 }), call('look', { n: 2 }), call('look', { n: 3 })]
    const { statuses } = await stepOf(t, calls, { tools: [look], gates })
    assert.deepEqual([look.receivedArgs, statuses], [[], ['not_started', 'parked', 'not_started']])
  })

  test('the strictest word is heeded: of the tool, of every gate, whatever their order', async (t) => {
    for (const [gates, expected] of [
      [[], 'ok'],
      [[saying('a', allow)], 'ok'],
      [[saying('a', allow), saying('b', ask)], 'parked'],
      [[saying('a', ask), saying('b', allow)], 'parked'],
      [[saying('a', deny), saying('b', ask)], 'error'],
      [[saying('a', ask), saying('b', deny), saying('c', allow)], 'error'],
    ] as const) {
      const note = fakeTool({ name: 'note' })
      const { statuses } = await stepOf(t, [call('note')], { tools: [note], gates })
      assert.deepEqual([statuses, note.receivedArgs.length], [[expected], expected === 'ok' ? 1 : 0])
    }
  })

  const broken: [string, AppOptions][] = [
    ['a gate that throws', { gates: [saying('broken', () => assert.fail('no idea'))] }],
    ['a gate that says nothing', { gates: [{ name: 'mute', judge: () => undefined as unknown as GateVerdict }] }],
    ['a gate that says what is no clearance', { gates: [saying('odd', { kind: 'yes' } as unknown as GateVerdict)] }],
    ['a gate that rejects', { gates: [{ name: 'late', judge: () => Promise.reject(new Error('no idea')) }] }],
    ['a tool that throws', { tools: [sendTool({ name: 'note', asks: () => assert.fail('no idea') })] }],
  ]
  for (const [what, options] of broken)
    test(`${what} has asked: it never lets anything through`, async (t) => {
      const note = fakeTool({ name: 'note' })
      const { app, statuses } = await stepOf(t, [call('note')], { tools: [note], ...options })
      assert.deepEqual([statuses, note.receivedArgs], [['parked'], []])
      assert.match((await listApprovals(app))[0]?.reason ?? '', /failed: |failed to check the call/)
    })

  test('a denied call is an error with its reason, is put to nobody, and keeps none of its neighbours from running', async (t) => {
    const note = fakeTool({ name: 'note' })
    const send = sendTool({ asks: () => undefined })
    const gates = [{ name: 'house rules', judge: ({ tool }: GatedCall) => (tool === 'send' ? deny : allow) }]
    const calls = [call('note', { n: 1 }), call('send', LETTER), call('note', { n: 3 })]
    const { app, model, run, statuses } = await stepOf(t, calls, { tools: [note, send], gates })
    assert.deepEqual([statuses, send.receivedArgs.length, note.receivedArgs.length], [['ok', 'error', 'ok'], 0, 2])
    assert.deepEqual(await listApprovals(app), [])
    const told = model.requests[1]?.messages.flatMap((message) => (message.role === 'tool' ? message.text : []))
    assert.deepEqual(told, ['poked', '[error] denied: never', 'poked'], 'results in the order of the calls')
    assert.equal((await replayRun(app, run.dispatch_id)).identical, true)
  })

  test('case 31: after a denied call nobody is asked about those behind it, where one that fails ends the others', async (t) => {
    const send = sendTool()
    const gates = [{ name: 'house rules', judge: ({ tool }: GatedCall) => (tool === 'note' ? deny : allow) }]
    const wishes = [{ kind: 'act' as const, failFast: true, calls: [call('note'), call('send', LETTER)] }]
    const app = await openApp(t, {
      ...{ model: scriptedModel([]), tools: [send, fakeTool({ name: 'note' })], gates },
      behaviours: [scriptedBehaviour([...wishes, { kind: 'final', answer: 'done' }], { tools: ['note', 'send'] })],
    })
    const { session_id, dispatch_id } = await runTaskIn(app, 'the task', { behaviour: 'scripted' })
    const statuses = (await resultsOf(app, session_id)).map(({ status }) => status)
    assert.deepEqual([statuses, await listApprovals(app)], [['error', 'not_started'], []])
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })

  test("a person's word answers a question; it does not lift what is denied by now", async (t) => {
    let said: GateVerdict = ask
    const note = fakeTool({ name: 'note' })
    const gates = [{ name: 'moody', judge: () => said }]
    const { app, model, run } = await stepOf(t, [call('note')], { tools: [note], gates })
    said = deny
    await answerAndDrain(app, 'allow')
    assert.deepEqual(note.receivedArgs, [])
    assert.match(lastMessageIn(model, 2), /\[approved: note\] \[error\] denied: never/)
    assert.equal((await replayRun(app, run.dispatch_id)).identical, true)
  })

  test('case 51: cancelled while a gate makes up its mind: nothing is run, nobody is asked, and the run is over', async (t) => {
    const clock = new FakeClock()
    const asked = Promise.withResolvers<void>()
    const hanging = (): Promise<GateVerdict> => {
      asked.resolve()
      return new Promise(() => {})
    }
    const gates = [{ name: 'slow', judge: hanging }]
    const note = fakeTool({ name: 'note' })
    const app = await openApp(t, { clock, gates, tools: [note], model: scriptedModel([{ calls: [call('note')] }]) })
    const { dispatch_id } = await enqueue(app)
    const over = drainQueue(app)
    await asked.promise
    await advanceUntilDone(clock, Promise.all([app.run('queue cancel', { id: dispatch_id }), over]))
    assert.deepEqual([note.receivedArgs, await listApprovals(app)], [[], []])
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'cancelled')
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })

  test('a plugin adds a gate, and every call is put to it as it would be run', async (t) => {
    const seen: GatedCall[] = []
    const judge = (gated: GatedCall): GateVerdict => {
      seen.push(gated)
      return allow
    }
    const plugin = definePlugin({
      name: 'watchful',
      needs: ['gates'],
      setup: (host) => host.get('gates').add({ name: 'watchful', judge }),
    })
    const note = fakeTool({ name: 'note' })
    const { run } = await stepOf(t, [call('note', { n: 1 }), call('note', { n: 2 })], {
      tools: [note],
      plugins: [plugin],
    })
    const shared = { tool: 'note', effect: { recovery: 'once', reach: 'workspace' }, agent_id: 'default' }
    assert.deepEqual(
      seen,
      [1, 2].map((n) => ({ ...shared, args: { n }, session_id: run.session_id })),
    )
    assert.equal(note.receivedArgs.length, 2)
  })

  test('one question is enough: asked again it is held back under the same id; with other arguments it is another question', async (t) => {
    const send = sendTool()
    const again = { calls: [call('send', { text: 'hello', to: 'bob' })] }
    const other = { calls: [call('send', { ...LETTER, to: 'eve' })] }
    const model = scriptedModel([{ calls: [call('send', LETTER)] }, again, other, waitStep])
    const app = await openApp(t, { model, tools: [send] })
    const { session_id } = await runTaskIn(app)
    const found = await listApprovals(app)
    assert.deepEqual(
      found.map(({ args }) => (args as { to: string }).to),
      ['eve', 'bob'],
    )
    const results = (await resultsOf(app, session_id)).slice(0, 3)
    assert.deepEqual(
      results.map(({ status, content }) => [status, JSON.parse(content).id]),
      [
        ['parked', found[1]?.id],
        ['blocked', found[1]?.id],
        ['parked', found[0]?.id],
      ],
    )
  })

  test('case 36: who does nothing but ask again is stuck: it is parked until somebody has answered, and people are asked once', async (t) => {
    const model = scriptedModel(() => ({ calls: [call('send', LETTER)] }))
    const app = await openApp(t, { model, tools: [sendTool()] })
    const { status, stop_reason } = await runTaskIn(app)
    assert.deepEqual([status, stop_reason, (await listApprovals(app)).length], ['waiting', null, 1])
    assert.ok(model.requests.length < 10, `it was asked ${model.requests.length} times`)
  })
})
