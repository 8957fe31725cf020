/** Egress against real servers on this machine: connections, redirects and limits. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import zlib from 'node:zlib'
import { type Address, parseHttpAddress } from '../../domain/address.ts'
import { createEgressRules, ownerAddressRules } from '../../policy/egress.ts'
import type { Egress, Resolver } from '../../ports/egress.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { systemClock } from '../system/clock.ts'
import { createEgress } from './egress.ts'

const neverAborts = (): AbortSignal => new AbortController().signal

function parseAddress(url: string): Address {
  const parsed = parseHttpAddress(url)
  assert.ok(parsed.kind === 'read', url)
  return parsed.value
}

interface TestServer {
  readonly port: number
  readonly requests: string[]
}

async function startServer(t: TestContext, handler: http.RequestListener): Promise<TestServer> {
  const requests: string[] = []
  const server = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`)
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as net.AddressInfo).port, requests }
}

/** Resolves every name to this machine, unless `resolve` is given. */
function egressWith(
  listed: readonly string[],
  resolve: Resolver = async () => ['127.0.0.1'],
  clock = systemClock as typeof systemClock,
): Egress {
  const rules = createEgressRules(() => listed)
  return createEgress({ rules, ownersRules: ownerAddressRules(rules), resolve, clock, secret: () => 'secret' })
}

const get = (egress: Egress, url: string, maxBytes = 100_000) =>
  egress.ask({ to: parseAddress(url), method: 'GET', maxBytes }, neverAborts())

describe('one request', () => {
  test('connects to the checked address, keeps the host name, and resolves it once', async (t) => {
    const { port, requests } = await startServer(t, (_, response) => response.end('hello'))
    const names: string[] = []
    const egress = egressWith([`site.test:${port}`], async (name) => {
      names.push(name)
      return ['127.0.0.1']
    })
    const answered = await get(egress, `http://site.test:${port}/a?b=c`)
    assert.ok(answered.kind === 'answered')
    assert.deepEqual([answered.status, answered.body.toString(), answered.truncated], [200, 'hello', false])
    assert.deepEqual(requests, [`GET site.test:${port}/a?b=c`])
    assert.deepEqual(names, ['site.test'])
  })

  test('rebinding: a name that resolves to a private address the second time is refused', async (t) => {
    const { port, requests } = await startServer(t, (_, response) => response.end('secret'))
    let answers = 0
    // The first address is refused, the second is this machine.
    const egress = egressWith([], async () => (answers++ === 0 ? ['192.0.0.1'] : ['127.0.0.1']))
    await assert.rejects(get(egress, `http://rebind.example:${port}/`), { code: 'egress_refused' })
    await assert.rejects(get(egress, `http://rebind.example:${port}/`), {
      code: 'egress_refused',
      message: /resolves to 127\.0\.0\.1/,
    })
    const mixed = egressWith([], async () => ['10.0.0.1', '127.0.0.1', '::1', '169.254.169.254'])
    await assert.rejects(get(mixed, `http://mixed.example:${port}/`), { code: 'egress_refused' })
    assert.deepEqual(requests, [])
  })

  test('rebinding: the connection uses the checked address, although the resolver now returns another', async (t) => {
    const listed = await startServer(t, (_, response) => response.end('the listed one'))
    let lookups = 0
    const egress = egressWith([`site.test:${listed.port}`], async () =>
      lookups++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'],
    )
    const answered = await get(egress, `http://site.test:${listed.port}/`)
    assert.ok(answered.kind === 'answered')
    assert.deepEqual([answered.body.toString(), lookups], ['the listed one', 1])
  })

  test('private hosts are refused by name, by number and by resolved address, before anything is sent', async (t) => {
    const { port, requests } = await startServer(t, (_, response) => response.end('secret'))
    const egress = egressWith(['*.example.com', 'bare.test'])
    for (const host of ['127.0.0.1', 'localhost', 'evil.example', 'a.example.com', 'bare.test', '[::1]'])
      await assert.rejects(get(egress, `http://${host}:${port}/`), { code: 'egress_refused' }, host)
    assert.deepEqual(requests, [])
  })

  test('a host that is refused by its name is not resolved', async () => {
    const requests: string[] = []
    const egress = egressWith(['*.example.com'], async (name) => {
      requests.push(name)
      return ['93.184.216.34']
    })
    for (const url of [
      'http://printer.local/',
      'http://intranet/',
      'http://metadata.google.internal/',
      'http://mail.example.com:25/',
    ])
      await assert.rejects(get(egress, url), { code: 'egress_refused' }, url)
    assert.deepEqual(requests, [])
  })

  test('TLS: the handshake with the checked address uses the host name; a self-signed certificate fails', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tireless-tls-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
    try {
      const subject = ['-subj', '/CN=site.test', '-addext', 'subjectAltName=DNS:site.test']
      execFileSync(
        'openssl',
        ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-keyout', key, '-out', cert, ...subject],
        { stdio: 'ignore' },
      )
    } catch {
      return t.skip('openssl is missing; it makes the certificate')
    }
    const names: string[] = []
    const server = tls.createServer({
      ...{ key: readFileSync(key), cert: readFileSync(cert) },
      SNICallback: (name, done) => {
        names.push(name)
        done(null)
      },
    })
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const { port } = server.address() as net.AddressInfo
    await assert.rejects(get(egressWith([`site.test:${port}`]), `https://site.test:${port}/`), {
      code: 'tool_failed',
      message: /SELF_SIGNED/,
    })
    assert.deepEqual(names, ['site.test'])
  })
})

