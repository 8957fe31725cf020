/** Without a model, people are told what is possible, in the words of the place where they read it. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { offlineModel } from '../../src/adapters/models/offline/offline.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

const WHAT = [
  ...['hello, what can you do?', 'Hello', 'what can you do', 'Who are you?', 'help'],
  ...['你好', '你能做什么？', '你好，你会做什么', '你可以帮我做些什么', '你是谁？'],
]
const OTHER = ['what did you do today?', 'what can you do about the failed run of yesterday?', '你今天做了什么？']

describe('a chat without a model', () => {
  test('E5: a greeting, or what it can do, is answered with its sentences and how to set a model', async (t) => {
    const app = await openApp(t, { model: offlineModel })
    for (const text of WHAT) {
      const { reply, dispatch_id } = await app.run('send', { text, chat: 'page', rules: true })
      const isChinese = /\p{Script=Han}/u.test(text)
      assert.equal(dispatch_id, null, text)
      assert.match(
        String(reply),
        isChinese ? /离线模型看得懂的句子.*内容为“TEXT”/s : /understands these sentences.*"TEXT"/s,
      )
      assert.match(String(reply), isChinese ? /在“设置 → 模型”里设置/ : /set up a model in Settings → Models/)
      assert.doesNotMatch(String(reply), /tireless \w+/, 'no commands on the page')
    }
    for (const text of OTHER)
      assert.doesNotMatch(String((await app.run('send', { text, chat: 'page', rules: true })).reply), /TEXT/, text)
    const { reply } = await app.run('send', { text: 'what can you do?' })
    assert.match(String(reply), /tireless models list/, 'in a terminal, the command')
  })

  test('E5: a task that it does not understand is listed as one of which nothing, or not all, was done', async (t) => {
    const app = await openApp(t, { model: offlineModel })
    const tasks = {
      'Compose a symphony.': 'all',
      '作一首交响曲。': 'all',
      'Create a.txt with the content "x". Compose a symphony.': 'part',
      'Create b.txt with the content "x".': null,
    }
    for (const text of Object.keys(tasks)) await app.run('send', { text, chat: 'page', rules: true })
    await app.run('start', { until_idle: true })
    const { items } = await app.run('messages list', { chat: 'page' })
    const found = items.map(({ text, runs }) => [text, runs.at(-1)?.not_understood])
    assert.deepEqual(Object.fromEntries(found), tasks)
  })

  test('what waits for the owner names commands in a terminal, and the place on the page', async (t) => {
    const app = await openApp(t, { model: offlineModel })
    assert.equal((await runTaskIn(app, 'Write "x" to a.md.', { max_steps: 1 })).status, 'failed')
    const ask = async (text: string, chat?: string) => String((await app.run('send', { text, chat })).reply)
    assert.match(await ask('What waits for me?'), /type: tireless queue retry /)
    const [english, chinese] = [await ask('What waits for me?', 'page'), await ask('有什么在等我？', 'page')]
    assert.match(english, /Write "x" to a\.md\. — failed .*\nYou can answer, .* each of them in “Needs you”\.$/s)
    assert.match(chinese, /可以在“等你处理”里逐项回答/)
    for (const said of [english, chinese]) assert.doesNotMatch(said, /tireless \w+/)
  })
})
