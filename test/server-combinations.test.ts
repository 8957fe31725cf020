/**
 * Every entrance of the server, with every spoiled combination of Host, Origin, method, content type and credential:
 * all are refused, and none has an effect. Each entrance is shown to work before and after, so that nothing is refused
 * for another reason.
 */

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type HttpApp, openHttpApp, postJson, sendRequest } from './support/http-app.ts'
import { waitUntil } from './support/open-app.ts'
import { type Header, type RawAnswer, sendRaw } from './support/raw-request.ts'
import { signedHeaders } from './support/source-app.ts'
import {
  type AcceptedRequest,
  OTHER_SITES,
  OTHER_TYPES,
  type OwnersThings,
  otherCredentials,
  otherHosts,
  otherMethods,
  otherOrigins,
  type Spoiler,
  WITHOUT_CSRF,
} from './support/spoiled-requests.ts'

const SECRET = 'the secret of the hook'
const FILE = 'the text of the file'

interface Guarded extends OwnersThings, Pick<HttpApp, 'app'> {
  readonly session: string
  readonly dispatch: string
}

async function openGuarded(t: TestContext): Promise<Guarded> {
  const webhook = `{ url: "http://127.0.0.1:9/", secret: ${SECRET}, chat_id: ops }`
  const yaml = `server: { port: 0 }\nchannels: { webhook: ${webhook} }\n`
  const served = await openHttpApp(t, { yaml })
  const { app, port, token } = served
  const { session_id: session, workspace, dispatch_id: dispatch } = await app.run('enqueue', { prompt: 'x', at: '1h' })
  mkdirSync(workspace, { recursive: true })
  writeFileSync(join(workspace, 'file.txt'), FILE)
  const { headers } = await postJson(served, '/api/v1/login', { token }, {})
  const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  return { app, port, token, cookie, session, dispatch }
}

const CONNECTION: Header = ['Connection', 'close']
const JSON_TYPE: Header = ['Content-Type', 'application/json']

/** The requests that are accepted, by name. */
const ENTRANCES: Readonly<Record<string, (own: Guarded) => AcceptedRequest>> = {
  'a task with the token': (own) => writing(own, 'token', '/api/v1/enqueue', { prompt: 'x' }),
  'a task with the cookie': (own) => writing(own, 'cookie', '/api/v1/enqueue', { prompt: 'x' }),
  'a cancellation with the cookie': (own) => writing(own, 'cookie', '/api/v1/queue/cancel', { id: own.dispatch }),
  'the status with the token': (own) => reading(own, 'token', '/api/v1/status'),
  'the queue with the cookie': (own) => reading(own, 'cookie', '/api/v1/queue/list'),
  'the events with the token': (own) => reading(own, 'token', '/api/v1/events'),
  'the events with the cookie': (own) => reading(own, 'cookie', '/api/v1/events'),
  'a file with the token': (own) => reading(own, 'token', `/api/v1/files?session=${own.session}&path=file.txt`),
  'a file with the cookie': (own) => reading(own, 'cookie', `/api/v1/files?session=${own.session}&path=file.txt`),
  'the login': (own) => writing(own, 'none', '/api/v1/login', { token: own.token }),
  'a signed message': (own) => {
    const { headers, ...request } = writing(own, 'none', '/api/v1/hooks/webhook', { text: '/notice' })
    const signed = Object.entries(signedHeaders(request.body ?? '', { secret: SECRET }))
    return { ...request, headers: [...headers.filter((header) => header !== JSON_TYPE), ...signed] }
  },
}

function reading(own: Guarded, credential: AcceptedRequest['credential'], target: string): AcceptedRequest {
  const proof: Readonly<Record<string, readonly Header[]>> = {
    token: [['Authorization', `Bearer ${own.token}`]],
    cookie: [['Cookie', own.cookie]],
  }
  const headers: readonly Header[] = [['Host', `127.0.0.1:${own.port}`], CONNECTION, ...(proof[credential] ?? [])]
  return { method: 'GET', target, credential, headers }
}

function writing(own: Guarded, credential: AcceptedRequest['credential'], target: string, body: object) {
  const { headers, ...request } = reading(own, credential, target)
  const csrf: readonly Header[] = credential === 'cookie' ? [['X-Tireless-CSRF', '1']] : []
  return { ...request, method: 'POST', headers: [...headers, JSON_TYPE, ...csrf], body: JSON.stringify(body) }
}