describe('an address from the configuration', () => {
  const openUrl = (egress: Egress, url: string, signal = neverAborts()) =>
    egress.open({ to: parseAddress(url), method: 'GET' }, signal)

  test('streams the decompressed body, returns a redirect as it is, and ends on abort', async (t) => {
    const closed = Promise.withResolvers<void>()
    const { port } = await startServer(t, (request, response) => {
      if (request.url === '/on') return void response.writeHead(307, { location: '/' }).end()
      const gzip = zlib.createGzip()
      response.writeHead(200, { 'content-encoding': 'gzip' }).once('close', closed.resolve)
      gzip.pipe(response)
      gzip.write('first')
      gzip.flush()
    })
    const on = await openUrl(egressWith([]), `http://127.0.0.1:${port}/on`)
    assert.deepEqual([on.status, on.headers.location], [307, '/'])
    const leave = new AbortController()
    const { body } = await openUrl(egressWith([]), `http://127.0.0.1:${port}/`, leave.signal)
    const reader = body?.getReader()
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first')
    leave.abort()
    await assert.rejects(async () => reader?.read())
    await closed.promise
  })

  test('SSRF: may name this machine or its network, but a public name must not resolve there', async (t) => {
    const { port, requests } = await startServer(t, (_, response) => response.end())
    for (const host of ['127.0.0.1', 'localhost', 'nas', 'nas.local'])
      assert.equal((await openUrl(egressWith([]), `http://${host}:${port}/`)).status, 200, host)
    const before = requests.length
    await assert.rejects(openUrl(egressWith([]), `http://site.test:${port}/`), { code: 'egress_refused' })
    for (const ip of ['169.254.169.254', '0.0.0.0', '::ffff:127.0.0.1'])
      await assert.rejects(
        openUrl(
          egressWith([], async () => [ip]),
          `http://nas.local:${port}/`,
        ),
        { code: 'egress_refused' },
        ip,
      )
    assert.equal(requests.length, before)
  })
})

