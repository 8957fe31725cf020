import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { App } from '../../src/app.ts'
import type { Approval } from '../../src/domain/approval.ts'
import { commitOne } from '../../src/ports/store.ts'
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
import { blockCommits } from '../support/blocking-store.ts'
import { enqueue, fakeTool, lastMessageIn, resultsOf } from '../support/fake-tools.ts'
import { dispatchOf, freshFolder, openApp, replayIn, runTaskIn, waitUntil } from '../support/open-app.ts'

/** Publishes a forged event that says the approval was allowed. */
const forgeAnswer = (app: App, session_id: string, approval: string, id = 'forged') =>
  commitOne(app.context.store, [
    {
      op: 'publish',
      session_id,
      observation: { id, type: 'system_event', name: 'approval', payload: { id: approval, answer: 'allowed' }, ts: 1 },
      successor_id: `made-by-${id}`,
      now: app.context.clock.now(),
    },
  ])

const RACES = 1000
/** Approvals that one model answer requests. */
const PER_ANSWER = 20

const statusOf = async (app: App, id: string) => (await app.run('approvals show', { id })).status

describe('approvals: one answer, one execution', () => {
  test('case 54: of two racing answers one wins, the other is refused; 1000 races', async (t) => {
    const send = sendTool({ run: ({ n }) => `sent ${n}` })
    let n = 0
    const sendCalls = () => Array.from({ length: PER_ANSWER }, () => call('send', { n: n++ }))
    const model = scriptedModel((_, turn) => [{ calls: sendCalls() }, { text: 'asked' }][turn] ?? waitStep)
    const app = await openApp(t, { model, tools: [send], yaml: 'kernel: {max_concurrent: 50}' })
    await Promise.all(Array.from({ length: RACES / PER_ANSWER }, () => enqueue(app)))
    await drainQueue(app)
    const open = await listApprovals(app, { limit: 2 * RACES })
    assert.equal(open.length, RACES)
    const allowed = new Set<unknown>()
    const race = async ({ id, args }: Approval, i: number): Promise<void> => {
      const verbs = i % 2 ? (['allow', 'deny'] as const) : (['deny', 'allow'] as const)
      const outcomes = await Promise.allSettled(verbs.map((verb) => answerApproval(app, verb, id)))
      const [won, ...more] = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
      const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : []))
      assert.deepEqual({ more, lost }, { more: [], lost: ['conflict'] })
      const status = await statusOf(app, id)
      assert.equal(status, won?.status)
      if (status === 'allowed') allowed.add((args as { n: number }).n)
    }
    await Promise.all(open.map(race))
    await drainQueue(app)
    assert.equal(allowed.size, RACES / 2)
    assert.deepEqual(new Set(send.receivedArgs.map(({ n }) => n)), allowed)
    assert.equal(send.receivedArgs.length, RACES / 2)
  })

  test('an approval can be answered only once', async (t) => {
    const send = sendTool()
    const app = await openApp(t, { model: askAndWait(), tools: [send] })
    await runTaskIn(app)
    const { id } = await getOnlyApproval(app)
    await answerApproval(app, 'allow', id)
    await assert.rejects(answerApproval(app, 'allow', id), { code: 'conflict' })
    await drainQueue(app)
    await assert.rejects(answerApproval(app, 'allow', id), { code: 'conflict' })
    await assert.rejects(answerApproval(app, 'deny', id), { code: 'conflict', message: /already allowed/ })
    await drainQueue(app)
    assert.equal(send.receivedArgs.length, 1)
  })

  test('a forged approval event executes nothing, also for another session or a second time', async (t) => {
    const send = sendTool()
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [call('send', LETTER)] } : waitStep))
    const app = await openApp(t, { model, tools: [send] })
    const first = await runTaskIn(app)
    const second = await runTaskIn(app)
    const [secondApproval, firstApproval] = await listApprovals(app)
    assert.ok(firstApproval && secondApproval)
    await forgeAnswer(app, first.session_id, firstApproval.id)
    await drainQueue(app)
    assert.deepEqual(
      { receivedArgs: send.receivedArgs, status: await statusOf(app, firstApproval.id) },
      { receivedArgs: [], status: 'open' },
    )
    await answerApproval(app, 'allow', secondApproval.id)
    await forgeAnswer(app, first.session_id, secondApproval.id, 'for another')
    await app.run('queue pause', { id: second.dispatch_id })
    await drainQueue(app)
    assert.deepEqual(send.receivedArgs, [])
    await app.run('queue resume', { id: second.dispatch_id })
    await drainQueue(app)
    assert.equal(send.receivedArgs.length, 1)
    await forgeAnswer(app, second.session_id, secondApproval.id, 'once more')
    await drainQueue(app)
    assert.equal(send.receivedArgs.length, 1)
    await answerApproval(app, 'allow', firstApproval.id)
    await drainQueue(app)
    assert.equal(send.receivedArgs.length, 2, 'the forged event has not used up the approval')
  })

  test('case 54: an approved call whose stored arguments were changed is not executed', async (t) => {
    const home = freshFolder(t)
    const before = await openApp(t, { home, model: askAndWait(), tools: [sendTool()] })
    await runTaskIn(before)
    await before.close()
    const database = new DatabaseSync(join(home, 'tireless.db'))
    database.prepare('UPDATE approvals SET args = ?').run(JSON.stringify({ ...LETTER, to: 'eve' }))
    database.close()
    const send = sendTool()
    const model = askAndWait()
    const app = await openApp(t, { home, model, tools: [send] })
    await answerAndDrain(app, 'allow')
    assert.deepEqual(send.receivedArgs, [])
    assert.match(lastMessageIn(model, 0), /\[approved: send\] \[error\].*differs from the call that was shown/)
  })

  test('case 54: an approval moved to another session in the database is not executed there', async (t) => {
    const home = freshFolder(t)
    const before = await openApp(t, { home, model: scriptedModel([waitStep, waitStep, waitStep]), tools: [sendTool()] })
    const other = await runTaskIn(before)
    await before.close()
    const parkedApp = await openApp(t, { home, model: askAndWait(), tools: [sendTool()] })
    await runTaskIn(parkedApp)
    await parkedApp.close()
    const database = new DatabaseSync(join(home, 'tireless.db'))
    const { n } = database.prepare('SELECT n FROM sessions WHERE session_id = ?').get(other.session_id) ?? {}
    database.prepare('UPDATE approvals SET session = ?').run(Number(n))
    database.close()
    const send = sendTool()
    const model = scriptedModel(() => waitStep)
    const app = await openApp(t, { home, model, tools: [send] })
    await answerAndDrain(app, 'allow')
    assert.equal((await getOnlyApproval(app)).session_id, other.session_id)
    assert.deepEqual(send.receivedArgs, [])
    assert.match(lastMessageIn(model, 0), /\[approved: send\] \[error\].*differs from the call that was shown/)
  })

  const changedTools = [
    ['removed', [], /is not run: there is no tool/],
    [
      'stricter about its arguments by now',
      [sendTool({ args: z.strictObject({ to: z.string() }) as never })],
      /is not run: the arguments are invalid/,
    ],
    [
      'reading its arguments differently by now',
      [sendTool({ args: z.object({ to: z.string() }) as never })],
      /is not run: the tool now reads the arguments differently/,
    ],
  ] as const
  for (const [what, tools, message] of changedTools)
    test(`case 54: an approved call of a tool that is ${what} is not executed; the model is told`, async (t) => {
      const home = freshFolder(t)
      const before = await openApp(t, { home, model: askAndWait(), tools: [sendTool()] })
      const { dispatch_id } = await runTaskIn(before)
      await before.close()
      const model = askAndWait()
      const app = await openApp(t, { home, model, tools: [...tools, fakeTool()] })
      await answerAndDrain(app, 'allow')
      assert.deepEqual(
        tools.flatMap(({ receivedArgs }) => receivedArgs),
        [],
      )
      assert.match(lastMessageIn(model, 0), message)
      assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
    })
})

