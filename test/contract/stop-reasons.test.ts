import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { STOP_REASONS, type StopReason } from '../../src/domain/stop-reason.ts'
import type { ProposedDecision } from '../../src/ports/behaviour.ts'
import type { Model } from '../../src/ports/model.ts'
import { runTask } from '../../src/run-task.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  eventNames,
  finalAnswer,
  findEvent,
  openRecordedApp,
  pokeDecision,
  pokeTool,
  runScripted,
  scriptedBehaviour,
  withEnv,
} from '../support/event-recorder.ts'
import { advanceUntilDone, dispatchOf, freshFolder, journalOf, runTaskIn } from '../support/open-app.ts'

const alwaysTrue = () => true
const never = <T>() => new Promise<T>(() => {})

describe('stop reasons', () => {
  const precedence: [string, ProposedDecision, { stops: boolean; terminal: boolean }, StopReason][] = [
    ['a final answer comes first', finalAnswer(), { stops: true, terminal: true }, 'final'],
    ['then shouldStop of the behaviour', pokeDecision, { stops: true, terminal: true }, 'agent_condition'],
    ['then isTerminal of the env', pokeDecision, { stops: false, terminal: true }, 'env_terminal'],
    ['then the step limit', pokeDecision, { stops: false, terminal: false }, 'budget_steps'],
  ]
  for (const [what, decision, { stops, terminal }, reason] of precedence)
    test(`case 42, Q13: precedence of stop reasons: ${what}`, async (t) => {
      const { app, events } = await openRecordedApp(t, {
        behaviours: [scriptedBehaviour([decision], stops ? { shouldStop: alwaysTrue } : {})],
        plugins: terminal ? [withEnv((env) => ({ ...env, isTerminal: alwaysTrue }))] : [],
      })
      const { stop_reason, steps, status } = await runScripted(app, { max_steps: 1 })
      assert.deepEqual(
        { stop_reason, steps, status },
        { stop_reason: reason, steps: 1, status: reason === 'budget_steps' ? 'failed' : 'done' },
      )
      assert.equal(findEvent(events, 'CHECK_STOP', 'stop').payload.stop_reason, reason)
      assert.equal(findEvent(events, 'END', 'end').payload.stop_reason, reason)
    })

  test('case 43: exactly max_steps steps run; the task overrides the configuration, null is unlimited', async (t) => {
    for (const [input, steps, reason] of [
      [{ max_steps: 1 }, 1, 'budget_steps'],
      [{ max_steps: 3 }, 3, 'budget_steps'],
      [{}, 5, 'budget_steps'],
      [{ max_steps: 8 }, 7, 'final'],
      [{ max_steps: null }, 7, 'final'],
    ] as const) {
      const tool = pokeTool()
      const { app } = await openRecordedApp(t, {
        tools: [tool],
        behaviours: [scriptedBehaviour([...Array<ProposedDecision>(6).fill(pokeDecision), finalAnswer()])],
        yaml: 'budget: { per_dispatch_calls: 5 }',
      })
      const result = await runScripted(app, input)
      assert.deepEqual({ steps: result.steps, stop_reason: result.stop_reason }, { steps, stop_reason: reason })
      assert.equal(tool.runs, Math.min(steps, 6))
    }
  })

  test('case 43, Q13: token and money limits end the run, each with its own stop reason', async (t) => {
    const usage = { input_tokens: 30, output_tokens: 10, cached_tokens: 0 }
    for (const [input, answers, reason, failure] of [
      [{ max_tokens: 80 }, 2, 'budget_tokens', 'budget'],
      [{ max_tokens: 81 }, 3, 'budget_tokens', 'budget'],
      [{ max_usd: 0.5 }, 2, 'budget_money', 'budget'],
      // A third call could exceed the limit, so it is not made.
      [{ max_usd: 0.74 }, 2, 'budget_money', 'budget'],
      [{ max_usd: 0.75 }, 3, 'budget_money', 'budget'],
    ] as const) {
      const scripted = scriptedModel(() => ({ calls: [{ tool: 'poke' }], usage }))
      const model: Model = {
        ...scripted,
        price: { input: 0, output: 25_000, max_output: 10 },
      }
      const { app } = await openRecordedApp(t, { model })
      const result = await runTaskIn(app, 'the task', input)
      assert.deepEqual(
        { requests: scripted.requests.length, stop_reason: result.stop_reason, failure_class: result.failure_class },
        { requests: answers, stop_reason: reason, failure_class: failure },
      )
    }
  })

  test('case 43: the time limit counts the working time of all steps', async (t) => {
    const clock = new FakeClock()
    const slow = pokeTool(() => clock.advance(40_000))
    const { app } = await openRecordedApp(t, { clock, tools: [slow], behaviours: [scriptedBehaviour([pokeDecision])] })
    const result = await runScripted(app, { max_seconds: 100 })
    assert.deepEqual(
      { steps: result.steps, stop_reason: result.stop_reason, failure_class: result.failure_class },
      { steps: 3, stop_reason: 'budget_time', failure_class: 'timeout' },
    )
  })

  test('case 44, Q13: the time limit interrupts a model that ignores its signal', async (t) => {
    const clock = new FakeClock()
    const { app, events } = await openRecordedApp(t, { clock, model: { id: 'scripted/hang', call: never } })
    const result = await advanceUntilDone(clock, runTaskIn(app, 'the task', { max_seconds: 60 }))
    assert.deepEqual(
      { status: result.status, stop_reason: result.stop_reason },
      { status: 'failed', stop_reason: 'budget_time' },
    )
    assert.deepEqual(eventNames(events).slice(-3), ['CHECK_STOP start', 'CHECK_STOP stop', 'END end'])
  })

  test('case 44: the time limit interrupts a tool, with or without its cooperation', async (t) => {
    for (const [obeysSignal, content] of [
      [true, /stopped by the signal/],
      [false, /may still be running/],
    ] as const) {
      const clock = new FakeClock()
      const hanging = pokeTool(({ signal }) =>
        obeysSignal
          ? new Promise((_, reject) =>
              signal.addEventListener('abort', () => reject(new Error('stopped by the signal'))),
            )
          : never(),
      )
      const { app } = await openRecordedApp(t, {
        clock,
        tools: [hanging],
        behaviours: [scriptedBehaviour([pokeDecision])],
      })
      const result = await advanceUntilDone(clock, runScripted(app, { max_seconds: 60 }))
      assert.deepEqual(
        { stop_reason: result.stop_reason, steps: result.steps, runs: hanging.runs },
        { stop_reason: 'budget_time', steps: 1, runs: 1 },
      )
      const settled = (await journalOf(app, result.session_id)).find(({ kind }) => kind === 'call_settled')
      assert.ok(settled?.kind === 'call_settled')
      assert.equal(settled.result.status, 'interrupted')
      assert.match(settled.result.content, content)
    }
  })

  test('Q13: endless repetition of a call ends the run as stagnation', async (t) => {
    const same = pokeTool(() => {}, { run: async () => ({ status: 'ok', content: 'the same' }) })
    const { app } = await openRecordedApp(t, { tools: [same], behaviours: [scriptedBehaviour([pokeDecision])] })
    const { stop_reason, steps } = await runScripted(app)
    assert.deepEqual({ stop_reason, steps }, { stop_reason: 'stagnation', steps: 6 })
  })

  test('case 45: a behaviour cannot invent a stop reason or give an empty final answer', async (t) => {
    for (const decision of [
      { kind: 'end', stop_reason: 'bored' },
      { kind: 'final' },
      { kind: 'final', answer: ' \n' },
    ]) {
      const { app, events } = await openRecordedApp(t, {
        behaviours: [scriptedBehaviour([decision as unknown as ProposedDecision])],
      })
      const { status, stop_reason, answer: finalText, failure_class } = await runScripted(app)
      assert.deepEqual(
        { status, stop_reason, finalText, failure_class },
        { status: 'failed', stop_reason: 'unrecoverable_error', finalText: null, failure_class: 'invalid_result' },
      )
      const reasons: readonly unknown[] = STOP_REASONS
      assert.ok(reasons.includes(findEvent(events, 'END', 'end').payload.stop_reason))
    }
  })

  test('case 46: success follows from the criteria, not from the answer or the stop reason', async (t) => {
    const answers = (text: string) => ({
      name: 'answers',
      met: (ending: { answer: string | null }) => ending.answer === text,
    })
    const broken = { name: 'broken', met: () => assert.fail('criterion failed') }
    const task = { objective: 'the task', behaviour: 'scripted' }
    const run = (decision: ProposedDecision, more: object) =>
      runTask(
        { ...task, ...more },
        {
          home: freshFolder(t),
          tools: [pokeTool()],
          behaviours: [scriptedBehaviour([decision], { shouldStop: alwaysTrue })],
        },
      )
    const claimed = await run(finalAnswer('I failed'), { success_criteria: [answers('it works')] })
    assert.deepEqual({ status: claimed.status, success: claimed.success }, { status: 'done', success: false })
    const proven = await run(finalAnswer('it works'), { success_criteria: [answers('it works')] })
    assert.deepEqual(
      { success: proven.success, criteria: proven.criteria },
      { success: true, criteria: [{ name: 'answers', met: true }] },
    )
    const conditional = await run(pokeDecision, {})
    assert.deepEqual(
      { stop_reason: conditional.stop_reason, success: conditional.success },
      { stop_reason: 'agent_condition', success: null },
    )
    const stopped = await run(pokeDecision, { success_criteria: [answers('it works')] })
    assert.deepEqual(
      { stop_reason: stopped.stop_reason, success: stopped.success },
      { stop_reason: 'agent_condition', success: false },
    )
    const unsure = await run(finalAnswer('it works'), { success_criteria: [answers('it works'), broken] })
    assert.deepEqual(
      { success: unsure.success, lastCriterion: unsure.criteria.at(-1) },
      { success: false, lastCriterion: { name: 'broken', met: false, error: 'criterion failed' } },
    )
  })

  test('case 50: a waiting run uses no step, model call or write for hours', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([{ calls: [{ tool: 'wait', args: { for: 'message' } }] }, { text: 'at last' }])
    const { app } = await openRecordedApp(t, { clock, model })
    const parked = await runTaskIn(app, 'the task', { max_steps: 2, max_seconds: 60 })
    assert.deepEqual({ status: parked.status, steps: parked.steps }, { status: 'waiting', steps: 1 })
    const before = await journalOf(app, parked.session_id)
    for (let hour = 0; hour < 20; hour++) {
      await clock.advance(3_600_000)
      const commits = app.context.store.commits()
      await app.run('start', { until_idle: true })
      assert.equal(app.context.store.commits(), commits, `hour ${hour}: no commit`)
    }
    assert.deepEqual(
      { requestCount: model.requests.length, journal: await journalOf(app, parked.session_id) },
      { requestCount: 1, journal: before },
    )
    await app.run('send', { session: parked.session_id, text: 'here' })
    await app.run('start', { until_idle: true })
    const dispatch = await dispatchOf(app, parked.dispatch_id)
    assert.deepEqual(
      { status: dispatch.status, result: dispatch.result, requests: model.requests.length },
      { status: 'done', result: 'at last', requests: 2 },
    )
  })
})
