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

const gateThatSays = (name: string, verdict: GateVerdict | (() => never)): Gate => ({
  name,
  judge: () => (typeof verdict === 'function' ? verdict() : verdict),
})
const ask: GateVerdict = { kind: 'ask', reason: 'the owner should decide' }
const deny: GateVerdict = { kind: 'deny', reason: 'never' }
const allow: GateVerdict = { kind: 'allow' }

/** Runs one step with these calls, then a wait; returns the status of each call. */
async function runStep(t: TestContext, calls: ReturnType<typeof call>[], options: AppOptions) {
  const model = scriptedModel([{ calls }, waitStep, { text: 'done' }])
  const app = await openApp(t, { model, ...options })
  const run = await runTaskIn(app)
  const statuses = (await resultsOf(app, run.session_id)).map(({ status }) => status).slice(0, calls.length)
  return { app, model, run, statuses }
}

describe('gates', () => {
  test('case 55: when the last of three calls needs approval, none runs and each has a result', async (t) => {
    const note = fakeTool({ name: 'note' })
    const send = sendTool()
    const calls = [call('note', { n: 1 }), call('note', { n: 2 }), call('send', LETTER)]
    const { app, model, run, statuses } = await runStep(t, calls, { tools: [note, send] })
    assert.deepEqual(
      { noteReceivedArgs: note.receivedArgs, sendReceivedArgs: send.receivedArgs, statuses },
      { noteReceivedArgs: [], sendReceivedArgs: [], statuses: ['not_started', 'not_started', 'parked'] },
    )
    const results = model.requests[1]?.messages.filter(({ role }) => role === 'tool') ?? []
    assert.deepEqual(
      results.map((message) => message.role === 'tool' && message.tool),
      ['note', 'note', 'send'],
    )
    assert.match(JSON.stringify(results[0]), /Call it again/)
    await answerAndDrain(app, 'allow')
    assert.deepEqual(
      { noteReceivedArgs: note.receivedArgs, sendReceivedArgs: send.receivedArgs },
      { noteReceivedArgs: [], sendReceivedArgs: [LETTER] },
      'the approval covers only its own call',
    )
    assert.equal((await replayRun(app, run.dispatch_id)).identical, true)
  })

  test('case 55: pure calls of the same step are also not started', async (t) => {
    const look = fakeTool({ name: 'look', effect: { recovery: 'pure', reach: 'none' } })
    const gates = [
      { name: 'second', judge: ({ args }: GatedCall) => (JSON.stringify(args).includes('2') ? ask : allow) },
    ]
    const calls = [call('look', { n: 1 }), call('look', { n: 2 }), call('look', { n: 3 })]
    const { statuses } = await runStep(t, calls, { tools: [look], gates })
    assert.deepEqual(
      { receivedArgs: look.receivedArgs, statuses },
      { receivedArgs: [], statuses: ['not_started', 'parked', 'not_started'] },
    )
  })

  test('the strictest verdict of the tool and all gates decides, in any order', async (t) => {
    for (const [gates, expected] of [
      [[], 'ok'],
      [[gateThatSays('a', allow)], 'ok'],
      [[gateThatSays('a', allow), gateThatSays('b', ask)], 'parked'],
      [[gateThatSays('a', ask), gateThatSays('b', allow)], 'parked'],
      [[gateThatSays('a', deny), gateThatSays('b', ask)], 'error'],
      [[gateThatSays('a', ask), gateThatSays('b', deny), gateThatSays('c', allow)], 'error'],
    ] as const) {
      const note = fakeTool({ name: 'note' })
      const { statuses } = await runStep(t, [call('note')], { tools: [note], gates })
      assert.deepEqual(
        { statuses, receivedArgs: note.receivedArgs.length },
        { statuses: [expected], receivedArgs: expected === 'ok' ? 1 : 0 },
      )
    }
  })

  const brokenParts: [string, AppOptions][] = [
    ['a gate that throws', { gates: [gateThatSays('broken', () => assert.fail('gate failed'))] }],
    ['a gate that returns undefined', { gates: [{ name: 'mute', judge: () => undefined as unknown as GateVerdict }] }],
    [
      'a gate that returns an invalid verdict',
      { gates: [gateThatSays('odd', { kind: 'yes' } as unknown as GateVerdict)] },
    ],
    ['a gate that rejects', { gates: [{ name: 'late', judge: () => Promise.reject(new Error('gate failed')) }] }],
    ['a tool that throws', { tools: [sendTool({ name: 'note', asks: () => assert.fail('gate failed') })] }],
  ]
  for (const [what, options] of brokenParts)
    test(`${what} counts as a request for approval`, async (t) => {
      const note = fakeTool({ name: 'note' })
      const { app, statuses } = await runStep(t, [call('note')], { tools: [note], ...options })
      assert.deepEqual({ statuses, receivedArgs: note.receivedArgs }, { statuses: ['parked'], receivedArgs: [] })
      assert.match((await listApprovals(app))[0]?.reason ?? '', /failed: |failed to check the call/)
    })

  test('a denied call is an error with the reason; the other calls of the step run', async (t) => {
    const note = fakeTool({ name: 'note' })
    const send = sendTool({ asks: () => undefined })
    const gates = [{ name: 'by tool name', judge: ({ tool }: GatedCall) => (tool === 'send' ? deny : allow) }]
    const calls = [call('note', { n: 1 }), call('send', LETTER), call('note', { n: 3 })]
    const { app, model, run, statuses } = await runStep(t, calls, { tools: [note, send], gates })
    assert.deepEqual(
      { statuses, sendReceivedArgs: send.receivedArgs.length, noteReceivedArgs: note.receivedArgs.length },
      { statuses: ['ok', 'error', 'ok'], sendReceivedArgs: 0, noteReceivedArgs: 2 },
    )
    assert.deepEqual(await listApprovals(app), [])
    const resultTexts = model.requests[1]?.messages.flatMap((message) => (message.role === 'tool' ? message.text : []))
    assert.deepEqual(resultTexts, ['poked', '[error] denied: never', 'poked'], 'results in the order of the calls')
    assert.equal((await replayRun(app, run.dispatch_id)).identical, true)
  })

  test('case 31: with failFast no approval is requested for calls after a denied one', async (t) => {
    const send = sendTool()
    const gates = [{ name: 'by tool name', judge: ({ tool }: GatedCall) => (tool === 'note' ? deny : allow) }]
    const decisions = [{ kind: 'act' as const, failFast: true, calls: [call('note'), call('send', LETTER)] }]
    const app = await openApp(t, {
      ...{ model: scriptedModel([]), tools: [send, fakeTool({ name: 'note' })], gates },
      behaviours: [scriptedBehaviour([...decisions, { kind: 'final', answer: 'done' }], { tools: ['note', 'send'] })],
    })
    const { session_id, dispatch_id } = await runTaskIn(app, 'the task', { behaviour: 'scripted' })
    const statuses = (await resultsOf(app, session_id)).map(({ status }) => status)
    assert.deepEqual(
      { statuses, approvals: await listApprovals(app) },
      { statuses: ['error', 'not_started'], approvals: [] },
    )
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })

  test('an allowed approval does not override a gate that denies the call by then', async (t) => {
    let verdict: GateVerdict = ask
    const note = fakeTool({ name: 'note' })
    const gates = [{ name: 'changing', judge: () => verdict }]
    const { app, model, run } = await runStep(t, [call('note')], { tools: [note], gates })
    verdict = deny
    await answerAndDrain(app, 'allow')
    assert.deepEqual(note.receivedArgs, [])
    assert.match(lastMessageIn(model, 2), /\[approved: note\] \[error\] denied: never/)
    assert.equal((await replayRun(app, run.dispatch_id)).identical, true)
  })

  test('case 51: cancelling during a gate check runs no call and requests no approval', async (t) => {
    const clock = new FakeClock()
    const judging = Promise.withResolvers<void>()
    const hanging = (): Promise<GateVerdict> => {
      judging.resolve()
      return new Promise(() => {})
    }
    const gates = [{ name: 'slow', judge: hanging }]
    const note = fakeTool({ name: 'note' })
    const app = await openApp(t, { clock, gates, tools: [note], model: scriptedModel([{ calls: [call('note')] }]) })
    const { dispatch_id } = await enqueue(app)
    const drained = drainQueue(app)
    await judging.promise
    await advanceUntilDone(clock, Promise.all([app.run('queue cancel', { id: dispatch_id }), drained]))
    assert.deepEqual(
      { receivedArgs: note.receivedArgs, approvals: await listApprovals(app) },
      { receivedArgs: [], approvals: [] },
    )
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'cancelled')
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })

  test('a gate added by a plugin judges each call with its final arguments', async (t) => {
    const judgedCalls: GatedCall[] = []
    const judge = (gated: GatedCall): GateVerdict => {
      judgedCalls.push(gated)
      return allow
    }
    const plugin = definePlugin({
      name: 'watchful',
      needs: ['gates'],
      setup: (host) => host.get('gates').add({ name: 'watchful', judge }),
    })
    const note = fakeTool({ name: 'note' })
    const { run } = await runStep(t, [call('note', { n: 1 }), call('note', { n: 2 })], {
      tools: [note],
      plugins: [plugin],
    })
    const shared = { tool: 'note', effect: { recovery: 'once', reach: 'workspace' }, agent_id: 'default' }
    assert.deepEqual(
      judgedCalls,
      [1, 2].map((n) => ({ ...shared, args: { n }, session_id: run.session_id })),
    )
    assert.equal(note.receivedArgs.length, 2)
  })

  test('a repeated call is blocked under the same approval id; other arguments get a new approval', async (t) => {
    const send = sendTool()
    const repeated = { calls: [call('send', { text: 'hello', to: 'bob' })] }
    const other = { calls: [call('send', { ...LETTER, to: 'eve' })] }
    const model = scriptedModel([{ calls: [call('send', LETTER)] }, repeated, other, waitStep])
    const app = await openApp(t, { model, tools: [send] })
    const { session_id } = await runTaskIn(app)
    const requested = await listApprovals(app)
    assert.deepEqual(
      requested.map(({ args }) => (args as { to: string }).to),
      ['eve', 'bob'],
    )
    const results = (await resultsOf(app, session_id)).slice(0, 3)
    assert.deepEqual(
      results.map(({ status, content }) => ({ status, id: JSON.parse(content).id })),
      [
        { status: 'parked', id: requested[1]?.id },
        { status: 'blocked', id: requested[1]?.id },
        { status: 'parked', id: requested[0]?.id },
      ],
    )
  })

  test('case 36: an agent that only repeats a parked call is parked, with one approval request', async (t) => {
    const model = scriptedModel(() => ({ calls: [call('send', LETTER)] }))
    const app = await openApp(t, { model, tools: [sendTool()] })
    const { status, stop_reason } = await runTaskIn(app)
    assert.deepEqual(
      { status, stop_reason, approvalCount: (await listApprovals(app)).length },
      { status: 'waiting', stop_reason: null, approvalCount: 1 },
    )
    assert.ok(model.requests.length < 10, `the model was called ${model.requests.length} times`)
  })
})
