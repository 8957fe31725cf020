/** What waits for the owner: one list of all of it, answered by its choices; every way to ask shows the same. */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { render } from '../src/cli/views/views.ts'
import { TirelessError } from '../src/domain/error.ts'
import { LOST_COMMITS } from '../src/domain/lost-commits.ts'
import { commitOne } from '../src/ports/store.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { call, sendTool } from './support/approval-fixtures.ts'
import { tireless, tirelessJson } from './support/command-line.ts'
import { fakeTool } from './support/fake-tools.ts'
import { openHttpApp, postJson, sendRequest } from './support/http-app.ts'
import { freshFolder, openApp } from './support/open-app.ts'

/** The task says what the run needs; then it answers. */
const model = scriptedModel(({ messages }) => {
  const text = messages.map((message) => message.text).join('\n')
  const results = messages.filter(({ role }) => role === 'tool').length
  if (text.includes('fail')) throw new TirelessError('model_refused', 'refused')
  if (results > 0) return { text: 'done' }
  if (text.includes('publish')) return { calls: [call('publish', {})] }
  if (text.includes('send')) return { calls: [call('send', { to: 'ann@example.com' })] }
  return { calls: [call('ask_user', { question: 'Which city?' })] }
})

const publish = fakeTool({
  name: 'publish',
  effect: { recovery: 'once', reach: 'third_party' },
  run: () => ({ status: 'unknown', content: 'half of it was sent' }),
})

async function openWithNeeds(t: TestContext, open: typeof openApp = openApp) {
  const send = sendTool()
  const app = await open(t, { model, tools: [publish, send], yaml: 'policy: { unattended: park }\n' })
  for (const prompt of ['publish it', 'send it', 'ask me', 'fail']) await app.run('enqueue', { prompt })
  await app.run('start', { until_idle: true })
  return { app, send }
}

const DISK = {
  kind: 'space',
  same_as: 'the disk',
  title: { text: 'Little space is left', zh: '空间不多了' },
  body: { text: 'Two folders are large.', zh: '有两个文件夹很大。' },
  choices: [
    {
      id: 'pause',
      text: { text: 'Pause', zh: '暂停' },
      does: { text: 'Pauses the kernel.', zh: '暂停内核。' },
      command: { name: 'pause', input: {} },
    },
    {
      id: 'seen',
      text: { text: 'Seen', zh: '已看' },
      does: { text: 'Nothing changes.', zh: '什么也不改变。' },
      command: null,
    },
  ],
} as const

