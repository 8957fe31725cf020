/**
 * Ways to spoil a request that the server would accept, each with the status that refuses it: the request of a page on
 * another site, of a stranger on this machine, or of a client that means to deceive.
 */

import type { Header, RawRequest } from './raw-request.ts'

/** A request as it is accepted, and what proves that it comes from the owner. */
export interface AcceptedRequest extends RawRequest {
  readonly credential: 'token' | 'cookie' | 'none'
}

export interface Spoiler {
  readonly name: string
  readonly status: number
  spoil(request: AcceptedRequest): RawRequest
}

/** What belongs to the owner of the server. */
export interface OwnersThings {
  readonly port: number
  readonly token: string
  /** `NAME=VALUE`. */
  readonly cookie: string
}

const isNamed =
  (name: string) =>
  ([each]: Header): boolean =>
    each.toLowerCase() === name.toLowerCase()

const without = (headers: readonly Header[], name: string): readonly Header[] =>
  headers.filter((header) => !isNamed(name)(header))

/** Contract: a spoiler that gives the header these values instead of its own; none: the header is left out. */
function replacing(status: number, name: string, ...values: readonly string[]): Spoiler {
  const added = values.map((value): Header => [name, value])
  const shown = values.length === 0 ? 'is missing' : `is ${values.map((value) => JSON.stringify(value)).join(' and ')}`
  return {
    ...{ name: `${name} ${shown}`, status },
    spoil: (request) => ({ ...request, headers: [...without(request.headers, name), ...added] }),
  }
}

/** Names under which a foreign page reaches this machine, and spellings of our own that no browser sends. */
export function otherHosts({ port }: OwnersThings): readonly Spoiler[] {
  const names = ['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'localhost.', '127.0.0.1.', '0.0.0.0']
  const numbers = ['127.1', '2130706433', '0x7f.0.0.1', '127.0.0.2', '[::]', '[::2]']
  return [
    ...[...names, ...numbers].map((name) => replacing(403, 'Host', `${name}:${port}`)),
    ...['localhost', '[::1]', '127.0.0.1:80', `localhost:${port + 1}`].map((host) => replacing(403, 'Host', host)),
    replacing(403, 'Host', `localhost:0${port}`),
    replacing(403, 'Host', ''),
    ...[`[0:0:0:0:0:0:0:1]:${port}`, `[::ffff:127.0.0.1]:${port}`].map((host) => replacing(400, 'Host', host)),
    ...[`evil.example@localhost:${port}`, `localhost:${port}.evil.example`, `localhost:${port}/evil.example`].map(
      (host) => replacing(400, 'Host', host),
    ),
    replacing(400, 'Host'),
    replacing(403, 'Host', `localhost:${port}`, 'evil.example'),
    replacing(403, 'Host', 'evil.example', `localhost:${port}`),
    {
      ...{ name: 'the target names another host', status: 403 },
      spoil: (request) => ({ ...request, target: `http://evil.example:${port}${request.target}` }),
    },
    {
      ...{ name: 'only the target names this host', status: 403 },
      spoil: (request) => ({
        ...replacing(403, 'Host', `evil.example:${port}`).spoil(request),
        target: `http://127.0.0.1:${port}${request.target}`,
      }),
    },
  ]
}

export function otherOrigins({ port }: OwnersThings): readonly Spoiler[] {
  const own = `http://127.0.0.1:${port}`
  const others = ['null', '', 'http://evil.example', `http://evil.example:${port}`, `https://127.0.0.1:${port}`]
  const nearly = [
    `http://127.0.0.1:${port + 1}`,
    'http://127.0.0.1',
    `${own}.evil.example`,
    `http://localhost.:${port}`,
  ]
  const malformed = [
    `${own}/`,
    `HTTP://127.0.0.1:${port}`,
    `http://evil@127.0.0.1:${port}`,
    `${own} http://evil.example`,
  ]
  return [
    ...[...others, ...nearly, ...malformed, 'file://'].map((origin) => replacing(403, 'Origin', origin)),
    replacing(403, 'Origin', own, 'http://evil.example'),
    replacing(403, 'Origin', 'http://evil.example', own),
  ]
}

/** What a form, a beacon or a script without permission can send, and what only looks like JSON. */
export const OTHER_TYPES: readonly Spoiler[] = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
  ...['text/plain; application/json', 'application/json-patch+json', 'application/jsonp', 'text/json', '*/*', ''],
  ...['application/json, text/plain', 'text/plain, application/json'],
]
  .map((type) => replacing(415, 'Content-Type', type))
  .concat(replacing(415, 'Content-Type'), replacing(415, 'Content-Type', 'application/json', 'text/plain'))

