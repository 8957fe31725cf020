/** How the page folds a run: events of a real run, deltas between them, gaps and ends. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Progress } from '../../src/commands/lib/progress.ts'
import type { Event } from '../../src/domain/event.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { applyDelta, applyEvent, newRun, type RunView } from '../../web/src/run-view.ts'
import { openApp } from '../support/open-app.ts'

async function progressOf(
  t: Parameters<typeof openApp>[0],
  script: Parameters<typeof scriptedModel>[0],
): Promise<Progress[]> {
  const app = await openApp(t, { model: scriptedModel(script) })
  const progress: Progress[] = []
  await app.run('run', { task: 'write it' }, (each) => progress.push(each))
  return progress
}

function foldRun(progress: readonly Progress[]): RunView {
  const run = newRun('r')
  for (const each of progress) {
    if (each.kind === 'event') applyEvent(run, each.event)
    if (each.kind === 'delta') applyDelta(run, { ...each.delta, seq: run.seq })
  }
  return run
}

const WRITE_THEN_ANSWER = [
  { text: 'I write it.', calls: [{ tool: 'create_file', args: { path: 'a.md', content: 'x' } }] },
  { text: 'It is written.' },
]

test('Now: shows a run with its agent, steps, calls, results and answer', async (t) => {
  const run = foldRun(await progressOf(t, WRITE_THEN_ANSWER))
  assert.deepEqual(
    { agent: run.agent, task: run.task, state: run.state, answer: run.answer },
    { agent: 'default', task: 'write it', state: 'done', answer: 'It is written.' },
  )
  assert.equal(run.model, 'scripted/model')
  assert.equal(run.gap, false)
  const [first, second] = run.steps
  assert.deepEqual(
    { firstDecision: first?.decision, firstText: first?.text, secondDecision: second?.decision },
    { firstDecision: 'act', firstText: 'I write it.', secondDecision: 'final' },
  )
  assert.deepEqual(
    first?.calls.map(({ tool, status }) => [tool, status]),
    [['create_file', 'ok']],
  )
  for (const { spans } of run.steps) {
    assert.deepEqual(
      spans.map(({ phase }) => phase),
      ['OBSERVE', 'DECIDE', 'ACT', 'REDUCE', 'CHECK_STOP'],
    )
    for (const [i, { from, to }] of spans.entries()) {
      assert.ok(to !== null && to >= from, 'the phase must have ended')
      if (spans[i + 1]) assert.equal(spans[i + 1]?.from, to, 'the next phase must start where this one ends')
    }
  }
})

test('Now: shows the same from events alone, without deltas', async (t) => {
  const progress = await progressOf(t, WRITE_THEN_ANSWER)
  const withoutCallIds = ({ steps, ...run }: RunView) => ({
    ...run,
    steps: steps.map(({ calls, ...step }) => ({
      ...step,
      calls: calls.map(({ tool, status, content }) => ({ tool, status, content })),
    })),
  })
  assert.deepEqual(
    withoutCallIds(foldRun(progress.filter(({ kind }) => kind === 'event'))),
    withoutCallIds(foldRun(progress)),
  )
})

test('Now: shows text and calls in progress before they are recorded', async (t) => {
  const progress = await progressOf(t, WRITE_THEN_ANSWER)
  const callIndex = progress.findIndex((each) => each.kind === 'delta' && each.delta.kind === 'call')
  const run = foldRun(progress.slice(0, callIndex + 1))
  const [step] = run.steps
  assert.deepEqual(
    { state: run.state, to: run.to, text: step?.text },
    { state: 'running', to: null, text: 'I write it.' },
  )
  assert.deepEqual(step?.calls[0]?.status, null)
  assert.equal(step?.spans.at(-1)?.to, null)
})

test('Now: counts a repeated event once, and notices a missing one', async (t) => {
  const progress = await progressOf(t, WRITE_THEN_ANSWER)
  const events = progress.flatMap((each) => (each.kind === 'event' ? [each.event] : []))
  const run = newRun('r')
  for (const event of [...events, ...events]) applyEvent(run, event)
  assert.deepEqual(run, foldRun(progress.filter(({ kind }) => kind === 'event')))
  const withGap = newRun('r')
  for (const event of events.filter(({ seq }) => seq !== 5)) applyEvent(withGap, event)
  assert.equal(withGap.gap, true)
})

test('Now: shows a parked run with its reason, and as running when it resumes', async (t) => {
  const progress = await progressOf(t, [{ calls: [{ tool: 'wait', args: { for: 'the owner' } }] }])
  const run = foldRun(progress)
  assert.deepEqual(
    { state: run.state, reason: run.reason, isToNull: run.to === null },
    { state: 'parked', reason: 'the owner', isToNull: false },
  )
  const resumedEvent: Event = {
    seq: run.seq + 1,
    run_id: 'r',
    session_id: 's',
    step_id: 2,
    phase: 'OBSERVE',
    stage: 'start',
    ts: 9,
    ok: true,
    payload: {},
  }
  applyEvent(run, resumedEvent)
  assert.deepEqual({ state: run.state, to: run.to }, { state: 'running', to: null })
})

test('Now: shows why a run failed', async (t) => {
  const run = foldRun(
    await progressOf(t, [
      { text: 'cut', finish: 'length' },
      { text: 'cut', finish: 'length' },
      { text: 'cut', finish: 'length' },
    ]),
  )
  assert.equal(run.state, 'failed')
  assert.notEqual(run.reason, '')
  assert.ok(run.steps.every(({ spans }) => spans.every(({ to }) => to !== null)))
})

test('Talk: a call announced before the events of its step is shown once; a refused one has ended', async (t) => {
  const script = [...WRITE_THEN_ANSWER.slice(0, 1), { calls: [{ tool: 'create_file', args: { way: 'wrong' } }] }]
  const progress = await progressOf(t, [...script, { text: 'It is written.' }])
  const run = newRun('r')
  const ids = { run_id: 'r', session_id: 's' }
  const events = progress.flatMap((each) => (each.kind === 'event' ? [each.event] : []))
  for (const event of events) {
    if (event.step_id === 2 && event.seq === events.find(({ step_id }) => step_id === 2)?.seq)
      applyDelta(run, { ...ids, seq: run.seq, kind: 'call', index: 1, tool: 'create_file', args: {} })
    applyEvent(run, event)
  }
  assert.deepEqual(
    run.steps.map(({ calls }) => calls.map(({ status }) => status)),
    [['ok'], ['no_result'], []],
  )
})
