/** `ask` with a model: it reads the records with tools, and what it names is checked against their results. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { App } from '../src/app.ts'
import type { Progress } from '../src/commands/lib/progress.ts'
import { TirelessError } from '../src/domain/error.ts'
import { PAST_TOOLS } from '../src/domain/past-tools.ts'
import { shortId } from '../src/domain/short-id.ts'
import type { ModelRequest } from '../src/ports/model.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../src/testing/scripted-model.ts'
import { openHttpApp, sendRequest } from './support/http-app.ts'
import { advanceUntilDone, openApp, replayIn } from './support/open-app.ts'

const YAML = 'kernel: { timezone: UTC }\n'
const NOW = Date.parse('2026-11-12T15:00:00Z')
const LOOK: ScriptedAnswer = { calls: [{ tool: 'past_work', args: { when: 'today' } }] }

const isAnswering = ({ system }: ModelRequest): boolean => system.includes("answer the owner's question")
const write: ScriptedAnswer = { calls: [{ tool: 'create_file', args: { path: 'reports/weekly.md', content: 'x' } }] }

interface Asked {
  readonly app: App
  readonly model: ScriptedModel
  readonly clock: FakeClock
  readonly run: string
}

/** A home with one run that wrote reports/weekly.md; `answers`: what the model says when it is asked. */
async function openWithRun(t: TestContext, answers: readonly (ScriptedAnswer | Error)[]): Promise<Asked> {
  const clock = new FakeClock({ now: NOW })
  const model = scriptedModel((request, turn) => {
    if (!isAnswering(request)) return turn === 0 ? write : { text: 'The report is written.' }
    const answer = answers[Math.min(turn, answers.length - 1)]
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no answer')
    return answer
  })
  const app = await openApp(t, { clock, model, yaml: YAML })
  const { dispatch_id: run } = await app.run('run', { task: 'Write the weekly report' })
  return { app, model, clock, run }
}

describe('ask with a model', () => {
  test('the model gets only tools that read the records, and its answer from them is shown', async (t) => {
    const answers = [LOOK, { text: 'I wrote reports/weekly.md today.' }]
    const { app, model, run } = await openWithRun(t, answers)
    const asked = await app.run('ask', { question: 'What did you do today?' })
    assert.equal(asked.answer, 'I wrote reports/weekly.md today.')
    assert.deepEqual([asked.answered_by, asked.kind, asked.not_found], ['model', 'did', []])
    const [request] = model.requests.filter(isAnswering)
    const offered = request?.tools.map(({ name }) => name).toSorted()
    assert.deepEqual(offered, [...PAST_TOOLS, 'finish'].toSorted())
    const seen = JSON.stringify(model.requests.at(-1)?.messages)
    assert.match(seen, new RegExp(`Write the weekly report \\(done.*run ${shortId(run)}`))
    assert.ok((await replayIn(app, asked.dispatch_id ?? '')).identical)
    const work = await app.run('ask', { question: 'What did you do today?', rules: true })
    assert.match(work.answer, /1 run \(1 done\)/, 'answering a question is no work')
  })

  test('an answer with names that no tool has shown goes back once, with these names', async (t) => {
    const answers = [LOOK, { text: 'I wrote reports/monthly.md for $9.99.' }, { text: 'I wrote reports/weekly.md.' }]
    const { app, model } = await openWithRun(t, answers)
    const asked = await app.run('ask', { question: 'What did you do today?' })
    assert.deepEqual([asked.answer, asked.not_found], ['I wrote reports/weekly.md.', []])
    assert.match(JSON.stringify(model.requests.at(-1)?.messages), /no tool has shown: reports\/monthly\.md, \$9\.99/)
  })

  test('a model that insists is shown with a warning, in the language of the question', async (t) => {
    const { app } = await openWithRun(t, [LOOK, { text: '我写了 reports/monthly.md，花了 $9.99。' }])
    const asked = await app.run('ask', { question: '今天做了什么？' })
    assert.deepEqual(asked.not_found, ['reports/monthly.md', '$9.99'])
    assert.match(asked.answer, /注意：模型读到的记录里没有 reports\/monthly\.md, \$9\.99。$/)
  })

  test('a model that does not look is told to; if it still does not, the rules answer', async (t) => {
    const { app, model } = await openWithRun(t, [{ text: 'I did nothing today.' }])
    const notes: Progress[] = []
    const asked = await app.run('ask', { question: 'What did you do today?' }, (progress) => notes.push(progress))
    assert.equal(asked.answered_by, 'rules')
    assert.match(asked.answer, /Write the weekly report \(done/)
    assert.match(JSON.stringify(model.requests.at(-1)?.messages), /answered without looking into the records/)
    assert.match(JSON.stringify(notes), /did not look into the records/)
  })

  test('if the model cannot be reached, the rules answer and the run is not left behind', async (t) => {
    const { app, clock } = await openWithRun(t, [new TirelessError('model_unavailable', 'the provider is down')])
    const asked = await advanceUntilDone(clock, app.run('ask', { question: 'What did you do today?' }))
    assert.equal(asked.answered_by, 'rules')
    assert.match(asked.answer, /Write the weekly report \(done/)
    const { pending, running, waiting } = (await app.run('status', {})).queue
    assert.deepEqual([pending, running, waiting], [0, 0, 0])
  })

  test('a question that names a file asks for no file', async (t) => {
    const { app } = await openWithRun(t, [LOOK, { text: 'Yes, today.' }])
    for (const question of ['Did you write reports/weekly.md?', 'What did you write into reports/weekly.md today?']) {
      const asked = await app.run('ask', { question })
      assert.deepEqual([asked.answered_by, asked.answer], ['model', 'Yes, today.'])
    }
  })

  test('over HTTP, ask is the same command', async (t) => {
    const served = await openHttpApp(t, { clock: new FakeClock({ now: NOW }), yaml: `${YAML}server: { port: 0 }\n` })
    const body = JSON.stringify({ question: '昨天做了什么？' })
    const headers = { ...served.bearer, 'content-type': 'application/json' }
    const response = await sendRequest(served, '/api/v1/ask', { method: 'POST', headers, body })
    assert.equal(response.status, 200)
    const { answer, kind } = response.json<{ answer: string; kind: string }>()
    assert.deepEqual([answer, kind], ['昨天（2026年11月11日星期三）：什么也没有发生。没有任务，也没有周期。', 'did'])
  })

  test('without a model, the rules answer; and the offline model reports the result of the right tool', async (t) => {
    const app = await openApp(t, { clock: new FakeClock({ now: NOW }), yaml: YAML })
    await app.run('run', { task: 'Create a file a.md with the content "x"' })
    const question = '今天做了什么？'
    const asked = await app.run('ask', { question })
    assert.equal(asked.answered_by, 'rules')
    const said = await app.run('run', { task: question, behaviour: 'answer' })
    assert.equal(said.status, 'done')
    assert.match(said.answer ?? '', /今天.*1 个任务（1 完成）/)
    assert.match(said.answer ?? '', /写了 a\.md/)
  })
})
