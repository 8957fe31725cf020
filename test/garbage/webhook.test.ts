/**
 * Generated requests to the webhook, signed and unsigned: never a 500, refused with a message, and a home that stays
 * readable.
 */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { assertPlainMessage, assertReopens } from '../support/garbage-assertions.ts'
import { anyBytes, anyText, anyValue, checkProperty } from '../support/garbage-values.ts'
import { startHookServer } from '../support/hook-server.ts'
import { type HttpResponse, openHttpApp, sendRequest } from '../support/http-app.ts'
import { freshFolder } from '../support/open-app.ts'

const SECRET = 'the secret of the hook'
const HOOK = '/api/v1/hooks/webhook'

/** Header values that other programs may send. */
const header = anyText.filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text) && text.trim() === text)

const message = fc.record(
  {
    text: fc.oneof({ arbitrary: fc.constantFrom('/notice', '/notice off', '/status'), weight: 2 }, anyText, anyValue),
    chat_id: fc.oneof(anyText, anyValue),
    user_id: fc.oneof(anyText, anyValue),
    message_id: fc.oneof(anyText, anyValue),
    kind: fc.oneof({ arbitrary: fc.constant(undefined), weight: 6 }, anyValue),
  },
  { requiredKeys: [] },
)

function assertAnswered({ status, text }: HttpResponse): void {
  assert.ok([200, 400, 401, 413, 415].includes(status), `${status}: ${text}`)
  if (status >= 400) assertPlainMessage((JSON.parse(text) as { error: { message: string } }).error.message)
}

test('the webhook with any request', async (t) => {
  const { url } = await startHookServer(t)
  const yaml = `server: { port: 0 }\nchannels: { webhook: { url: "${url}", secret: ${SECRET} } }\n`
  const options = { home: freshFolder(t), model: scriptedModel(() => ({ text: 'done' })), yaml }
  const served = await openHttpApp(t, options)
  let sent = 0
  const send = (body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<HttpResponse> => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', SECRET).update(`${timestamp}.`).update(body).digest('hex')
    sent += 1
    const signedHeaders = {
      ...{ 'x-tireless-timestamp': timestamp, 'x-tireless-signature': `sha256=${signature}` },
      ...{ 'x-tireless-delivery': `d${sent}`, 'content-type': 'application/json' },
    }
    return sendRequest(served, HOOK, { method: 'POST', headers: { ...signedHeaders, ...headers }, body })
  }

  await t.test('signed messages that are invalid', () =>
    checkProperty(120, message, async (text) => assertAnswered(await send(Buffer.from(JSON.stringify(text))))),
  )
  await t.test('signed bytes that are not JSON or not text', () =>
    checkProperty(60, anyBytes, async (body) => assertAnswered(await send(body))),
  )
  await t.test('headers without a valid signature', () => {
    const names = ['x-tireless-timestamp', 'x-tireless-signature', 'x-tireless-delivery', 'content-type']
    return checkProperty(60, fc.tuple(fc.constantFrom(...names), header), async ([name, value]) => {
      assertAnswered(await send(Buffer.from('{"text":"/notice"}'), { [name]: value }))
    })
  })
  await t.test('afterwards the home opens, and everything in it can be read', async () => {
    await (await assertReopens(t, served.app, options)).close()
  })
})
