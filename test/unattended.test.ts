import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Gate } from '../src/ports/gate.ts'
import type { ScriptedModel } from '../src/testing/scripted-model.ts'
import {
  DONE,
  drain,
  enqueueAsKernel,
  isReplayIdentical,
  openSetup,
  resultOf,
  runToResult,
  WRITE,
  YAML,
} from './support/daily-report.ts'
import { pokeTool, scriptedBehaviour } from './support/event-recorder.ts'
import { dispatchOf, journalOf } from './support/open-app.ts'

const lastMessage = (model: ScriptedModel, request: number): string =>
  model.requests[request]?.messages.at(-1)?.text ?? ''

describe('E8: unattended dispatches of the daily-report agent', () => {
  test('E8, E9: a question in prose is retried in the same session, and recovers', async (t) => {
    const setup = await openSetup(t, [{ text: '我可以生成简报。请确认是否继续？' }, WRITE, DONE])
    const { dispatch_id, session_id } = await enqueueAsKernel(setup)
    const { files = [], ...result } = await runToResult(setup, dispatch_id)
    assert.match(files.join(), /\/workspaces\/daily-report\/report\.md$/)
    assert.deepEqual(result, {
      ...{ agent_id: 'daily-report', dispatch_id, session_id, status: 'done', failure_class: null },
      ...{ summary: '## 执行总结\n- 写入 report.md', attempts: 2, recovered_from: 'awaiting_input' },
    })
    const retryMessage = lastMessage(setup.model, 1)
    assert.match(retryMessage, /Kernel 重试要求.*不要提问.*上一次尝试的总结：\n我可以生成简报。/s)
    assert.equal(setup.model.requests[1]?.messages.length, 3)
    assert.equal(await isReplayIdentical(setup.app, dispatch_id), true)
  })

  for (const [yaml, attempts] of [
    [YAML, 3],
    [YAML.replace('kernel:', 'kernel:\n  max_attempts: 2'), 2],
  ] as const)
    test(`E8: after ${attempts} attempts without an action the class is no_real_action`, async (t) => {
      const remember = { calls: [{ tool: 'remember', args: { key: 'plan', text: 'write it' } }] }
      const answer = { text: '## 执行总结\n计划已经想好。' }
      const setup = await openSetup(t, [remember, ...Array.from({ length: attempts }, () => answer)], { yaml })
      const { dispatch_id } = await enqueueAsKernel(setup)
      const result = await runToResult(setup, dispatch_id)
      assert.deepEqual(
        {
          status: result.status,
          failure_class: result.failure_class,
          attempts: result.attempts,
          recovered_from: result.recovered_from,
        },
        { status: 'failed', failure_class: 'no_real_action', attempts, recovered_from: null },
      )
      assert.match(result.summary, /计划已经想好/)
    })

  test('E8, E9: during a retry wait it is running, not parked; it can be cancelled then', async (t) => {
    // With six attempts a retry wait becomes too long for a drain to wait for.
    const yaml = YAML.replace('kernel:', 'kernel:\n  max_attempts: 6')
    const setup = await openSetup(t, () => ({ text: '我来想一想。' }), { yaml })
    const { dispatch_id } = await enqueueAsKernel(setup)
    await drain(setup)
    assert.equal((await dispatchOf(setup.app, dispatch_id)).status, 'waiting')
    assert.equal((await resultOf(setup.app, dispatch_id)).status, 'running')
    await setup.app.run('queue cancel', { id: dispatch_id })
    const { status, failure_class } = await resultOf(setup.app, dispatch_id)
    assert.deepEqual({ status, failure_class }, { status: 'cancelled', failure_class: 'cancelled' })
  })

  test('E8: waiting for a person counts as asking; after all attempts it fails as awaiting_input', async (t) => {
    const setup = await openSetup(t, () => ({ calls: [{ tool: 'wait', args: { for: 'user_message' } }] }))
    const { dispatch_id } = await enqueueAsKernel(setup)
    const { status, failure_class, attempts } = await runToResult(setup, dispatch_id)
    assert.deepEqual(
      { status, failure_class, attempts },
      { status: 'failed', failure_class: 'awaiting_input', attempts: 3 },
    )
  })

  test('E8: a provider error as the answer is retried; actions before it still count', async (t) => {
    const setup = await openSetup(t, [WRITE, { text: '{"error": {"message": "overloaded"}}' }, DONE])
    const { dispatch_id } = await enqueueAsKernel(setup)
    const { status, attempts, recovered_from } = await runToResult(setup, dispatch_id)
    assert.deepEqual(
      { status, attempts, recovered_from },
      { status: 'done', attempts: 2, recovered_from: 'invalid_result' },
    )
  })

  test('E8: with noop allowed, doing nothing succeeds', async (t) => {
    const setup = await openSetup(t, [{ text: '## 执行总结\n没有新的工作。' }])
    const { dispatch_id } = await enqueueAsKernel(setup, { metadata: { noop: true } })
    assert.deepEqual(await runToResult(setup, dispatch_id).then(({ status, attempts }) => [status, attempts]), [
      'done',
      1,
    ])
  })

  for (const summary of [
    '## 执行总结\n对话框中的「请确认」按钮已测试，见 report.md',
    '## Execution Summary\nThe mail said "please confirm"; it is filed.\n' +
      '> Please confirm.\n\n`please choose` is a label.',
  ])
    test(`case 137: a quoted request is no request: ${summary.slice(0, 40).replaceAll('\n', ' ')}`, async (t) => {
      const setup = await openSetup(t, [WRITE, { text: summary }])
      const { dispatch_id } = await enqueueAsKernel(setup)
      const { status, attempts } = await runToResult(setup, dispatch_id)
      assert.deepEqual({ status, attempts }, { status: 'done', attempts: 1 })
    })

  test('E8: a call that needs approval parks the dispatch; once allowed, it counts as an action', async (t) => {
    const gate: Gate = {
      name: 'owner',
      judge: ({ tool }) => (tool === 'create_file' ? { kind: 'ask', reason: 'it writes' } : { kind: 'allow' }),
    }
    const script = [WRITE, { text: '请确认写入。' }, DONE]
    const setup = await openSetup(t, script, { gates: [gate] })
    const { dispatch_id } = await enqueueAsKernel(setup)
    const parked = await runToResult(setup, dispatch_id)
    assert.deepEqual(
      { status: parked.status, failure_class: parked.failure_class, attempts: parked.attempts },
      { status: 'waiting', failure_class: null, attempts: 1 },
    )
    assert.equal(setup.model.requests.length, 2)
    const { items } = await setup.app.run('approvals list', {})
    await setup.app.run('approvals allow', { id: items[0]?.id ?? '' })
    const { status, attempts, recovered_from } = await runToResult(setup, dispatch_id)
    assert.deepEqual({ status, attempts, recovered_from }, { status: 'done', attempts: 1, recovered_from: null })
  })

  test('case 125: seven dispatches with three slots, each at its time limit, all get their full time', async (t) => {
    const hangingTool = pokeTool(({ clock, signal }) => clock.sleep(3_600_000, signal))
    const callingBehaviour = scriptedBehaviour([{ kind: 'act', calls: [{ tool: 'poke' }] }])
    const setup = await openSetup(t, [], { tools: [hangingTool], behaviours: [callingBehaviour] })
    const ids: string[] = []
    for (let i = 0; i < 7; i++) {
      const metadata = { behaviour: 'scripted', budget: { ms: 60_000 } }
      ids.push((await enqueueAsKernel(setup, { metadata })).dispatch_id)
    }
    await drain(setup)
    for (const id of ids) {
      const { status, failure_class, session_id } = await dispatchOf(setup.app, id)
      assert.deepEqual({ status, failure_class }, { status: 'failed', failure_class: 'timeout' })
      const [bound, ...later] = await journalOf(setup.app, session_id)
      assert.ok(bound && (later.at(-1)?.ts ?? 0) - bound.ts >= 60_000)
    }
    assert.equal(hangingTool.runs, 7)
  })
})
