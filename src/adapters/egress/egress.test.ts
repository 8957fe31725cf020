/** The way out, against real servers on this machine: what is connected to, what is followed, and how much is taken. */

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
import { type Address, addressOf } from '../../domain/address.ts'
import { egressRules, ownersRules } from '../../policy/egress.ts'
import type { Egress, Resolver } from '../../ports/egress.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { systemClock } from '../clock.ts'
import { createEgress } from './egress.ts'

const never = (): AbortSignal => new AbortController().signal

function at(url: string): Address {
  const read = addressOf(url)
  assert.ok(read.kind === 'read', url)
  return read.value
}

interface Served {
  readonly port: number
  readonly asked: string[]
}

async function serve(t: TestContext, answer: http.RequestListener): Promise<Served> {
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as net.AddressInfo).port, asked }
}

/** Every name leads to this machine, unless it is told otherwise. */
function egressWith(
  listed: readonly string[],
  resolve: Resolver = async () => ['127.0.0.1'],
  clock = systemClock as typeof systemClock,
): Egress {
  const rules = egressRules(() => listed)
  return createEgress({ rules, ownersRules: ownersRules(rules), resolve, clock, secret: () => 'secret' })
}

const get = (egress: Egress, url: string, maxBytes = 100_000) =>
  egress.ask({ to: at(url), method: 'GET', maxBytes }, never())