describe('redirects', () => {
  test('SSRF: a redirect to a private address, in any notation, is returned and not followed', async (t) => {
    const secret = await startServer(t, (_, response) => response.end('secret'))
    const places = [
      ...[`http://127.0.0.1:${secret.port}/`, `http://localhost:${secret.port}/`, `http://[::1]:${secret.port}/`],
      ...[`http://2130706433:${secret.port}/`, `http://0x7f.1:${secret.port}/`, `http://127.1:${secret.port}/`],
      ...[`http://other.test:${secret.port}/`, `//127.0.0.1:${secret.port}/`, `http://user@127.0.0.1:${secret.port}/`],
      ...[
        'http://169.254.169.254/latest/meta-data/',
        'file:///etc/passwd',
        'gopher://127.0.0.1:6379/_x',
        'http://[::ffff:127.0.0.1]/',
      ],
    ]
    let next = ''
    const { port } = await startServer(t, (_, response) => response.writeHead(302, { location: next }).end())
    for (next of places) {
      const answered = await get(egressWith([`site.test:${port}`]), `http://site.test:${port}/`)
      assert.equal(answered.kind, 'sent_on', next)
    }
    assert.deepEqual(secret.requests, [])
  })

  test('redirects to the same or a listed host are followed and checked again, at most five times', async (t) => {
    const listed = await startServer(t, (_, response) => response.end('there'))
    const { port, requests } = await startServer(t, (request, response) => {
      const to: Record<string, string> = {
        '/here': '/there',
        '/listed': `http://listed.test:${listed.port}/x`,
        '/loop': '/loop',
      }
      const location = to[request.url ?? '']
      if (location) response.writeHead(307, { location }).end()
      else response.end('done')
    })
    const egress = egressWith([`site.test:${port}`, `listed.test:${listed.port}`])
    const here = await get(egress, `http://site.test:${port}/here`)
    assert.deepEqual(here.kind === 'answered' && [here.body.toString(), here.from.url], [
      'done',
      `http://site.test:${port}/there`,
    ])
    const other = await get(egress, `http://site.test:${port}/listed`)
    assert.equal(other.kind === 'answered' && other.body.toString(), 'there')
    assert.equal((await get(egress, `http://site.test:${port}/loop`)).kind, 'sent_on')
    assert.equal(requests.filter((line) => line.endsWith('/loop')).length, 6)
  })

  test('a www. prefix counts as the same host; headers go to the requested host only', async (t) => {
    const keys: (string | undefined)[] = []
    const { port, requests } = await startServer(t, (request, response) => {
      keys.push(request.headers.authorization)
      const to = new URL(request.url ?? '', 'http://x').searchParams.get('to')
      if (to === null) response.end('done')
      else response.writeHead(301, { location: `http://${to}:${port}/` }).end()
    })
    const rules = { isListed: () => false, refusal: () => undefined, refusalOf: () => undefined }
    const parts = { resolve: async () => ['127.0.0.1'], clock: systemClock, secret: () => 'secret' }
    const egress = createEgress({ rules, ownersRules: rules, ...parts })
    const from = async (host: string, to: string): Promise<string> => {
      const headers = { authorization: 'Bearer key' }
      const asking = { to: parseAddress(`http://${host}:${port}/?to=${to}`), method: 'GET', maxBytes: 100, headers }
      return (await egress.ask(asking, neverAborts())).kind
    }
    assert.deepEqual(
      [await from('site.test', 'www.site.test'), await from('www.site.test', 'site.test')],
      ['answered', 'answered'],
    )
    assert.deepEqual(keys, ['Bearer key', undefined, 'Bearer key', undefined])
    for (const to of [
      'api.site.test',
      'www.www.site.test',
      'wwwsite.test',
      'www.test',
      'www2.site.test',
      'site.test.www',
    ])
      assert.equal(await from('site.test', to), 'sent_on', to)
    assert.equal(requests.length, 10)
  })

  test('SSRF: every hop is checked again, also when a listed host now resolves to another address', async (t) => {
    const { port, requests } = await startServer(t, (_, response) =>
      response.writeHead(302, { location: '/again' }).end(),
    )
    let answers = 0
    const egress = egressWith([`site.test:${port}`], async () =>
      answers++ === 0 ? ['127.0.0.1'] : ['169.254.169.254'],
    )
    await assert.rejects(get(egress, `http://site.test:${port}/`), {
      code: 'egress_refused',
      message: /169\.254\.169\.254/,
    })
    assert.equal(requests.length, 1)
  })

  test('a redirect of a method other than GET or HEAD is not followed', async (t) => {
    const { port, requests } = await startServer(t, (_, response) =>
      response.writeHead(307, { location: '/there' }).end(),
    )
    const egress = egressWith([`site.test:${port}`])
    const answered = await egress.ask(
      { to: parseAddress(`http://site.test:${port}/`), method: 'POST', body: 'x', maxBytes: 10 },
      neverAborts(),
    )
    assert.deepEqual([answered.kind, requests.length], ['sent_on', 1])
  })
})

