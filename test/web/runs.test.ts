/** The page's own reading of a run: the events of a real one, the deltas between, gaps and ends. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Progress } from '../../src/commands/lib/command.ts'
import type { Event } from '../../src/domain/event.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { hear, hearDelta, newRun, type ShownRun } from '../../web/src/runs.ts'
import { openApp } from '../support/open-app.ts'

async function toldBy(
  t: Parameters<typeof openApp>[0],
  script: Parameters<typeof scriptedModel>[0],
): Promise<Progress[]> {
  const app = await openApp(t, { model: scriptedModel(script) })
  const told: Progress[] = []
  await app.run('run', { task: 'write it' }, (progress) => told.push(progress))
  return told
}

function shown(told: readonly Progress[]): ShownRun {
  const run = newRun('r')
  for (const progress of told) {
    if (progress.kind === 'event') hear(run, progress.event)
    if (progress.kind === 'delta') hearDelta(run, progress.delta)
  }
  return run
}

const WRITES = [
  { text: 'I write it.', calls: [{ tool: 'create_file', args: { path: 'a.md', content: 'x' } }] },
  { text: 'It is written.' },
]

test('Now: a run is shown with its agent, its steps, its calls with their results, and its answer', async (t) => {
  const run = shown(await toldBy(t, WRITES))
  assert.deepEqual([run.agent, run.task, run.state, run.answer], ['default', 'write it', 'done', 'It is written.'])
  assert.equal(run.model, 'scripted/model')
  assert.equal(run.gap, false)
  const [first, second] = run.steps
  assert.deepEqual([first?.decision, first?.text, second?.decision], ['act', 'I write it.', 'final'])
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
      assert.ok(to !== null && to >= from, 'closed')
      if (spans[i + 1]) assert.equal(spans[i + 1]?.from, to, 'no hole between two phases')
    }
  }
})

test('Now: without the deltas, from the record alone, the same is shown', async (t) => {
  const told = await toldBy(t, WRITES)
  const plain = ({ steps, ...run }: ShownRun) => ({
    ...run,
    steps: steps.map(({ calls, ...step }) => ({
      ...step,
      calls: calls.map(({ tool, status, content }) => ({ tool, status, content })),
    })),
  })
  assert.deepEqual(plain(shown(told.filter(({ kind }) => kind === 'event'))), plain(shown(told)))
})

test('Now: what is under way is shown before it is on record', async (t) => {
  const told = await toldBy(t, WRITES)
  const until = told.findIndex((each) => each.kind === 'delta' && each.delta.kind === 'call')
  const run = shown(told.slice(0, until + 1))
  const [step] = run.steps
  assert.deepEqual([run.state, run.to, step?.text], ['running', null, 'I write it.'])
  assert.deepEqual(step?.calls[0]?.status, null)
  assert.equal(step?.spans.at(-1)?.to, null)
})

test('Now: an event that is heard twice counts once, and one that is missing is noticed', async (t) => {
  const told = await toldBy(t, WRITES)
  const events = told.flatMap((each) => (each.kind === 'event' ? [each.event] : []))
  const run = newRun('r')
  for (const event of [...events, ...events]) hear(run, event)
  assert.deepEqual(run, shown(told.filter(({ kind }) => kind === 'event')))
  const holed = newRun('r')
  for (const event of events.filter(({ seq }) => seq !== 5)) hear(holed, event)
  assert.equal(holed.gap, true)
})

test('Now: a run that is put down is parked with its reason, and goes on when it is taken up', async (t) => {
  const told = await toldBy(t, [{ calls: [{ tool: 'wait', args: { for: 'the owner' } }] }])
  const run = shown(told)
  assert.deepEqual([run.state, run.reason, run.to === null], ['parked', 'the owner', false])
  const again: Event = {
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
  hear(run, again)
  assert.deepEqual([run.state, run.to], ['running', null])
})

test('Now: a run that fails says why', async (t) => {
  const run = shown(
    await toldBy(t, [
      { text: 'cut', finish: 'length' },
      { text: 'cut', finish: 'length' },
      { text: 'cut', finish: 'length' },
    ]),
  )
  assert.equal(run.state, 'failed')
  assert.notEqual(run.reason, '')
  assert.ok(run.steps.every(({ spans }) => spans.every(({ to }) => to !== null)))
})