describe('one request', () => {
  test('goes to the address that was judged, under its own name, and the name is resolved once', async (t) => {
    const { port, asked } = await serve(t, (_, response) => response.end('hello'))
    const names: string[] = []
    const egress = egressWith([`site.test:${port}`], async (name) => {
      names.push(name)
      return ['127.0.0.1']
    })
    const answered = await get(egress, `http://site.test:${port}/a?b=c`)
    assert.ok(answered.kind === 'answered')
    assert.deepEqual([answered.status, answered.body.toString(), answered.cut], [200, 'hello', false])
    assert.deepEqual(asked, [`GET site.test:${port}/a?b=c`])
    assert.deepEqual(names, ['site.test'])
  })

  test('rebinding: an answer that is harmless the first time and private the second gets nobody in', async (t) => {
    const { port, asked } = await serve(t, (_, response) => response.end('secret'))
    let answers = 0
    // The first answer is public and leads nowhere from here; whoever asked a second time would be sent to this machine.
    const egress = egressWith([], async () => (answers++ === 0 ? ['192.0.0.1'] : ['127.0.0.1']))
    await assert.rejects(get(egress, `http://rebind.example:${port}/`), { code: 'egress_refused' })
    await assert.rejects(get(egress, `http://rebind.example:${port}/`), {
      code: 'egress_refused',
      message: /leads to 127\.0\.0\.1/,
    })
    const mixed = egressWith([], async () => ['10.0.0.1', '127.0.0.1', '::1', '169.254.169.254'])
    await assert.rejects(get(mixed, `http://mixed.example:${port}/`), { code: 'egress_refused' })
    assert.deepEqual(asked, [])
  })

  test('rebinding: what is connected to is what was judged, though the resolver says something else by then', async (t) => {
    const listed = await serve(t, (_, response) => response.end('the listed one'))
    let asked = 0
    const egress = egressWith([`site.test:${listed.port}`], async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']))
    const answered = await get(egress, `http://site.test:${listed.port}/`)
    assert.ok(answered.kind === 'answered')
    assert.deepEqual([answered.body.toString(), asked], ['the listed one', 1])
  })

  test('private places are refused by name, by number and by what a name leads to, before anything is sent', async (t) => {
    const { port, asked } = await serve(t, (_, response) => response.end('secret'))
    const egress = egressWith(['*.example.com', 'bare.test'])
    for (const host of ['127.0.0.1', 'localhost', 'evil.example', 'a.example.com', 'bare.test', '[::1]'])
      await assert.rejects(get(egress, `http://${host}:${port}/`), { code: 'egress_refused' }, host)
    assert.deepEqual(asked, [])
  })

  test('what its name says is enough to be refused: nobody is asked where it leads', async () => {
    const asked: string[] = []
    const egress = egressWith(['*.example.com'], async (name) => {
      asked.push(name)
      return ['93.184.216.34']
    })
    for (const url of [
      'http://printer.local/',
      'http://intranet/',
      'http://metadata.google.internal/',
      'http://mail.example.com:25/',
    ])
      await assert.rejects(get(egress, url), { code: 'egress_refused' }, url)
    assert.deepEqual(asked, [])
  })

  test('TLS: the name goes into the handshake with the judged address, and a certificate that proves nothing ends it', async (t) => {
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
      return t.skip('there is no openssl to make a certificate with')
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

describe('an address that its owner wrote down', () => {
  const opened = (egress: Egress, url: string, signal = never()) => egress.open({ to: at(url), method: 'GET' }, signal)

  test('is answered as it is said: piece by piece, unpacked, a redirect as one; and ends when nobody wants it', async (t) => {
    const closed = Promise.withResolvers<void>()
    const { port } = await serve(t, (request, response) => {
      if (request.url === '/on') return void response.writeHead(307, { location: '/' }).end()
      const packed = zlib.createGzip()
      response.writeHead(200, { 'content-encoding': 'gzip' }).once('close', closed.resolve)
      packed.pipe(response)
      packed.write('first')
      packed.flush()
    })
    const on = await opened(egressWith([]), `http://127.0.0.1:${port}/on`)
    assert.deepEqual([on.status, on.headers.location], [307, '/'])
    const leave = new AbortController()
    const { body } = await opened(egressWith([]), `http://127.0.0.1:${port}/`, leave.signal)
    const reader = body?.getReader()
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first')
    leave.abort()
    await assert.rejects(async () => reader?.read())
    await closed.promise
  })

  test('SSRF: may be of this machine or its network where it says so itself, and nowhere else', async (t) => {
    const { port, asked } = await serve(t, (_, response) => response.end())
    for (const host of ['127.0.0.1', 'localhost', 'nas', 'nas.local'])
      assert.equal((await opened(egressWith([]), `http://${host}:${port}/`)).status, 200, host)
    const before = asked.length
    await assert.rejects(opened(egressWith([]), `http://site.test:${port}/`), { code: 'egress_refused' })
    for (const ip of ['169.254.169.254', '0.0.0.0', '::ffff:127.0.0.1'])
      await assert.rejects(
        opened(
          egressWith([], async () => [ip]),
          `http://nas.local:${port}/`,
        ),
        { code: 'egress_refused' },
        ip,
      )
    assert.equal(asked.length, before)
  })
})

describe('redirects', () => {
  test('SSRF: a redirect to a private place, in any disguise, is told and not followed', async (t) => {
    const secret = await serve(t, (_, response) => response.end('secret'))
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
    const { port } = await serve(t, (_, response) => response.writeHead(302, { location: next }).end())
    for (next of places) {
      const answered = await get(egressWith([`site.test:${port}`]), `http://site.test:${port}/`)
      assert.equal(answered.kind, 'sent_on', next)
    }
    assert.deepEqual(secret.asked, [])
  })

  test('the same host is followed, so is one that is listed, each judged again; never from https to http, never for ever', async (t) => {
    const listed = await serve(t, (_, response) => response.end('there'))
    const { port, asked } = await serve(t, (request, response) => {
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
    assert.equal(asked.filter((line) => line.endsWith('/loop')).length, 6)
  })

  test('www. makes no other host of it, everything else does; headers stay with the place that was named', async (t) => {
    const keys: (string | undefined)[] = []
    const { port, asked } = await serve(t, (request, response) => {
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
      const asking = { to: at(`http://${host}:${port}/?to=${to}`), method: 'GET', maxBytes: 100, headers }
      return (await egress.ask(asking, never())).kind
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
    assert.equal(asked.length, 10)
  })

  test('SSRF: a host that is listed and leads elsewhere by then is judged anew at every hop', async (t) => {
    const { port, asked } = await serve(t, (_, response) => response.writeHead(302, { location: '/again' }).end())
    let answers = 0
    const egress = egressWith([`site.test:${port}`], async () =>
      answers++ === 0 ? ['127.0.0.1'] : ['169.254.169.254'],
    )
    await assert.rejects(get(egress, `http://site.test:${port}/`), {
      code: 'egress_refused',
      message: /169\.254\.169\.254/,
    })
    assert.equal(asked.length, 1)
  })

  test('what is not GET or HEAD is never said a second time', async (t) => {
    const { port, asked } = await serve(t, (_, response) => response.writeHead(307, { location: '/there' }).end())
    const egress = egressWith([`site.test:${port}`])
    const answered = await egress.ask(
      { to: at(`http://site.test:${port}/`), method: 'POST', body: 'x', maxBytes: 10 },
      never(),
    )
    assert.deepEqual([answered.kind, asked.length], ['sent_on', 1])
  })
})

describe('limits', () => {
  test('of an answer no more is taken than was wanted, packed or not; what a bomb unfolds to is never made', async (t) => {
    const bomb = zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const { port } = await serve(t, (request, response) => {
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
    const took = async (path: string, most: number) => {
      const answered = await get(egress, `http://site.test:${port}${path}`, most)
      return answered.kind === 'answered' && [answered.body.length, answered.cut]
    }
    assert.deepEqual(await took('/', 1000), [1000, false])
    assert.deepEqual(await took('/', 999), [999, true])
    assert.deepEqual(await took('/bomb', 50_000), [50_000, true])
    assert.deepEqual(await took('/br', 50_000), [6, false])
    assert.deepEqual(await took('/endless', 100_000), [100_000, true])
    await assert.rejects(took('/twice', 1000), { code: 'tool_failed', message: /packed in a way/ })
  })

  test('headers without end, a broken answer and a closed door are failures of that request alone', async (t) => {
    const rude = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (asked) => {
        if (asked.includes('/headers'))
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`)
        else socket.end('this is not HTTP\r\n\r\n')
      })
    })
    await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve))
    t.after(() => rude.close())
    const { port } = rude.address() as net.AddressInfo
    const egress = egressWith([`site.test:${port}`, 'site.test:1'])
    for (const url of [`http://site.test:${port}/headers`, `http://site.test:${port}/nonsense`, 'http://site.test:1/'])
      await assert.rejects(get(egress, url), { code: 'tool_failed' }, url)
    const lost = egressWith([], async () => {
      throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
    })
    await assert.rejects(get(lost, 'http://nowhere.example/'), { code: 'tool_failed', message: /ENOTFOUND/ })
  })

  test('who says nothing is left after a while, and at once where it is called off', async (t) => {
    const { port } = await serve(t, (_, response) => response.writeHead(200).write('a bit'))
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
      egress.ask({ to: at(`http://site.test:${port}/`), method: 'GET', maxBytes: 10_000 }, abort.signal),
      { code: 'aborted' },
    )
    abort.abort()
    await off
  })
})

describe('a proxy for programs of their own', () => {
  /** Speaks to the proxy as it stands, and hears everything that comes back. */
  function say(port: number, text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
      let heard = ''
      socket.on('data', (data) => {
        heard += data.toString()
      })
      socket.on('close', () => resolve(heard))
      socket.on('error', reject)
    })
  }
  const known = `Proxy-Authorization: Basic ${Buffer.from('tireless:secret').toString('base64')}`

  test('serves who knows its password, to what is admitted and open, and nobody and nothing else', async (t) => {
    const { port, asked } = await serve(t, (_, response) => response.setHeader('connection', 'close').end('hello'))
    const egress = egressWith([`site.test:${port}`, `shut.test:${port}`])
    const proxy = await egress.proxy(({ host }) => host !== 'shut.test')
    t.after(() => proxy.close())
    const whole = (url: string, more = known) =>
      say(proxy.port, `GET ${url} HTTP/1.1\r\nHost: x\r\n${more}\r\nConnection: close\r\n\r\n`)
    const tunnel = (place: string, more = known) =>
      say(
        proxy.port,
        `CONNECT ${place} HTTP/1.1\r\nHost: x\r\n${more}\r\n\r\nGET / HTTP/1.1\r\nHost: site.test:${port}\r\nConnection: close\r\n\r\n`,
      )
    assert.match(await whole(`http://site.test:${port}/a`), /200 OK.*hello/s)
    assert.match(await tunnel(`site.test:${port}`), /200 Connection established.*hello/s)
    assert.deepEqual(asked, [`GET site.test:${port}/a`, `GET site.test:${port}/`])
    assert.match(await whole(`http://site.test:${port}/`, 'X: y'), /^HTTP\/1\.1 407/)
    assert.match(await tunnel(`site.test:${port}`, 'X: y'), /^HTTP\/1\.1 407/)
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
      assert.match(await tunnel(place), /^HTTP\/1\.1 4(03|00)/, `CONNECT ${place}`)
      assert.match(await whole(`http://${place}/`), /^HTTP\/1\.1 4(03|00)/, `GET ${place}`)
    }
    assert.match(await whole('https://example.com/'), /^HTTP\/1\.1 403/)
    assert.equal(asked.length, 2)
    assert.ok(proxy.refusals().length > 5)
    assert.deepEqual(proxy.refusals(), [])
  })

  test('on the file of a socket, for who cannot reach a port', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tireless-proxy-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const { port } = await serve(t, (_, response) => response.end('hello'))
    const proxy = await egressWith([`site.test:${port}`]).proxy(() => true, join(folder, 'socket'))
    t.after(() => proxy.close())
    const headers = { 'proxy-authorization': known.slice('Proxy-Authorization: '.length) }
    const status = await new Promise((resolve, reject) => {
      const request = http.get({ socketPath: join(folder, 'socket'), path: `http://site.test:${port}/`, headers })
      request.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject)
    })
    assert.equal(status, 200)
  })
})
