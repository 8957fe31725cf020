import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sendRequest } from '../support/http-app.ts'
import { waitUntil } from '../support/open-app.ts'
import { observationsOf, openSourceApp, SECRET } from '../support/source-app.ts'
import { connectSource, signature, signedUpgrade } from '../support/source-socket.ts'

const LIVE = { live: { type: 'websocket', secret: SECRET, max_bytes: 200 } }

describe('a WebSocket source', () => {
  test('K9: each frame is one event, answered when it is stored; a repeated id changes nothing', async (t) => {
    const app = await openSourceApp(t, LIVE)
    const client = await connectSource(app, 'live')
    assert.deepEqual(await client.ask({ text: 'hello' }), { ok: true, duplicate: false })
    assert.deepEqual(await client.ask({ id: 'e1', name: 'door', payload: { open: true } }), {
      ...{ id: 'e1', ok: true, duplicate: false },
    })
    assert.deepEqual(await client.ask({ id: 'e1', name: 'door' }), { id: 'e1', ok: true, duplicate: true })
    assert.deepEqual(observationsOf(app), [
      { type: 'user_message', text: 'hello' },
      { type: 'system_event', name: 'door', payload: { open: true } },
    ])
    assert.ok(app.heard.every(({ label }) => label.trust === 'untrusted'))
    client.socket.close()
  })

  test('K9: a bad frame is answered with an error, the next one is heard', async (t) => {
    const app = await openSourceApp(t, LIVE)
    const client = await connectSource(app, 'live')
    const errors: readonly (readonly [string | Buffer, RegExp])[] = [
      ['no json', /not valid JSON/],
      ['{}', /the frame/],
      ['{"text":""}', /text that is not empty/],
      ['{"name":"a b"}', /event name/],
      ['{"text":"a","name":"b"}', /text/],
      ['{"text":"a","id":""}', /id of 1 to 200/],
      [Buffer.from([1, 2]), /binary/],
    ]
    for (const [frame, message] of errors) {
      const { error } = await client.ask(frame)
      assert.match(JSON.stringify(error), message, String(frame))
    }
    assert.deepEqual(await client.ask({ text: 'still here' }), { ok: true, duplicate: false })
    assert.equal(app.heard.length, 1)
    client.socket.close()
  })

  test('K9: strangers are refused at the upgrade; a signature opens one connection', async (t) => {
    const app = await openSourceApp(t, LIVE)
    const headers = signedUpgrade()
    const first = await connectSource(app, 'live', { headers })
    const origin = 'https://evil.example'
    const refusals = [
      ['live', headers, /^401 .*used before/],
      ['live', {}, /^401 .*timestamp/],
      ['live', signedUpgrade('another secret'), /^401 .*signature is wrong/],
      ['live', { authorization: 'Bearer nonsense' }, /^401 .*wrong token/],
      ['live', { ...signedUpgrade(), origin }, /^403 .*may not connect/],
      ['live', { ...signedUpgrade(), host: 'evil.example' }, /^403 .*host name/],
      ['none', signedUpgrade(), /^404/],
    ] as const
    for (const [name, sent, message] of refusals)
      await assert.rejects(connectSource(app, name, { headers: sent }), { message })
    assert.equal((await sendRequest(app, '/api/v1/hooks/live')).status, 401)
    first.socket.close()
  })

  test('K9: a page connects with parameters, a program with the secret as its token', async (t) => {
    const origin = 'https://desk.example.com'
    const app = await openSourceApp(t, { live: { ...LIVE.live, origins: [`${origin}/x`] } })
    const query = `?${new URLSearchParams(signature())}`
    const page = await connectSource(app, 'live', { headers: { origin }, query })
    const program = await connectSource(app, 'live', { headers: { authorization: `Bearer ${SECRET}` } })
    for (const client of [page, program]) {
      assert.deepEqual(await client.ask({ text: 'hello' }), { ok: true, duplicate: false })
      client.socket.close()
    }
  })

  test('K9: an oversized frame closes its connection only', async (t) => {
    const app = await openSourceApp(t, LIVE)
    const [loud, calm] = [await connectSource(app, 'live'), await connectSource(app, 'live')]
    loud.socket.send(JSON.stringify({ text: 'x'.repeat(300) }))
    assert.equal(await loud.closed, 1009)
    assert.deepEqual(await calm.ask({ text: 'fine' }), { ok: true, duplicate: false })
    calm.socket.close()
  })

  test('K9: while the bus is full nothing is read; later every frame is stored, in order', async (t) => {
    const app = await openSourceApp(t, { live: { ...LIVE.live, max_per_second: 1000 } })
    const client = await connectSource(app, 'live')
    app.full = true
    for (let i = 0; i < 50; i += 1) client.socket.send(JSON.stringify({ id: `${i}`, text: `message ${i}` }))
    await waitUntil(async () => (await app.state('live')).state === 'waiting')
    assert.deepEqual(client.answers, [])
    app.full = false
    await waitUntil(() => client.answers.length === 50)
    assert.deepEqual(
      observationsOf(app).map((said) => said.type === 'user_message' && said.text),
      Array.from({ length: 50 }, (_, i) => `message ${i}`),
    )
    assert.equal((await app.state('live')).state, 'running')
    client.socket.close()
  })

  test('K9: a stop says goodbye to the clients', async (t) => {
    const app = await openSourceApp(t, LIVE)
    const client = await connectSource(app, 'live')
    const stopped = app.stop()
    assert.equal(await client.closed, 1001)
    await stopped
  })
})
