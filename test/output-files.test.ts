/** A run whose task names an output file is done only if the file was written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { createHome, tireless, tirelessJson } from './support/command-line.ts'
import { openApp, replayIn, runTaskIn } from './support/open-app.ts'

const TASK = 'Look at the servers and save what you find to report.md'
const write = (path: string) => ({ calls: [{ tool: 'create_file', args: { path, content: 'x' } }] })
const LOOK = { calls: [{ tool: 'list_files', args: {} }] }
const CLAIM = { text: 'I have written report.md.' }

test('a claim without the file is failed on the command line, with the file and the answer', async (t) => {
  const home = await createHome(t, [write('other.md'), CLAIM, CLAIM])
  const { exit, stdout } = await tireless(home, 'run', TASK)
  assert.equal(exit, 1)
  assert.match(
    stdout,
    /^failed: the task tells to write report\.md, but no call of the run wrote it\. .*I have written/,
  )
  const { items } = await tirelessJson<{ items: { status: string; failure_class: string }[] }>(home, 'queue', 'list')
  assert.deepEqual(
    { status: items[0]?.status, failure_class: items[0]?.failure_class },
    { status: 'failed', failure_class: 'invalid_result' },
  )
})

for (const [what, steps, status, requests] of [
  ['a failed write, then a claim', [write('../report.md'), CLAIM, CLAIM], 'failed', 3],
  ['a claim, then the write after the reminder', [CLAIM, write('report.md'), CLAIM], 'done', 3],
  ['the write', [write('report.md'), CLAIM], 'done', 2],
] as const)
  test(`${what}: ${status}, and the replay is identical`, async (t) => {
    const model = scriptedModel(steps.map((step) => ({ ...step })))
    const app = await openApp(t, { model })
    const ended = await runTaskIn(app, TASK)
    assert.deepEqual({ status: ended.status, requestCount: model.requests.length }, { status, requestCount: requests })
    if (status === 'failed') assert.equal(ended.stop_reason, 'critic_stop')
    assert.equal((await replayIn(app, ended.dispatch_id)).identical, true)
  })

const FOLDER_TASK = 'Write a poem about the sea.'

for (const [what, steps, status] of [
  ['a failed write as the last call', [write('../poem.md'), CLAIM, CLAIM], 'failed'],
  ['a failed write, then a good one', [write('../poem.md'), write('poem.md'), CLAIM], 'done'],
  ['a failed write, then a look after the reminder', [write('../poem.md'), CLAIM, LOOK, CLAIM], 'done'],
  ['a failed look as the last call', [{ calls: [{ tool: 'view_file', args: { path: 'x.md' } }] }, CLAIM], 'done'],
] as const)
  test(`without a named file, ${what}: ${status}, and the replay is identical`, async (t) => {
    const model = scriptedModel(steps.map((step) => ({ ...step })))
    const app = await openApp(t, { model })
    const ended = await runTaskIn(app, FOLDER_TASK)
    assert.equal(ended.status, status)
    if (status === 'failed')
      assert.match(ended.error ?? '', /the last call failed \(create_file \.\.\/poem\.md: .*I have/)
    assert.equal((await replayIn(app, ended.dispatch_id)).identical, true)
  })

test('a task that only has to try is done although its write failed', async (t) => {
  const model = scriptedModel([write('../poem.md'), CLAIM])
  const ended = await runTaskIn(await openApp(t, { model }), 'Try to write a poem outside of your folder.')
  assert.deepEqual({ status: ended.status, requestCount: model.requests.length }, { status: 'done', requestCount: 2 })
})

test('a task that only reads a file is done without writing it', async (t) => {
  const model = scriptedModel([{ text: 'It says hello.' }])
  const ended = await runTaskIn(await openApp(t, { model }), 'Read report.md and tell me what it says')
  assert.deepEqual({ status: ended.status, requestCount: model.requests.length }, { status: 'done', requestCount: 1 })
})
