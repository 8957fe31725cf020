import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Behaviour, Critic, ProposedDecision } from '../../src/ports/behaviour.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  answerAndDrain,
  answerApproval,
  askAndWait,
  call,
  drainQueue,
  getOnlyApproval,
  LETTER,
  listApprovals,
  replayRun,
  sendTool,
  waitStep,
} from '../support/approval-fixtures.ts'
import { enqueue, fakeBehaviour, lastMessageIn, recordsOf, resultsOf } from '../support/fake-tools.ts'
import { dispatchOf, freshFolder, openApp, runTaskIn, waitUntil } from '../support/open-app.ts'

const DAY = 24 * 3_600_000

describe('approvals: request, answer, execution', () => {
  test('case 54, O11: a call that needs approval is parked, listed and not executed', async (t) => {
    const send = sendTool()
    const model = askAndWait()
    const app = await openApp(t, { model, tools: [send] })
    const run = await runTaskIn(app)
    assert.deepEqual(
      { status: run.status, reason: run.wait?.reason, receivedArgs: send.receivedArgs },
      { status: 'waiting', reason: 'reply', receivedArgs: [] },
    )
    const approval = await getOnlyApproval(app)
    const { id, session_id, tool, args, status, reason, origin, effect } = approval
    assert.deepEqual(
      { id, session_id, tool, args, status, reason, origin, effect },
      {
        id: `${run.session_id}.1.0`,
        session_id: run.session_id,
        tool: 'send',
        args: LETTER,
        status: 'open',
        reason: 'it sends data to a third party',
        origin: { run_id: run.dispatch_id, step: 1 },
        effect: { recovery: 'once', reach: 'third_party' },
      },
    )
    assert.equal(Date.parse(approval.expires_at) - Date.parse(approval.asked_at), DAY)
    assert.match(approval.digest, /^[0-9a-f]{64}$/)
    assert.deepEqual(await app.run('approvals show', { id }), approval)
    assert.equal((await app.run('status', {})).approvals, 1)
    const [result] = await resultsOf(app, run.session_id)
    assert.equal(result?.status, 'parked')
    const content = JSON.parse(result?.content ?? '')
    assert.deepEqual({ parked: content.parked, id: content.id }, { parked: true, id })
    assert.match(lastMessageIn(model, 1), /parked.*Do something else, or wait/)
    assert.deepEqual(await recordsOf(app, run.session_id, 'call_intended'), [])
  })

  test('case 54: after a restart an allowed call runs exactly once, with the listed arguments', async (t) => {
    const home = freshFolder(t)
    const before = await openApp(t, { home, model: askAndWait(), tools: [sendTool()] })
    const { dispatch_id } = await runTaskIn(before)
    const requested = await getOnlyApproval(before)
    await before.close()

    const send = sendTool()
    const model = askAndWait()
    const app = await openApp(t, { home, model, tools: [send] })
    await drainQueue(app)
    assert.deepEqual(await getOnlyApproval(app), requested)
    assert.deepEqual(send.receivedArgs, [])
    assert.equal(model.requests.length, 0)
    const allowed = await answerApproval(app, 'allow', requested.id, { reason: 'go ahead' })
    assert.partialDeepStrictEqual(allowed, { status: 'allowed', answer_reason: 'go ahead' })
    assert.deepEqual(send.receivedArgs, [], 'allowing a call does not execute it yet')
    await drainQueue(app)
    assert.deepEqual(send.receivedArgs, [requested.args])
    const [, event, result] = model.requests[0]?.messages.slice(-3) ?? []
    assert.match(JSON.stringify(event), /\[event approval\].*allowed.*go ahead/)
    assert.deepEqual(result, { role: 'user', text: '[approved: send] sent' })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
    await drainQueue(app)
    assert.equal(send.receivedArgs.length, 1)
    assert.equal((await getOnlyApproval(app)).status, 'allowed')
    assert.deepEqual(await replayRun(app, dispatch_id).then(({ first_divergence }) => first_divergence), null)
  })

  test('case 54: a denied call is never executed, and the model reads the reason', async (t) => {
    const send = sendTool()
    const model = askAndWait()
    const app = await openApp(t, { model, tools: [send] })
    const { dispatch_id, session_id } = await runTaskIn(app)
    await answerAndDrain(app, 'deny', { reason: 'not to him' })
    assert.deepEqual(
      { receivedArgs: send.receivedArgs, status: (await dispatchOf(app, dispatch_id)).status },
      { receivedArgs: [], status: 'done' },
    )
    assert.match(lastMessageIn(model, 2), /\[event approval\].*denied.*not to him/)
    assert.deepEqual(await recordsOf(app, session_id, 'call_intended'), [])
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })

  test('case 54: an unanswered approval expires after a day and can no longer be allowed', async (t) => {
    const clock = new FakeClock()
    const send = sendTool()
    const long = { calls: [call('wait', { for: 'reply', until: '30d' })] }
    const model = scriptedModel([{ calls: [call('send', LETTER)] }, long, { text: 'done' }])
    const app = await openApp(t, { clock, model, tools: [send] })
    const { dispatch_id } = await runTaskIn(app)
    const { id } = await getOnlyApproval(app)
    await clock.advance(DAY - 1)
    await drainQueue(app)
    assert.deepEqual(
      { status: (await getOnlyApproval(app)).status, requests: model.requests.length },
      { status: 'open', requests: 2 },
    )
    await clock.advance(1)
    await assert.rejects(answerApproval(app, 'allow', id), { code: 'conflict', message: /expired at/ })
    await drainQueue(app)
    assert.deepEqual(
      { status: (await getOnlyApproval(app)).status, receivedArgs: send.receivedArgs },
      { status: 'expired', receivedArgs: [] },
    )
    assert.match(lastMessageIn(model, 2), /\[event approval\].*expired/)
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
    await assert.rejects(answerApproval(app, 'allow', id), { code: 'conflict', message: /already expired/ })
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })

  test('E8: a final answer parks the run while an approval is open; it ends when the approval expires', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([{ calls: [call('send', LETTER)] }, { text: 'asked' }, { text: 'so be it' }])
    const app = await openApp(t, { clock, model, tools: [sendTool()] })
    const { status, wait, dispatch_id } = await runTaskIn(app)
    assert.equal(status, 'waiting')
    assert.match(wait?.reason ?? '', /send needs approval\. Run: tireless approvals allow \S+/)
    await clock.advance(DAY)
    await drainQueue(app)
    assert.deepEqual(
      { status: (await getOnlyApproval(app)).status, requests: model.requests.length },
      { status: 'expired', requests: 3 },
    )
    assert.match(lastMessageIn(model, 2), /expired/)
    const { status: after, result } = await dispatchOf(app, dispatch_id)
    assert.deepEqual({ status: after, result }, { status: 'done', result: 'so be it' })
  })

  test('O11: while an approval is open, the same run and other sessions continue', async (t) => {
    const send = sendTool()
    const note = sendTool({ name: 'note', asks: () => undefined })
    const model = scriptedModel((request, turn) => {
      if (JSON.stringify(request.messages[0]).includes('other')) return { text: 'other work' }
      return [{ calls: [call('send', LETTER)] }, { calls: [call('note')] }, waitStep, { text: 'done' }][turn] ?? {}
    })
    const app = await openApp(t, { model, tools: [send, note] })
    const waitingTask = await enqueue(app)
    const other = await enqueue(app, { prompt: 'other' })
    await drainQueue(app)
    assert.deepEqual(
      { sendReceivedArgs: send.receivedArgs.length, noteReceivedArgs: note.receivedArgs.length },
      { sendReceivedArgs: 0, noteReceivedArgs: 1 },
    )
    assert.equal((await dispatchOf(app, other.dispatch_id)).status, 'done')
    assert.equal((await dispatchOf(app, waitingTask.dispatch_id)).status, 'waiting')
  })

  const stoppingCritic: Critic = {
    name: 'strict',
    judge: (state) => (state === 1 ? { kind: 'continue' } : { kind: 'stop', reason: 'not like this' }),
  }
  const first: ProposedDecision = { kind: 'act', calls: [{ tool: 'send', args: LETTER }] }
  const failingDecide = (state: unknown): ProposedDecision => (state === 0 ? first : assert.fail('it fails'))
  const ways: readonly [string, Partial<Behaviour>, object, string][] = [
    ['a run that exhausts its budget', {}, { max_steps: 2 }, 'the run ended: budget'],
    ['a run stopped by a critic', { critics: [stoppingCritic] }, {}, 'the run ended: invalid_result'],
    ['a run that fails', { decide: failingDecide }, {}, 'the run ended: infra'],
    ['a run ended by its behaviour', { shouldStop: (state) => state === 1 }, {}, 'the run ended: done'],
  ]
  for (const [what, more, input, reason] of ways)
    test(`case 54: ${what} denies its open approval for good`, async (t) => {
      const send = sendTool()
      const note = sendTool({ name: 'note', asks: () => undefined })
      const own = fakeBehaviour({
        ...{ tools: ['send', 'note'], initState: () => 0, reduce: (state) => Number(state) + 1 },
        decide: (state) => (state === 0 ? first : undefined),
        ...more,
      })
      const model = scriptedModel([{ calls: [call('note')] }, { text: 'and sent' }])
      const app = await openApp(t, { model, tools: [send, note], behaviours: [own] })
      const { session_id } = await runTaskIn(app, 'the task', { behaviour: 'own', ...input })
      const { id, status, answer_reason } = await getOnlyApproval(app)
      assert.deepEqual({ status, answer_reason }, { status: 'denied', answer_reason: reason })
      await assert.rejects(answerApproval(app, 'allow', id), { code: 'conflict', message: /already denied/ })
      await drainQueue(app)
      const { items } = await app.run('queue list', {})
      assert.deepEqual(
        { receivedArgs: send.receivedArgs, items: items.length, session_id: items[0]?.session_id },
        { receivedArgs: [], items: 1, session_id },
      )
    })

  test('case 54: a retried run reads that its call was denied when the run ended, and why', async (t) => {
    const send = sendTool()
    const model = scriptedModel([{ calls: [call('send', LETTER)] }, { text: 'well' }])
    const app = await openApp(t, { model, tools: [send] })
    const { dispatch_id, stop_reason } = await runTaskIn(app, 'the task', { max_steps: 1 })
    assert.equal(stop_reason, 'budget_steps')
    await app.run('queue retry', { id: dispatch_id })
    await drainQueue(app)
    assert.match(lastMessageIn(model, 1), /\[event approval\].*denied.*the run ended: budget/)
    assert.deepEqual(
      { receivedArgs: send.receivedArgs, status: (await dispatchOf(app, dispatch_id)).status },
      { receivedArgs: [], status: 'done' },
    )
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })

  test('no lost wake-up: a running kernel notices the answer by itself', async (t) => {
    const stop = new AbortController()
    const signals = { drain: stop.signal, abort: new AbortController().signal }
    const clock = new FakeClock()
    const send = sendTool()
    const app = await openApp(t, { clock, model: askAndWait(), tools: [send], signals })
    const { dispatch_id } = await enqueue(app)
    const started = app.run('start', {})
    await waitUntil(async () => (await dispatchOf(app, dispatch_id)).status === 'waiting')
    // The kernel is idle once the number of its timers stays the same after all delayed writes.
    let asleep = -1
    await waitUntil(async () => {
      const before = asleep
      await clock.advance(200)
      asleep = clock.sleeping
      return asleep > 1 && asleep === before
    })
    await answerApproval(app, 'allow', (await getOnlyApproval(app)).id)
    await waitUntil(async () => (await dispatchOf(app, dispatch_id)).status === 'done')
    stop.abort()
    await started
    assert.deepEqual(send.receivedArgs, [LETTER])
  })

  test('calls that are allowed together are executed one after the other', async (t) => {
    let running = 0
    let maxRunning = 0
    const look = sendTool({
      name: 'look',
      effect: { recovery: 'pure', reach: 'network' },
      async run({ at }) {
        maxRunning = Math.max(maxRunning, ++running)
        await new Promise(setImmediate)
        running -= 1
        return `seen ${at}`
      },
    })
    const model = askAndWait(call('look', { at: 1 }), call('look', { at: 2 }))
    const app = await openApp(t, { model, tools: [look] })
    const { session_id } = await runTaskIn(app)
    for (const { id } of await listApprovals(app)) await answerApproval(app, 'allow', id)
    await drainQueue(app)
    assert.deepEqual({ at: look.receivedArgs.map(({ at }) => at).sort(), maxRunning }, { at: [1, 2], maxRunning: 1 })
    assert.deepEqual(
      (await resultsOf(app, session_id)).map(({ status }) => status),
      ['parked', 'parked', 'ok', 'ok', 'ok'],
    )
  })

  test('Q5: a behaviour without a model gets the result of an approved call through reduce', async (t) => {
    const reduced: string[] = []
    const send = sendTool()
    const app = await openApp(t, {
      tools: [send],
      model: scriptedModel([]),
      behaviours: [
        fakeBehaviour({
          tools: ['send'],
          initState: () => 0,
          decide: (step) =>
            [
              { kind: 'act' as const, calls: [call('send', LETTER)] },
              { kind: 'wait' as const, match: 'user_message' as const, reason: 'leave' },
            ][Number(step)] ?? { kind: 'final' as const, answer: 'done' },
          reduce(step, { results }) {
            reduced.push(...results.map(({ status }) => status))
            return Number(step) + 1
          },
        }),
      ],
    })
    const { dispatch_id } = await runTaskIn(app, 'the task', { behaviour: 'own' })
    await answerAndDrain(app, 'allow')
    assert.deepEqual(
      { receivedArgs: send.receivedArgs, reduced },
      { receivedArgs: [LETTER], reduced: ['parked', 'ok'] },
    )
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
  })
})
