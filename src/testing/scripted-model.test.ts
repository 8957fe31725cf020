import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TirelessError } from '../domain/error.ts'
import type { ModelMessage, ModelRequest } from '../ports/model.ts'
import { scriptedModel } from './scripted-model.ts'

const signal = new AbortController().signal
const user: ModelMessage = { role: 'user', text: 'do it' }
const assistant: ModelMessage = { role: 'assistant', text: 'ok', calls: [] }
const request = (...messages: ModelMessage[]): ModelRequest => ({ system: '', messages, tools: [] })

test('the number of assistant messages chooses the answer, so a new instance can resume', async () => {
  const script = [{ calls: [{ tool: 'bash', args: { command: 'ls' } }] }, { text: 'done' }]
  const pieces: string[] = []
  const first = await scriptedModel(script).call(request(user), { signal })
  assert.deepEqual(first.calls, [{ id: 'call-0-0', tool: 'bash', args: '{"command":"ls"}' }])
  assert.equal(first.finish, 'calls')
  const resumed = scriptedModel(script)
  const last = await resumed.call(request(user, assistant), { signal, onText: (text) => pieces.push(text) })
  assert.deepEqual({ text: last.text, finish: last.finish, pieces }, { text: 'done', finish: 'stop', pieces: ['done'] })
  assert.deepEqual(resumed.requests, [request(user, assistant)])
})

test('faults come first, once each, counted per conversation', async () => {
  const model = scriptedModel([{ text: 'done', faults: [new TirelessError('model_limited', 'slow down')] }])
  const other = request({ role: 'user', text: 'another' })
  await assert.rejects(model.call(request(user), { signal }), { code: 'model_limited' })
  assert.equal((await model.call(request(user), { signal })).text, 'done')
  await assert.rejects(model.call(other, { signal }), { code: 'model_limited' })
})

test('a function gets the request and the turn; raw argument text is not changed', async () => {
  const model = scriptedModel((received, turn) => ({
    calls: [{ tool: `t${turn}`, args: `{"n": ${received.messages.length}` }],
  }))
  assert.deepEqual((await model.call(request(user), { signal })).calls, [
    { id: 'call-0-0', tool: 't0', args: '{"n": 1' },
  ])
})

test('a missing turn throws, an empty answer throws, an abort is honoured', async () => {
  const model = scriptedModel([{}])
  await assert.rejects(model.call(request(user, assistant), { signal }), { code: 'internal' })
  await assert.rejects(model.call(request(user), { signal }), { code: 'model_empty' })
  await assert.rejects(model.call(request(user), { signal: AbortSignal.abort() }), { code: 'aborted' })
})