/** The cookie alone must not change anything: a browser sends it with requests that other pages cause. */
export const WITHOUT_CSRF: readonly Spoiler[] = [
  ...[replacing(403, 'X-Tireless-CSRF'), replacing(403, 'X-Tireless-CSRF', '1', '1')],
  ...['0', '', 'true', '1,1'].map((value) => replacing(403, 'X-Tireless-CSRF', value)),
  {
    ...{ name: 'X-Tireless-CSRF is in the query', status: 403 },
    spoil: (request) => ({
      ...request,
      target: `${request.target}?X-Tireless-CSRF=1`,
      headers: without(request.headers, 'X-Tireless-CSRF'),
    }),
  },
]

export const OTHER_SITES: readonly Spoiler[] = [
  ...['cross-site', 'same-site', '', 'Same-Origin'].map((site) => replacing(403, 'Sec-Fetch-Site', site)),
  replacing(403, 'Sec-Fetch-Site', 'same-origin', 'cross-site'),
]

/** Contract: spoilers for a request with the token, or with the cookie. */
export function otherCredentials(own: OwnersThings, { credential, headers }: AcceptedRequest): readonly Spoiler[] {
  const { port, token, cookie } = own
  const value = cookie.slice(cookie.indexOf('=') + 1)
  const bare = without(without(headers, 'Authorization'), 'Cookie')
  const given = (name: string, ...added: readonly Header[]): Spoiler => ({
    ...{ name, status: 401 },
    spoil: (request) => ({ ...request, headers: [...bare, ...added] }),
  })
  const inQuery = (name: string): Spoiler => ({
    ...{ name: `the token is in the query as ${name}`, status: 401 },
    spoil: ({ target, ...request }) => ({
      ...{ ...request, headers: bare },
      target: `${target}${target.includes('?') ? '&' : '?'}${name}=${token}`,
    }),
  })
  if (credential === 'cookie')
    return [
      given('no cookie'),
      given('the token as the cookie', ['Cookie', `tireless-${port}=${token}`]),
      given('the cookie of another port', ['Cookie', `tireless-${port + 1}=${value}`]),
      given('the cookie without its port', ['Cookie', `tireless=${value}`]),
      given('the cookie in capitals', ['Cookie', cookie.toUpperCase()]),
      given('a part of the cookie', ['Cookie', cookie.slice(0, -1)]),
      given('an empty cookie', ['Cookie', `tireless-${port}=`]),
      given('another cookie before it', ['Cookie', `tireless-${port}=x; ${cookie}`]),
      given('the cookie as a token', ['Authorization', `Bearer ${value}`]),
    ]
  const basic = Buffer.from(`owner:${token}`).toString('base64')
  const [bearer, wrong] = [`Bearer ${token}`, `Bearer ${'0'.repeat(64)}`]
  return [
    ...[given('no token'), inQuery('token'), inQuery('access_token')],
    ...[wrong, 'Bearer', 'Bearer ', token, `Token ${token}`, `Basic ${basic}`, `Bearer ${token.slice(0, -1)}`].map(
      (text) => given(`Authorization is ${text.replaceAll(token, 'TOKEN')}`, ['Authorization', text]),
    ),
    given('the token twice in one header', ['Authorization', `${bearer}, ${bearer}`]),
    given('the right and a wrong token', ['Authorization', bearer], ['Authorization', wrong]),
    given('a wrong and the right token', ['Authorization', wrong], ['Authorization', bearer]),
    given('the token in capitals', ['Authorization', `Bearer ${token.toUpperCase()}`]),
    given('the token in another header', ['X-Auth-Token', token], ['X-Api-Key', token]),
  ]
}

const OVERRIDES: readonly Header[] = [
  ...(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'] as const).map((name): Header => [name, 'POST']),
]

/** Contract: spoilers for an address that is only read, or only written, with the status that refuses them. */
export function otherMethods({ method: right, target }: AcceptedRequest, status: number): readonly Spoiler[] {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'PROPFIND'].filter((method) => method !== right)
  const using = (name: string, change: Partial<RawRequest>, added: readonly Header[] = []): Spoiler => ({
    ...{ name, status },
    spoil: (request) => ({ ...request, ...change, headers: [...request.headers, ...added] }),
  })
  const inQuery = `${target}${target.includes('?') ? '&' : '?'}_method=${right}`
  return [
    ...methods.map((method) => using(`the method is ${method}`, { method })),
    ...(right === 'POST' ? [using('the method is HEAD', { method: 'HEAD' })] : []),
    using('headers override the method', { method: right === 'GET' ? 'POST' : 'GET' }, OVERRIDES),
    using('the query overrides the method', { method: right === 'GET' ? 'PUT' : 'GET', target: inQuery }),
    { ...using('the method is in small letters', { method: right.toLowerCase() }), status: 400 },
  ]
}
