/** One step of a run in full, runs as files, and forks without a caller that waits. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { AppOptions } from '../src/app.ts'
import type { ModelRequest } from '../src/ports/model.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { tireless } from './support/command-line.ts'
import { openHttpApp, sendRequest } from './support/http-app.ts'
import { runTaskIn, waitUntil } from './support/open-app.ts'
import { calls, countingTool } from './support/replays.ts'

const LONG = `the answer ${'x'.repeat(5000)} ends`

/** A model that calls a tool twice, then answers at length; the requests as it got them. */
function recordingModel(): { model: NonNullable<AppOptions['model']>; requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  const model = scriptedModel((request): ScriptedStep => {
    requests.push(structuredClone(request))
    const turns = request.messages.filter(({ role }) => role === 'assistant').length
    return turns < 2 ? calls(turns) : { text: LONG }
  })
  return { model, requests }
}

async function openRun(t: TestContext) {
  const { model, requests } = recordingModel()
  const served = await openHttpApp(t, { model, tools: [countingTool()] })
  const { dispatch_id } = await runTaskIn(served.app)
  return { served, requests, run: dispatch_id }
}

describe('Q15: one step of a run', () => {
  test('shows input, calls with arguments and results, and the whole answer', async (t) => {
    const { served, run } = await openRun(t)
    const { step: first } = await served.app.run('trace show', { run, step: 1 })
    assert.ok(first)
    assert.equal(first.input[0]?.type, 'user_message')
    assert.deepEqual(
      first.calls.map(({ tool, args, result }) => [tool, args, result?.status]),
      [['count', { n: 0 }, 'ok']],
    )
    assert.deepEqual(
      first.rulings.map(({ index, ruling }) => [index, ruling]),
      [[0, 'allow']],
    )
    assert.ok(first.to !== null && first.to >= first.from)
    assert.equal(first.request, null, 'the request is not made again unless it is asked for')
    const { step: last, steps, events } = await served.app.run('trace show', { run, step: 3 })
    assert.equal(last?.answer?.text, LONG)
    assert.deepEqual([steps, events], [null, null])
    await assert.rejects(served.app.run('trace show', { run, step: 4 }), /no such step/)
    const all = (await served.app.run('trace show', { run, events: true })).events ?? []
    const rest = (await served.app.run('trace show', { run, events: true, after: all.length - 2 })).events
    const next = (await served.app.run('trace show', { run, events: true, after: 1, limit: 2 })).events
    assert.deepEqual(next, all.slice(1, 3))
    assert.deepEqual(rest, all.slice(-2))
  })

  test('shows exactly what was sent to the model, in sections and messages', async (t) => {
    const { served, requests, run } = await openRun(t)
    for (const [at, sent] of requests.entries()) {
      const { step } = await served.app.run('trace show', { run, step: at + 1, request: true })
      assert.ok(step?.request?.is_exact)
      assert.deepEqual(step.request.messages, sent.messages)
      assert.deepEqual(step.request.tools, sent.tools)
      assert.equal(step.request.sections.map(({ text }) => text).join('\n\n'), sent.system)
    }
    const { stdout } = await tireless(served.home, 'trace', 'show', run, '--step', '2', '--request')
    assert.match(stdout, /sent to .*\n(.*\n)*.*assistant:\n/)
  })

  test('is a file to download, as a page and as JSON, never a page of this site', async (t) => {
    const { served, run } = await openRun(t)
    for (const [format, pattern] of [
      ['html', /^<!doctype html>/],
      ['json', /"manifest": \{/],
    ] as const) {
      const path = `/api/v1/trace/download?run=${run}&format=${format}`
      const file = await sendRequest(served, path, { headers: served.bearer })
      assert.match(file.text, pattern)
      assert.match(file.headers['content-disposition'] ?? '', new RegExp(`^attachment; filename="run-.*\\.${format}"`))
      assert.equal(file.headers['content-type'], 'application/octet-stream')
      assert.equal((await sendRequest(served, path)).status, 401)
    }
    const missing = await sendRequest(served, '/api/v1/trace/download?run=nosuch', { headers: served.bearer })
    assert.deepEqual([missing.status, missing.code], [404, 'not_found'])
  })

  test('a fork without a caller that waits answers at once and is worked by the kernel', async (t) => {
    const { served, run } = await openRun(t)
    const forked = await served.app.run('replay', { run, from: 1, detach: true })
    assert.ok('forked_from' in forked)
    assert.equal(forked.status, 'pending')
    await served.app.run('start', { until_idle: true })
    await waitUntil(async () => (await served.app.run('queue show', { id: forked.run_id })).status === 'done')
  })
})
