/** The same question about the past gets the same answer by `ask`, in the chat, over HTTP and through a signed hook. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { type HttpApp, openHttpApp, postJson, sendRequest } from '../support/http-app.ts'
import { openApp } from '../support/open-app.ts'
import { openPastHome } from '../support/past-home.ts'
import { addPlans } from '../support/past-plans.ts'
import { TYPED_QUESTIONS } from '../support/typed-questions.ts'

const SECRET = 'the secret of the hook'
const HOOK = `server: { port: 0 }
channels: { webhook: { url: "http://127.0.0.1:9/", secret: ${SECRET}, chat_id: ops } }\n`

/** The home of the past, closed again. */
async function pastHome(t: TestContext) {
  const past = await openPastHome(t)
  await addPlans(past)
  await past.app.close()
  appendFileSync(join(past.home, 'tireless.yaml'), HOOK)
  return past
}

async function sendHook(http: HttpApp, now: number, message: object, delivery: string): Promise<number> {
  const body = JSON.stringify(message)
  const timestamp = String(Math.floor(now / 1000))
  const signature = createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex')
  const headers = {
    'Content-Type': 'application/json',
    'X-Tireless-Timestamp': timestamp,
    'X-Tireless-Signature': `sha256=${signature}`,
    'X-Tireless-Delivery': delivery,
  }
  return (await sendRequest(http, '/api/v1/hooks/webhook', { method: 'POST', headers, body })).status
}

test('O1: without a model, ask, chat, HTTP and a signed hook give the same answers', async (t) => {
  const { home, clock } = await pastHome(t)
  const http = await openHttpApp(t, { home, clock, yaml: '' })
  for (const [at, { question, kind, says }] of TYPED_QUESTIONS.entries()) {
    const { answer } = await http.app.run('ask', { question })
    const chat = await http.app.run('chat', { text: question })
    const web = (await postJson(http, '/api/v1/chat', { text: question, chat: 'http-ann' })).json<{ answer: string }>()
    assert.equal(await sendHook(http, clock.now(), { text: question, chat_id: 'ops' }, `d${at}`), 200, question)
    const [reply] = (await http.app.run('notices list', { limit: 1 })).items
    if (kind === null) {
      for (const said of [chat.answer, web.answer, reply?.text])
        assert.match(said ?? '', /^(?:No model is configured|还没有配置模型)/)
      continue
    }
    for (const said of says) assert.match(answer, said)
    assert.deepEqual([chat.answer, web.answer, reply?.text], [answer, answer, answer], question)
  }
})

/** A model in front of the chat that looks with the tool of the question, and passes on what it read. */
const TOOLS: readonly (readonly [
  question: string,
  tool: string,
  args: Readonly<Record<string, string>>,
  said: RegExp,
])[] = [
  ['which todos failed', 'past_todos', { status: 'failed' }, /T003 FAILED: Ask the supplier/],
  ['how many agents are there', 'list_agents', {}, /There are 3 agents/],
  ['上周花了多少钱', 'past_spend', { when: '上周', language: 'zh' }, /\$0\.28/],
  ['what changed in prices.csv', 'file_history', { path: 'prices.csv' }, /\+pear,3/],
  ['what waits for me', 'open_matters', {}, /Send the newsletter — needs your approval/],
]

function frontModel({ messages, tools }: ModelRequest): ScriptedAnswer {
  assert.ok(
    tools.some(({ name }) => name === 'route'),
    'only the session in front is asked',
  )
  const result = messages.findLast(({ role }) => role === 'tool')
  if (result?.role === 'tool') return { calls: [{ tool: 'route', args: { none: true, reply: result.text } }] }
  const asked = JSON.stringify(messages)
  const [, tool = '', args = {}] = TOOLS.findLast(([question]) => asked.includes(question)) ?? []
  return { calls: [{ tool, args }] }
}

test('O1: a provider’s model in front of the chat answers from the same records, through tools', async (t) => {
  const { home, clock } = await pastHome(t)
  const app = await openApp(t, { home, clock, model: scriptedModel(frontModel) })
  for (const [question, , , said] of TOOLS) {
    const { answer } = await app.run('chat', { text: question, chat: `of ${question}` })
    assert.match(answer ?? '', said, question)
  }
})
