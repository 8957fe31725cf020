/** An OpenAI-compatible server that is slow, silent, endless or misconfigured. */

import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setImmediate as settled } from 'node:timers/promises'
import { delta, hello, modelAt, signal } from '../../../test/support/openai-model.ts'
import { EVENT_STREAM_HEADERS, startRawServer, startScriptedProvider } from '../../../test/support/raw-server.ts'
import { FakeClock } from '../../testing/fake-clock.ts'

test("Node's own fetch timeout does not end a slow answer", async () => {
  const dispatcherKey = Symbol.for('undici.globalDispatcher.1')
  const originalDispatcher = Reflect.get(globalThis, dispatcherKey) as object
  const Dispatcher = originalDispatcher.constructor as new (options: object) => object
  let answer = () => {}
  await using server = await startRawServer((message, response) => {
    if (message.method === 'POST')
      answer = () =>
        void response.writeHead(200, EVENT_STREAM_HEADERS).end(delta({ content: 'at last' }) + delta({}, 'stop'))
  })
  Reflect.set(globalThis, dispatcherKey, new Dispatcher({ headersTimeout: 50, bodyTimeout: 50 }))
  try {
    const slow = modelAt(server.url).call(hello, { signal })
    // A plain fetch hits the limit, although the model was asked first.
    await assert.rejects(fetch(server.url))
    answer()
    assert.equal((await slow).text, 'at last')
  } finally {
    Reflect.set(globalThis, dispatcherKey, originalDispatcher)
  }
})

test('an abort before the call sends nothing; a later one ends the request with `aborted`', async () => {
  await assert.rejects(modelAt('http://127.0.0.1:9/v1').call(hello, { signal: AbortSignal.abort() }), {
    code: 'aborted',
  })
  for (const stream of [true, false]) {
    for (const fault of ['hang', 'stall'] as const) {
      await using server = await startScriptedProvider([{ text: 'some text', faults: [fault] }])
      const stop = new AbortController()
      const called = modelAt(server.url, { stream }).call(hello, {
        signal: stop.signal,
        onText: () => stop.abort('enough'),
      })
      while (server.requests.length === 0) await settled()
      if (!(stream && fault === 'stall')) stop.abort()
      await assert.rejects(called, { code: 'aborted', retry: 'never' })
    }
  }
})

test('bytes reset the idle timeout; silence ends the request and closes the connection', async () => {
  const clock = new FakeClock()
  let response: ServerResponse | undefined
  let closed = false
  await using server = await startRawServer((message: IncomingMessage, serverResponse) => {
    message.resume()
    serverResponse.writeHead(200, EVENT_STREAM_HEADERS).flushHeaders()
    serverResponse.once('close', () => {
      closed = true
    })
    response = serverResponse
  })
  const model = modelAt(server.url, { clock, idleTimeoutMs: 1000 })
  let received = ''
  const ask = () => model.call(hello, { signal, onText: (text) => (received += text) })
  const sendText = async (text: string) => {
    while (!response) await settled()
    response.write(delta({ content: text }))
    while (!received.endsWith(text)) await settled()
  }
  const slow = ask()
  for (const text of ['a', 'b', 'c']) {
    await sendText(text)
    await clock.advance(900)
  }
  response?.end(delta({}, 'stop'))
  assert.equal((await slow).text, 'abc')

  response = undefined
  closed = false
  const silent = assert.rejects(ask(), { code: 'model_timeout' })
  await sendText('d')
  await clock.advance(999)
  assert.equal(closed, false)
  await clock.advance(1)
  await silent
  while (!closed) await settled()
  assert.equal(clock.sleeping, 0)
})

test('endless bytes without an event are model_oversize', async () => {
  await using server = await startRawServer((_, response) => {
    response.writeHead(200, EVENT_STREAM_HEADERS)
    const writeMore = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', writeMore)
    }
    writeMore()
  })
  for (const stream of [true, false]) {
    await assert.rejects(modelAt(server.url, { stream, maxBytes: 100_000 }).call(hello, { signal }), {
      code: 'model_oversize',
    })
  }
})

test('a redirect is not followed', async () => {
  let requests = 0
  await using server = await startRawServer((_, response) => {
    requests += 1
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  await assert.rejects(modelAt(server.url).call(hello, { signal }), { code: 'model_unknown' })
  assert.equal(requests, 1)
})

test('an error in onText does not break the answer', async () => {
  await using server = await startScriptedProvider([{ text: 'fine' }])
  for (const stream of [true, false]) {
    const onText = () => {
      throw new Error('a broken callback')
    }
    assert.equal((await modelAt(server.url, { stream }).call(hello, { signal, onText })).text, 'fine')
  }
})

test('an invalid base_url or key is refused on creation, and the key is not quoted', () => {
  assert.throws(() => modelAt('localhost:11434/v1'), { code: 'config_invalid' })
  assert.throws(() => modelAt('nonsense'), { code: 'config_invalid' })
  assert.throws(
    () => modelAt('http://127.0.0.1:1/v1', { apiKey: 'sk-secret\n\u0000x' }),
    (error) => error instanceof Error && !error.message.includes('sk-secret') && error.cause === undefined,
  )
})