describe('what waits for the owner', () => {
  test('E11: one list has everything that waits; each choice says what it does, and does it', async (t) => {
    const { app, send } = await openWithNeeds(t)
    const id = await app.service('needs').open(DISK)
    const list = async () => (await app.run('needs list', { language: 'en' })).items
    const listed = await list()
    assert.deepEqual(
      listed.map(({ kind, title, choices }) => [kind, title, choices.map((choice) => choice.id).join(' ')]),
      [
        ['approval', 'default asks for your approval: send', 'allow session 7d deny'],
        ['unknown', 'Did this take effect: publish?', 'happened not recheck'],
        ['question', 'default asks you', 'answer'],
        ['space', 'Little space is left', 'pause seen'],
        ['failure', 'default failed', 'retry dismiss'],
      ],
    )
    assert.match(listed[0]?.body ?? '', /ann@example\.com[\s\S]*Why you are asked/)
    assert.equal(listed[2]?.body, 'Which city?')
    const answer = (kind: string, choice: string, words?: string) =>
      app.run('needs answer', { id: listed.find((need) => need.kind === kind)?.id ?? '', choice, words })
    await assert.rejects(answer('question', 'answer'), { code: 'usage', message: /needs your words/ })
    await assert.rejects(answer('space', 'seen', 'words'), { code: 'usage', message: /takes no words/ })
    await assert.rejects(answer('failure', 'allow'), { code: 'usage', message: /expected retry, dismiss/ })
    assert.equal((await answer('approval', 'allow')).status, 'answered')
    await answer('unknown', 'happened')
    await answer('question', 'answer', 'Paris')
    await answer('failure', 'dismiss')
    const paused = await answer('space', 'pause')
    assert.deepEqual([paused.status, paused.answer], ['answered', { choice: 'pause', words: null }])
    assert.equal((await app.run('status', {})).kernel.state, 'paused')
    await app.run('resume', {})
    await app.run('start', { until_idle: true })
    assert.deepEqual(await list(), [])
    assert.equal(send.receivedArgs.length, 1, 'the call was allowed once')
    const queue = (await app.run('queue list', {})).items.map(({ prompt, status }) => `${prompt}: ${status}`)
    assert.deepEqual(queue.toSorted(), ['ask me: done', 'fail: failed', 'publish it: done', 'send it: done'])
    await assert.rejects(app.run('needs answer', { id, choice: 'seen' }), { code: 'conflict' })
    const ended = (await app.run('needs list', { ended: true })).items.map(({ kind, status }) => `${kind}: ${status}`)
    assert.deepEqual(ended.toSorted(), ['approval: answered', 'space: answered', 'unknown: answered'])
  })

  test('E11: status, doctor, "what waits for me?" and the terminal show the same, in both languages', async (t) => {
    const { app } = await openWithNeeds(t)
    const needs = app.service('needs')
    const id = await needs.open(DISK)
    assert.equal(await needs.open({ ...DISK, body: { text: 'Three folders are large.' } }), id)
    const { needs: others, degraded, approvals, questions, unknowns } = await app.run('status', {})
    const title = { id, kind: 'space', title: 'Little space is left', title_zh: '空间不多了' }
    assert.deepEqual([others, approvals, questions, unknowns], [[title], 1, 1, 1])
    assert.ok(degraded.includes(`Little space is left. See: tireless needs show ${id}`))
    const { checks } = await app.run('doctor', {})
    assert.equal(checks.find(({ name }) => name === 'needs you')?.found, 'Little space is left')
    const { answer } = await app.run('ask', { question: 'what waits for me?' })
    for (const said of ['Little space is left', 'Three folders', 'needs answer', 'Which city?', 'refused'])
      assert.ok(answer.includes(said), said)
    assert.match((await app.run('ask', { question: '有什么在等我？' })).answer, /空间不多了/)
    const chinese = await app.run('needs show', { id, language: 'zh' })
    assert.deepEqual([chinese.title, chinese.choices[0]?.does], ['空间不多了', '暂停内核。'])
    const shown = render('needs list', await app.run('needs list', { language: 'en' }))
    for (const said of ['Pauses the kernel.', `tireless needs answer ${id} pause`, 'ann@example.com', ' "your words"'])
      assert.ok(shown.includes(said), said)
    await needs.withdraw(DISK.same_as)
    assert.deepEqual((await app.run('status', {})).needs, [])
    assert.equal((await app.run('needs show', { id })).status, 'withdrawn')
  })

  test('E11: HTTP lists and answers them as the commands do', async (t) => {
    const served = await openHttpApp(t, { model })
    const id = await served.app.service('needs').open(DISK)
    const listed = await sendRequest(served, '/api/v1/needs/list?language=zh', { headers: served.bearer })
    assert.deepEqual(
      [listed.status, listed.json<{ items: { title: string }[] }>().items[0]?.title],
      [200, '空间不多了'],
    )
    const answered = await postJson(served, '/api/v1/needs/answer', { id, choice: 'seen' })
    assert.deepEqual([answered.status, answered.json().status], [200, 'answered'])
    assert.equal((await postJson(served, '/api/v1/needs/answer', { id, choice: 'seen' })).status, 409)
  })

  test('E11: lost work waits for the owner until he accepts the loss, also without a kernel', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home, model })
    const value = { commits: 2, records: 3, sessions: ['s'], at_least: false, up_to: [1, 2] }
    await commitOne(app.context.store, [{ op: 'set', name: LOST_COMMITS, value }])
    const id = await app.service('needs').open(DISK)
    await app.close()
    const { stdout } = await tireless(home, 'needs', 'list')
    assert.match(stdout, /Acknowledged work is missing[\s\S]*tireless needs answer lost-commits accept/)
    const accepted = await tireless(home, 'needs', 'answer', 'lost-commits', 'accept')
    assert.equal(accepted.exit, 0, accepted.stderr)
    await tireless(home, 'needs', 'answer', id.slice(0, 12), 'seen')
    assert.deepEqual((await tirelessJson<{ items: unknown[] }>(home, 'needs', 'list')).items, [])
    assert.equal((await tireless(home, 'needs', 'answer', 'nothing', 'seen')).exit, 1)
  })
})
