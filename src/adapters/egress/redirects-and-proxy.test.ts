/** Egress against real servers on this machine: redirects, and the proxy for other programs. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { egressWith, get, neverAborts, parseAddress, startServer } from '../../../test/support/egress-server.ts'
import { systemClock } from '../system/clock.ts'
import { createEgress } from './egress.ts'

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
      { toWww: await from('site.test', 'www.site.test'), fromWww: await from('www.site.test', 'site.test') },
      { toWww: 'answered', fromWww: 'answered' },
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
    assert.deepEqual({ kind: answered.kind, requests: requests.length }, { kind: 'sent_on', requests: 1 })
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
