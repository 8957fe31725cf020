/** Generated garbage at every port of a source: one event is refused, never the process. */

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyBytes, anyText, anyValue, checkProperty } from '../support/garbage-values.ts'
import { sendRequest } from '../support/http-app.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openSourceApp, postHook, SECRET, type SourceApp, signedHeaders } from '../support/source-app.ts'
import { connectSource } from '../support/source-socket.ts'

const header = anyText.filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text) && text.trim() === text)
let sent = 0

/** The source still hears what is right. */
async function assertHears(app: SourceApp): Promise<void> {
  sent += 1
  const { status, text } = await postHook(app, 'hook', { text: `fine ${sent}` }, { delivery: `fine-${sent}` })
  assert.equal(status, 200, text)
}

test('K7: webhooks with any body and header', async (t) => {
  const app = await openSourceApp(t, { hook: { type: 'webhook', secret: SECRET } })
  const answered = ({ status, text }: { readonly status: number; readonly text: string }): void =>
    assert.ok([200, 400, 401, 413, 415, 503].includes(status), `${status}: ${text}`)
  const post = (body: Buffer | string, headers = {}) => {
    sent += 1
    const signed = signedHeaders(body.toString('utf8'), { delivery: `d${sent}` })
    return sendRequest(app, '/api/v1/hooks/hook', { method: 'POST', headers: { ...signed, ...headers }, body })
  }
  await checkProperty(60, anyValue, async (value) => answered(await post(JSON.stringify(value) ?? 'null')))
  await checkProperty(40, anyBytes, async (bytes) => answered(await post(bytes)))
  const names = fc.constantFrom('x-tireless-timestamp', 'x-tireless-signature', 'x-tireless-delivery', 'content-type')
  await checkProperty(60, fc.tuple(names, header), async ([name, value]) =>
    answered(await post('{}', { [name]: value })),
  )
  for (const body of ['['.repeat(30_000) + ']'.repeat(30_000), `{"text":"\\ud800"}`, '{"__proto__":{"a":1}}'])
    answered(await post(body))
  await assertHears(app)
})

test('K9: WebSockets with any frame', async (t) => {
  const app = await openSourceApp(t, {
    live: { type: 'websocket', secret: SECRET, max_per_second: 10_000 },
    hook: { type: 'webhook', secret: SECRET },
  })
  const client = await connectSource(app, 'live')
  const answered = async (frame: string | Buffer): Promise<void> => {
    const answer = await client.ask(frame)
    assert.ok('ok' in answer || 'error' in answer, JSON.stringify(answer))
  }
  await checkProperty(80, anyValue, (value) => answered(JSON.stringify(value) ?? 'null'))
  await checkProperty(40, anyText, (text) => answered(text))
  await checkProperty(20, anyBytes, (bytes) => answered(bytes))
  const frame = fc.record({ id: anyValue, text: anyValue, name: anyValue, payload: anyValue }, { requiredKeys: [] })
  await checkProperty(60, frame, (value) => answered(JSON.stringify(value)))
  assert.deepEqual(await client.ask({ text: 'fine' }), { ok: true, duplicate: false })
  client.socket.close()
  // Bytes that are no WebSocket frames close the connection, and nothing else.
  const broken = await connectSource(app, 'live')
  ;(broken.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(Buffer.alloc(64, 0xff))
  await broken.closed
  await assertHears(app)
})

test('K7: files with any name, and lines of any bytes', async (t) => {
  const folder = freshFolder(t, 'watched')
  mkdirSync(folder, { recursive: true })
  const input = new PassThrough()
  const app = await openSourceApp(
    t,
    {
      inbox: { type: 'files', paths: [folder], settle: 0, poll: '20ms' },
      typed: { type: 'lines' },
      hook: { type: 'webhook', secret: SECRET },
    },
    { input: () => input },
  )
  await waitUntil(async () => (await app.app.service('store').setting('source:inbox')) !== null)
  const name = fc
    .uint8Array({ minLength: 1, maxLength: 40 })
    .map((bytes) => Buffer.from(bytes).filter((byte) => byte !== 0 && byte !== 47))
  await checkProperty(40, name, async (bytes) => {
    if (bytes.length === 0 || ['.', '..'].includes(Buffer.from(bytes).toString())) return
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), bytes]), '')
  })
  await checkProperty(40, anyBytes, async (bytes) => {
    if (bytes.length > 0) input.write(bytes)
  })
  writeFileSync(join(folder, 'the last one'), '')
  input.write('\nthe last line\n')
  await waitUntil(() => app.heard.some(({ observation }) => JSON.stringify(observation).includes('the last one')))
  await waitUntil(() => app.heard.some(({ observation }) => JSON.stringify(observation).includes('the last line')))
  await assertHears(app)
  for (const source of ['inbox', 'typed', 'hook']) assert.equal((await app.state(source)).state, 'running')
})