describe('approvals: cancel, pause, stop', () => {
  test('case 53: cancelling a run denies its open approval for good', async (t) => {
    const send = sendTool()
    const app = await openApp(t, { model: askAndWait(), tools: [send] })
    const { dispatch_id } = await runTaskIn(app)
    await app.run('queue cancel', { id: dispatch_id })
    const { id, status, answer_reason } = await getOnlyApproval(app)
    assert.deepEqual({ status, answer_reason }, { status: 'denied', answer_reason: 'the run was cancelled' })
    await assert.rejects(answerApproval(app, 'allow', id), { code: 'conflict' })
    await drainQueue(app)
    assert.deepEqual(send.receivedArgs, [])
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'cancelled')
  })

  test('case 53: an approved call is not executed after its run was cancelled', async (t) => {
    const send = sendTool()
    const model = askAndWait()
    const app = await openApp(t, { model, tools: [send] })
    const { dispatch_id, session_id } = await runTaskIn(app)
    await answerApproval(app, 'allow', (await getOnlyApproval(app)).id)
    await app.run('queue cancel', { id: dispatch_id })
    assert.equal((await getOnlyApproval(app)).status, 'denied')
    await app.run('send', { session: session_id, text: 'are you there?' })
    await drainQueue(app)
    assert.deepEqual(send.receivedArgs, [])
    assert.match(JSON.stringify(model.requests.at(-1)?.messages), /the approval is now denied: the run was cancelled/)
  })

  test('case 56: a paused run executes an approved call only after it is resumed', async (t) => {
    const send = sendTool()
    const app = await openApp(t, { model: askAndWait(), tools: [send] })
    const { dispatch_id } = await runTaskIn(app)
    await app.run('queue pause', { id: dispatch_id })
    await answerAndDrain(app, 'allow')
    assert.deepEqual(send.receivedArgs, [])
    await app.run('queue resume', { id: dispatch_id })
    await drainQueue(app)
    assert.equal(send.receivedArgs.length, 1)
  })

  test('SIGTERM: an approved call that had not started is executed after the next start', async (t) => {
    const home = freshFolder(t)
    const stop = new AbortController()
    const stopping = sendTool({ run: () => stop.abort() })
    const script = () => askAndWait(call('send', { n: 1 }), call('send', { n: 2 }))
    const signals = { drain: stop.signal, abort: stop.signal }
    const before = await openApp(t, { home, signals, model: script(), tools: [stopping] })
    const { dispatch_id } = await runTaskIn(before)
    for (const { id } of await listApprovals(before)) await answerApproval(before, 'allow', id)
    await drainQueue(before)
    await before.close()
    const send = sendTool()
    const app = await openApp(t, { home, model: script(), tools: [send] })
    await drainQueue(app)
    assert.deepEqual(
      { stoppingReceivedArgs: stopping.receivedArgs.length, sendReceivedArgs: send.receivedArgs.length },
      { stoppingReceivedArgs: 1, sendReceivedArgs: 1 },
    )
    assert.deepEqual(new Set([...stopping.receivedArgs, ...send.receivedArgs].map(({ n }) => n)), new Set([1, 2]))
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
    const replay = await replayIn(app, dispatch_id)
    assert.equal(replay.first_divergence, null)
  })

  test('SIGTERM while the intent is written: the next start executes the approved call once', async (t) => {
    const home = freshFolder(t)
    const stop = new AbortController()
    const intentWrite = blockCommits(
      (op) => op.op === 'append' && op.records.some(({ kind }) => kind === 'call_intended'),
    )
    const [signals, untouched] = [{ drain: stop.signal, abort: stop.signal }, sendTool()]
    const options = { home, signals, model: askAndWait(), tools: [untouched], plugins: [intentWrite.plugin] }
    const before = await openApp(t, options)
    const { dispatch_id, session_id } = await runTaskIn(before)
    await answerApproval(before, 'allow', (await getOnlyApproval(before)).id)
    const stopped = drainQueue(before)
    await waitUntil(intentWrite.isBlocked)
    stop.abort()
    intentWrite.release()
    await stopped
    await before.close()
    const send = sendTool()
    const app = await openApp(t, { home, model: askAndWait(), tools: [send] })
    await drainQueue(app)
    assert.deepEqual(
      { untouchedReceivedArgs: untouched.receivedArgs, sendReceivedArgs: send.receivedArgs },
      { untouchedReceivedArgs: [], sendReceivedArgs: [LETTER] },
    )
    assert.deepEqual(
      (await resultsOf(app, session_id)).map(({ status }) => status),
      ['parked', 'ok', 'not_started', 'ok'],
    )
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
    assert.deepEqual((await replayRun(app, dispatch_id)).first_divergence, null)
    await drainQueue(app)
    assert.equal(send.receivedArgs.length, 1)
  })
})
