/** Egress against real servers on this machine: connections, configured addresses and limits. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import tls from 'node:tls'
import zlib from 'node:zlib'
import { egressWith, get, neverAborts, parseAddress, startServer } from '../../../test/support/egress-server.ts'
import type { Egress } from '../../ports/egress.ts'
import { FakeClock } from '../../testing/fake-clock.ts'

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
    assert.deepEqual(
      { status: answered.status, body: answered.body.toString(), truncated: answered.truncated },
      { status: 200, body: 'hello', truncated: false },
    )
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
    assert.deepEqual({ body: answered.body.toString(), lookups }, { body: 'the listed one', lookups: 1 })
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
    assert.deepEqual({ status: on.status, location: on.headers.location }, { status: 307, location: '/' })
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
