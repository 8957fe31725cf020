import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sendRequest } from '../support/http-app.ts'
import { observationsOf, openSourceApp, postHook, SECRET, signedHeaders } from '../support/source-app.ts'

const HOOK = { orders: { type: 'webhook', secret: SECRET, event: 'order' } }

describe('a signed webhook', () => {
  test('K7: a body with only a text is a message, any other is an event; both are untrusted', async (t) => {
    const app = await openSourceApp(t, HOOK)
    const said = await postHook(app, 'orders', { text: 'what is new?' }, { delivery: 'a' })
    assert.deepEqual([said.status, said.json()], [200, { ok: true, duplicate: false }])
    await postHook(app, 'orders', { text: 'x', more: 1 }, { delivery: 'b' })
    await postHook(app, 'orders', '[1,2]', { delivery: 'c' })
    assert.deepEqual(observationsOf(app), [
      { type: 'user_message', text: 'what is new?' },
      { type: 'system_event', name: 'order', payload: { text: 'x', more: 1 } },
      { type: 'system_event', name: 'order', payload: [1, 2] },
    ])
    assert.ok(app.heard.every(({ label }) => label.trust === 'untrusted'))
    const { state, published, refused, last_event_at } = await app.state('orders')
    assert.deepEqual([state, published, refused, last_event_at === null], ['running', 3, 0, false])
  })

  test('K7: a source that the owner trusts gives the words of the owner', async (t) => {
    const app = await openSourceApp(t, { mine: { type: 'webhook', secret: SECRET, trusted: true, private: true } })
    await postHook(app, 'mine', { text: 'go' })
    assert.deepEqual(app.heard[0]?.label, { trust: 'trusted', private: true })
  })

  test('K7: a repeated delivery changes nothing, nor does a replay under another delivery id', async (t) => {
    const app = await openSourceApp(t, HOOK)
    const at = Date.now()
    await postHook(app, 'orders', { text: 'once' }, { delivery: 'a', at })
    const again = await postHook(app, 'orders', { text: 'once' }, { delivery: 'a', at: at + 2000 })
    const replayed = await postHook(app, 'orders', { text: 'once' }, { delivery: 'b', at })
    for (const { status, text } of [again, replayed])
      assert.deepEqual([status, JSON.parse(text)], [200, { ok: true, duplicate: true }])
    assert.equal(app.heard.length, 1)
    assert.equal((await app.state('orders')).duplicates, 2)
  })

  test('K7: stranger, bad signature, old, oversized, wrong content: refused, nothing stored', async (t) => {
    const app = await openSourceApp(t, { ...HOOK, small: { type: 'webhook', secret: SECRET, max_bytes: 20 } })
    const path = '/api/v1/hooks/orders'
    const plain = { method: 'POST', body: '{}' }
    const json = { 'content-type': 'application/json' }
    const signed = signedHeaders('{"text":"a"}')
    const old = Date.now() - 6 * 60_000
    const answers = [
      [await sendRequest(app, path, { ...plain, headers: json }), 401, /timestamp is missing/],
      [await sendRequest(app, path, { method: 'POST', headers: signed, body: '{"text":"b"}' }), 401, /signature/],
      [await postHook(app, 'orders', { text: 'a' }, { secret: 'another' }), 401, /signature is wrong/],
      [await postHook(app, 'orders', { text: 'a' }, { at: old }), 401, /five minutes/],
      [await postHook(app, 'orders', { text: 'a' }, { delivery: ' ' }), 401, /delivery id is missing/],
      [await postHook(app, 'orders', 'not json'), 400, /not valid JSON/],
      [await postHook(app, 'orders', { a: 1 }, { headers: { 'content-type': 'text/plain' } }), 415, /must be JSON/],
      [await postHook(app, 'small', { text: 'more than twenty bytes' }), 413, /at most 20 bytes/],
      [await postHook(app, 'nobody', { text: 'a' }), 404, /no such webhook/],
    ] as const
    for (const [{ status, text }, code, message] of answers) {
      assert.equal(status, code, text)
      assert.match(text, message)
      assert.doesNotMatch(text, new RegExp(SECRET))
    }
    assert.deepEqual(app.heard, [])
  })

  test('K7: a full bus is answered with 503 and Retry-After; the same delivery succeeds later', async (t) => {
    const app = await openSourceApp(t, HOOK)
    app.full = true
    const at = Date.now()
    const { status, headers } = await postHook(app, 'orders', { text: 'later' }, { at })
    assert.deepEqual([status, headers['retry-after']], [503, '1'])
    app.full = false
    assert.deepEqual((await postHook(app, 'orders', { text: 'later' }, { at })).json(), { ok: true, duplicate: false })
  })

  test('K7: without its secret, or without a listener, a source says so and answers 503', async (t) => {
    const sources = { broken: { type: 'webhook', secret_env: 'NO_SUCH_VARIABLE' }, unheard: HOOK.orders }
    const app = await openSourceApp(t, sources, { more: { residents: [{ agent_id: 'ear', sources: ['broken'] }] } })
    const { text, status } = await postHook(app, 'broken', { text: 'a' })
    assert.equal(status, 503)
    assert.doesNotMatch(text, /NO_SUCH_VARIABLE/)
    const { state, why } = await app.state('broken')
    assert.equal(state, 'failed')
    assert.match(String(why), /NO_SUCH_VARIABLE is empty or not set.*next attempt in/)
    assert.equal((await postHook(app, 'unheard', { text: 'a' })).status, 503)
    assert.match(String((await app.state('unheard')).why), /no resident lists it/)
    const { checks } = await app.app.run('doctor', {})
    const bad = checks.filter(({ name, ok }) => name.startsWith('source ') && !ok).map(({ name }) => name)
    assert.deepEqual(bad, ['source broken', 'source unheard'])
  })
})
