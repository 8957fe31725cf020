/** Generated requests over HTTP: never a 500, an error with a message, and a home that stays readable. */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { inputFields } from '../../src/commands/lib/input-fields.ts'
import { loadCommands } from '../../src/commands/lib/registry.ts'
import { createEndpoints } from '../../src/server/endpoints.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { assertPlainMessage, assertReopens } from '../support/garbage-assertions.ts'
import { anyBytes, anyText, anyValue, checkProperty } from '../support/garbage-values.ts'
import { type HttpApp, type HttpResponse, openHttpApp, sendRequest } from '../support/http-app.ts'
import { freshFolder } from '../support/open-app.ts'

const COMMANDS = await loadCommands()

/** These stop the kernel, or run for long. */
const EXCLUDED = ['stop', 'run', 'cycle now']
const ENDPOINTS = createEndpoints(COMMANDS.filter(({ name }) => !EXCLUDED.includes(name)))
const POSTS = fc.constantFrom(...ENDPOINTS.filter(({ method }) => method === 'POST'))
const GETS = ENDPOINTS.filter(({ method }) => method === 'GET')
const TYPES = ['application/json', 'application/json; charset=utf-16', 'text/plain', 'multipart/form-data', '', 'x']

function assertNoFault({ status, text: value }: HttpResponse): void {
  assert.notEqual(status, 500, value)
  if (status >= 400) assertPlainMessage((JSON.parse(value) as { error: { message: string } }).error.message)
}

const escaped = (words: string): string => encodeURIComponent(words.toWellFormed())

/** A chunked body with a chunk that has no length. */
const chunkedGarbage = ({ port, bearer }: HttpApp): Promise<string> =>
  new Promise((resolve, reject) => {
    const head = [
      ...['POST /api/v1/enqueue HTTP/1.1', `Host: 127.0.0.1:${port}`, `Authorization: ${bearer.authorization}`],
      ...['Content-Type: application/json', 'Transfer-Encoding: chunked', '', 'zz', 'not a chunk', ''],
    ].join('\r\n')
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    let value = ''
    socket.setEncoding('utf8').on('data', (piece) => (value += piece))
    socket.on('close', () => resolve(value)).on('error', reject)
  })

test('HTTP with any request', async (t) => {
  const options = {
    ...{ home: freshFolder(t), model: scriptedModel(() => ({ text: 'done' })), yaml: 'server: { port: 0 }\n' },
  }
  const served = await openHttpApp(t, options)
  const headers = { ...served.bearer, 'content-type': 'application/json' }

  await t.test('bodies that are not JSON, not text, or of another type', () =>
    checkProperty(100, fc.tuple(POSTS, anyBytes, fc.constantFrom(...TYPES)), async ([{ path }, body, type]) => {
      assertNoFault(
        await sendRequest(served, path, { method: 'POST', headers: { ...headers, 'content-type': type }, body }),
      )
    }),
  )

  await t.test('JSON bodies that fit no command', () =>
    checkProperty(100, fc.tuple(POSTS, fc.dictionary(anyText, anyValue, { maxKeys: 3 })), async ([{ path }, body]) => {
      assertNoFault(await sendRequest(served, path, { method: 'POST', headers, body: JSON.stringify(body) }))
    }),
  )

  await t.test('queries with unknown keys and invalid values', () => {
    const asked = fc.constantFrom(...GETS).chain((endpoint) => {
      const known = inputFields(endpoint.command).map(({ key }) => key)
      const key = known.length === 0 ? anyText : fc.oneof({ arbitrary: fc.constantFrom(...known), weight: 4 }, anyText)
      return fc.tuple(fc.constant(endpoint), fc.array(fc.tuple(key, anyText), { maxLength: 3 }))
    })
    return checkProperty(100, asked, async ([{ path }, pairs]) => {
      const query = pairs.map(([key, value]) => `${escaped(key)}=${escaped(value)}`).join('&')
      // The HTTP parser itself refuses anything longer.
      if (query.length < 10_000)
        assertNoFault(await sendRequest(served, `${path}?${query}`, { headers: served.bearer }))
    })
  })

  await t.test('a body that is not UTF-8 is refused; a byte order mark is ignored', async () => {
    const body = Buffer.from('{"prompt":"caf\xe9"}', 'latin1')
    const { status, code } = await sendRequest(served, '/api/v1/enqueue', { method: 'POST', headers, body })
    assert.deepEqual({ status, code }, { status: 400, code: 'usage' })
    const marked = await sendRequest(served, '/api/v1/enqueue', {
      method: 'POST',
      headers,
      body: '\ufeff{"prompt":"x"}',
    })
    assert.equal(marked.status, 200)
  })

  await t.test('a body without end, and one with invalid chunks', async () => {
    const body = 'x'.repeat(2 * 1024 * 1024)
    const large = await sendRequest(served, '/api/v1/enqueue', { method: 'POST', headers, body }).catch(() => undefined)
    assert.ok(large === undefined || large.status === 413)
    assert.match(await chunkedGarbage(served), /^HTTP\/1.1 400 /)
  })

  await t.test('afterwards the home opens, and everything in it can be read', async () => {
    await (await assertReopens(t, served.app, options)).close()
  })
})