describe('limits', () => {
  test('a response is read up to the limit, compressed or not; a zip bomb is not expanded', async (t) => {
    const bomb = zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const { port } = await startServer(t, (request, response) => {
      if (request.url === '/bomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
      else if (request.url === '/br')
        response.writeHead(200, { 'content-encoding': 'br' }).end(zlib.brotliCompressSync('packed'))
      else if (request.url === '/twice') response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb)
      else if (request.url === '/endless') {
        const more = (): void => {
          while (response.write('x'.repeat(65_536)));
          response.once('drain', more)
        }
        more()
      } else response.end('x'.repeat(1000))
    })
    const egress = egressWith([`site.test:${port}`])
    const readUpTo = async (path: string, most: number) => {
      const answered = await get(egress, `http://site.test:${port}${path}`, most)
      return answered.kind === 'answered' && [answered.body.length, answered.truncated]
    }
    assert.deepEqual(await readUpTo('/', 1000), [1000, false])
    assert.deepEqual(await readUpTo('/', 999), [999, true])
    assert.deepEqual(await readUpTo('/bomb', 50_000), [50_000, true])
    assert.deepEqual(await readUpTo('/br', 50_000), [6, false])
    assert.deepEqual(await readUpTo('/endless', 100_000), [100_000, true])
    await assert.rejects(readUpTo('/twice', 1000), { code: 'tool_failed', message: /unexpected Content-Encoding/ })
  })

  test('endless headers, an invalid response and a closed port fail only their own request', async (t) => {
    const brokenServer = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (received) => {
        if (received.includes('/headers'))
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`)
        else socket.end('this is not HTTP\r\n\r\n')
      })
    })
    await new Promise<void>((resolve) => brokenServer.listen(0, '127.0.0.1', resolve))
    t.after(() => brokenServer.close())
    const { port } = brokenServer.address() as net.AddressInfo
    const egress = egressWith([`site.test:${port}`, 'site.test:1'])
    for (const url of [`http://site.test:${port}/headers`, `http://site.test:${port}/nonsense`, 'http://site.test:1/'])
      await assert.rejects(get(egress, url), { code: 'tool_failed' }, url)
    const lost = egressWith([], async () => {
      throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
    })
    await assert.rejects(get(lost, 'http://nowhere.example/'), { code: 'tool_failed', message: /ENOTFOUND/ })
  })

  test('a silent server times out after 30 s; an abort ends the request at once', async (t) => {
    const { port } = await startServer(t, (_, response) => response.writeHead(200).write('a bit'))
    const clock = new FakeClock()
    const egress = egressWith([`site.test:${port}`], undefined, clock)
    const late = assert.rejects(get(egress, `http://site.test:${port}/`), {
      code: 'tool_failed',
      message: /within 30 s/,
    })
    await clock.advance(30_000)
    await late
    const abort = new AbortController()
    const off = assert.rejects(
      egress.ask({ to: parseAddress(`http://site.test:${port}/`), method: 'GET', maxBytes: 10_000 }, abort.signal),
      { code: 'aborted' },
    )
    abort.abort()
    await off
  })
})

describe('a proxy for other programs', () => {
  /** Sends raw text to the proxy and collects the response. */
  function sendRaw(port: number, text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
      let received = ''
      socket.on('data', (data) => {
        received += data.toString()
      })
      socket.on('close', () => resolve(received))
      socket.on('error', reject)
    })
  }
  const authHeader = `Proxy-Authorization: Basic ${Buffer.from('tireless:secret').toString('base64')}`

  test('requires the password, and forwards only to hosts that are admitted and allowed', async (t) => {
    const { port, requests } = await startServer(t, (_, response) =>
      response.setHeader('connection', 'close').end('hello'),
    )
    const egress = egressWith([`site.test:${port}`, `shut.test:${port}`])
    const proxy = await egress.proxy(({ host }) => host !== 'shut.test')
    t.after(() => proxy.close())
    const getThrough = (url: string, more = authHeader) =>
      sendRaw(proxy.port, `GET ${url} HTTP/1.1\r\nHost: x\r\n${more}\r\nConnection: close\r\n\r\n`)
    const connectThrough = (place: string, more = authHeader) =>
      sendRaw(
        proxy.port,
        `CONNECT ${place} HTTP/1.1\r\nHost: x\r\n${more}\r\n\r\n` +
          `GET / HTTP/1.1\r\nHost: site.test:${port}\r\nConnection: close\r\n\r\n`,
      )
    assert.match(await getThrough(`http://site.test:${port}/a`), /200 OK.*hello/s)
    assert.match(await connectThrough(`site.test:${port}`), /200 Connection established.*hello/s)
    assert.deepEqual(requests, [`GET site.test:${port}/a`, `GET site.test:${port}/`])
    assert.match(await getThrough(`http://site.test:${port}/`, 'X: y'), /^HTTP\/1\.1 407/)
    assert.match(await connectThrough(`site.test:${port}`, 'X: y'), /^HTTP\/1\.1 407/)
    const places = [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `evil.example:${port}`,
      `shut.test:${port}`,
      `2130706433:${port}`,
      `[::1]:${port}`,
      'x',
      '',
    ]
    for (const place of places) {
      assert.match(await connectThrough(place), /^HTTP\/1\.1 4(03|00)/, `CONNECT ${place}`)
      assert.match(await getThrough(`http://${place}/`), /^HTTP\/1\.1 4(03|00)/, `GET ${place}`)
    }
    assert.match(await getThrough('https://example.com/'), /^HTTP\/1\.1 403/)
    assert.equal(requests.length, 2)
    assert.ok(proxy.refusals().length > 5)
    assert.deepEqual(proxy.refusals(), [])
  })

  test('listens on a Unix socket for clients without network', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tireless-proxy-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const { port } = await startServer(t, (_, response) => response.end('hello'))
    const proxy = await egressWith([`site.test:${port}`]).proxy(() => true, join(folder, 'socket'))
    t.after(() => proxy.close())
    const headers = { 'proxy-authorization': authHeader.slice('Proxy-Authorization: '.length) }
    const status = await new Promise((resolve, reject) => {
      const request = http.get({ socketPath: join(folder, 'socket'), path: `http://site.test:${port}/`, headers })
      request.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject)
    })
    assert.equal(status, 200)
  })
})