function spoilersOf(own: Guarded, request: AcceptedRequest): readonly Spoiler[] {
  const { method, credential } = request
  const isWriting = method === 'POST'
  return [
    ...[...otherHosts(own), ...otherOrigins(own)],
    ...(isWriting ? OTHER_TYPES : []),
    ...(isWriting && credential === 'cookie' ? WITHOUT_CSRF : []),
    ...(credential === 'cookie' ? OTHER_SITES : []),
    ...(credential === 'none' ? [] : otherCredentials(own, request)),
    // A stranger is asked for the token whatever the method; the cookie alone allows only to read.
    ...otherMethods(request, credential === 'none' ? 401 : isWriting || credential === 'token' ? 405 : 403),
  ].filter(({ spoil }) => credential !== 'none' || !['GET', 'HEAD'].includes(spoil(request).method))
}

/** Spellings that a client may use. */
const VARIANTS: readonly ((own: Guarded, request: AcceptedRequest) => AcceptedRequest)[] = [
  (_, request) => request,
  ({ port }, request) => withHeader(request, 'Host', `LocalHost:${port}`),
  ({ port }, request) => withHeader(request, 'Host', `[::1]:${port}`),
  ({ port }, request) => withHeader(request, 'Origin', `http://localhost:${port}`),
  (_, request) => withHeader(request, 'Content-Type', 'Application/JSON; charset=utf-8'),
  (_, request) => withHeader(request, 'Sec-Fetch-Site', 'same-origin'),
  ({ port }, request) => ({ ...request, target: `http://127.0.0.1:${port}${request.target}` }),
]

const withHeader = (request: AcceptedRequest, name: string, value: string): AcceptedRequest => ({
  ...request,
  headers: [...request.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase()), [name, value]],
})

/** Everything that a request could have changed. */
async function stateOf({ app, port }: Guarded): Promise<object> {
  const viewers = /^tireless_viewers (\d+)$/m.exec((await sendRequest({ port }, '/metrics')).text)?.[1]
  return { commits: app.context.store.commits(), queue: await app.run('queue list', {}), viewers }
}

/** Contract: what is wrong with the refusal; undefined: nothing. */
function findFault(answer: RawAnswer, { token, cookie }: Guarded, { status }: Spoiler): string | undefined {
  const text = JSON.stringify(answer)
  if (answer.status !== status) return `expected ${status}`
  const names = answer.headers.map(([header]) => header)
  if (names.includes('set-cookie') || names.some((name) => name.startsWith('access-control-'))) return 'it gives rights'
  const own = [FILE, 'text/event-stream', '"items"', '"hello"', token, cookie.split('=')[1] ?? '']
  return own.some((each) => text.includes(each)) ? 'it reveals something' : undefined
}

let combinations = 0

for (const [name, requestOf] of Object.entries(ENTRANCES))
  test(`HTTP: ${name}: spoiled in any way, it is refused and has no effect`, async (t) => {
    const own = await openGuarded(t)
    const request = requestOf(own)
    const before = await stateOf(own)
    const { store } = own.app.context
    const [commits, faults] = [store.commits(), [] as string[]]
    for (const spoiler of spoilersOf(own, request)) {
      const answer = await sendRaw(own.port, spoiler.spoil(request))
      const fault = store.commits() === commits ? findFault(answer, own, spoiler) : 'it had an effect'
      if (fault !== undefined) faults.push(`${spoiler.name}: ${fault}, got ${answer.status} ${answer.body}`)
      combinations += 1
    }
    assert.deepEqual(faults, [])
    assert.deepEqual(await stateOf(own), before)
    for (const vary of VARIANTS) {
      const answer = await sendRaw(own.port, vary(own, request))
      assert.equal(answer.status, 200, JSON.stringify(answer))
    }
    if (request.method === 'POST' && name !== 'the login') assert.notDeepEqual(await stateOf(own), before)
    await waitUntil(async () => (await sendRequest(own, '/metrics')).text.includes('tireless_viewers 0'))
  })

test('HTTP: the combinations above are many', () => assert.ok(combinations >= 500, String(combinations)))
