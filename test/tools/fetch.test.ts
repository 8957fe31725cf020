/** The fetch tool, used through whole runs against real servers. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import zlib from 'node:zlib'
import { recordsOf } from '../support/fake-tools.ts'
import { freshFolder, journalOf, openApp } from '../support/open-app.ts'
import { allowHostsYaml, callStep, fakeDns, runAgent, runEachCallAlone, startSite } from '../support/serve-pages.ts'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3, 255])
const resolve = fakeDns({ 'site.test': '127.0.0.1', 'other.test': '127.0.0.1', 'inside.example': '10.0.0.7' })

describe('fetch', () => {
  test('a page is converted to text, other text is unchanged, and both name their source', async (t) => {
    const { port } = await startSite(t, (request, response) => {
      if (request.url === '/page')
        response
          .setHeader('content-type', 'text/html; charset=utf-8')
          .end('<title>T</title><script>evil()</script><p>Hello <a href="/x">there</a></p>')
      else if (request.url === '/packed')
        response
          .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
          .end(zlib.gzipSync('unpacked'))
      else if (request.url === '/latin')
        response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from([0xe4]))
      else response.setHeader('content-type', 'application/json').end('{"a": 1}')
    })
    const at = `http://site.test:${port}`
    const { results } = await runAgent(
      t,
      ['/page', '/json', '/packed', '/latin'].map((path) => callStep('fetch', { url: `${at}${path}` })),
      { resolve, yaml: allowHostsYaml(`site.test:${port}`) },
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'ok', 'ok', 'ok'],
    )
    assert.equal(results[0]?.content, `HTTP 200 ${at}/page (text/html; charset=utf-8)\n\n# T\n\nHello [there](${at}/x)`)
    assert.match(results[1]?.content ?? '', /\n\n\{"a": 1\}$/)
    assert.match(results[2]?.content ?? '', /\n\nunpacked$/)
    assert.match(results[3]?.content ?? '', /\n\nä$/)
  })

  test('effects follow from the arguments: GET is pure and reaches its host, POST runs once', async (t) => {
    const { port, requests: asked, bodies } = await startSite(t, (_, response) => response.end('ok'))
    const url = `http://site.test:${port}/`
    const calls = [
      { url },
      { url, method: 'HEAD' },
      { url, method: 'POST', body: '{"a":1}' },
      { url, method: 'PUT', body: 'a=b&c=d' },
      { url, save_to: 'kept' },
    ]
    const { app } = await runEachCallAlone(
      t,
      calls.map((args) => callStep('fetch', args)),
      { resolve, yaml: allowHostsYaml(`site.test:${port}`) },
    )
    const { items } = await app.run('sessions list', {})
    const effects: unknown[] = []
    for (const { session_id } of items.toReversed())
      effects.push(...(await recordsOf(app, session_id, 'call_intended')).map(({ effect }) => effect))
    const host = `site.test:${port}`
    assert.deepEqual(effects, [
      { recovery: 'pure', reach: 'network', host },
      { recovery: 'pure', reach: 'network', host },
      { recovery: 'once', reach: 'third_party', host, method: 'POST' },
      { recovery: 'once', reach: 'third_party', host, method: 'PUT' },
      { recovery: 'idempotent', reach: 'network', host, writes: true },
    ])
    const tool = app.service('tools').all.get('fetch')
    assert.deepEqual(tool?.destinations?.({ url, method: 'GET' } as never), [url])
    assert.deepEqual(tool?.gives?.({ url, method: 'GET' } as never), { trust: 'untrusted', private: false })
    assert.deepEqual(
      asked.map((line) => line.split(' ')[0]),
      ['GET', 'HEAD', 'POST', 'PUT', 'GET'],
    )
    assert.deepEqual(bodies, ['', '', '{"a":1}', 'a=b&c=d', ''])
  })

  test('a response that is not text is saved in a new file, byte for byte, or refused', async (t) => {
    const { port } = await startSite(t, (_, response) => response.setHeader('content-type', 'image/png').end(PNG))
    const url = `http://site.test:${port}/a.png`
    const calls = [
      { url },
      { url, save_to: 'pictures/a.png' },
      { url, save_to: '../a.png' },
      { url, save_to: '.git/hooks/pre-commit' },
    ]
    const { results, workspace } = await runAgent(
      t,
      calls.map((args) => callStep('fetch', args)),
      { resolve, yaml: allowHostsYaml(`site.test:${port}`) },
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      ['error', 'ok', 'error', 'error'],
    )
    assert.match(results[0]?.content ?? '', /not text.*save_to/)
    assert.deepEqual(readFileSync(join(workspace, 'pictures/a.png')), PNG)
  })

  test('a redirect to another host is reported and not followed; server errors include their text', async (t) => {
    const other = await startSite(t, (_, response) => response.end('followed'))
    const { port } = await startSite(t, (request, response) => {
      if (request.url === '/gone') response.writeHead(404, { 'content-type': 'text/plain' }).end('not here')
      else response.writeHead(302, { location: `http://other.test:${other.port}/` }).end()
    })
    const calls = ['/', '/gone'].map((path) => callStep('fetch', { url: `http://site.test:${port}${path}` }))
    const { results } = await runAgent(t, calls, { resolve, yaml: allowHostsYaml(`site.test:${port}`) })
    assert.match(
      results[0]?.content ?? '',
      new RegExp(`redirect not followed; if you want it, fetch "http://other\\.test:${other.port}/"`),
    )
    assert.deepEqual(other.requests, [])
    assert.deepEqual(
      { status: results[1]?.status, showsTheAnswer: /404.*not here/s.test(results[1]?.content ?? '') },
      { status: 'error', showsTheAnswer: true },
    )
  })

  test('SSRF: no spelling, name or redirect reads from a private address, and the model is told why', async (t) => {
    const secrets = Array.from({ length: 12 }, (_, n) => `SECRET-${n}-4711`)
    const inside = await startSite(t, (request, response) =>
      response.end(secrets[Number(request.url?.slice(1)) % 12] ?? secrets.join()),
    )
    const outside = await startSite(t, (request, response) => {
      const to = new URL(request.url ?? '', 'http://x').searchParams.get('to') ?? ''
      response.writeHead(302, { location: Buffer.from(to).toString('latin1') }).end()
    })
    const { port } = inside
    const places = [
      ...[
        `http://127.0.0.1:${port}/0`,
        `http://localhost:${port}/1`,
        `http://[::1]:${port}/2`,
        `http://inside.example:${port}/3`,
      ],
      ...[
        `http://other.test:${port}/4`,
        `http://2130706433:${port}/5`,
        `http://0x7f000001:${port}/6`,
        `http://127.1:${port}/7`,
      ],
      ...[
        `http://[::ffff:127.0.0.1]:${port}/8`,
        `http://127.0.0.1.:${port}/9`,
        `http://a@127.0.0.1:${port}/10`,
        `http://①27.0.0.1:${port}/11`,
      ],
      ...[
        `file:///etc/passwd`,
        `http://169.254.169.254/latest/meta-data/`,
        `gopher://127.0.0.1:${port}/_GET`,
        `http://0/`,
      ],
    ]
    const redirected = places.map((place) => `http://site.test:${outside.port}/?to=${encodeURIComponent(place)}`)
    const calls = [...places, ...redirected].map((url) => callStep('fetch', { url }))
    const { results, app } = await runEachCallAlone(t, calls, {
      resolve,
      yaml: allowHostsYaml(`site.test:${outside.port}`),
    })
    assert.equal(results.length, calls.length)
    assert.deepEqual(inside.requests, [])
    assert.equal(outside.requests.length, redirected.length)
    const shown = JSON.stringify([results, await app.run('trace list', {})])
    for (const secret of secrets) assert.equal(shown.includes(secret), false)
    assert.match(
      results[0]?.content ?? '',
      /127\.0\.0\.1 is this machine; expected a public address, or 127\.0\.0\.1:\d+ in policy\.allow_hosts/,
    )
    for (const { status } of results.slice(0, places.length)) assert.equal(status, 'error')
  })

  test('no approval is asked for an address that would be refused anyway', async (t) => {
    const urls = ['http://10.0.0.1/', 'http://[::ffff:127.0.0.1]:8080/', 'http://printer.local/', 'http://a.test:25/']
    const calls = urls.flatMap((url) => [
      callStep('fetch', { url }),
      callStep('fetch', { url, method: 'POST', body: 'x' }),
    ])
    const { results, app } = await runEachCallAlone(t, calls, { yaml: 'policy: { allow_hosts: [] }' })
    assert.deepEqual(
      results.map(({ status, content }) => [status, /^denied: .*expected a public address/.test(content)]),
      calls.map(() => ['error', true]),
    )
    assert.deepEqual(await app.run('approvals list', {}), { items: [] })
  })

  test('rebinding: the connection goes to the address that was checked, not to a later one', async (t) => {
    const { port, requests: asked } = await startSite(t, (_, response) => response.end('SECRET'))
    let answers = 0
    // Documentation addresses never answer; a second lookup of the name would reach the server.
    const resolveInTurn = async (): Promise<readonly string[]> =>
      answers++ % 2 === 0 ? ['203.0.113.1'] : ['127.0.0.1']
    const calls = [1, 2].map((n) => callStep('fetch', { url: `http://turning.example:${port}/${n}` }))
    const { results } = await runAgent(t, calls, { resolve: resolveInTurn })
    for (const { status, content } of results)
      assert.deepEqual({ status, saysWhy: /resolves to/.test(content) }, { status: 'error', saysWhy: true })
    assert.deepEqual({ asked, answers }, { asked: [], answers: 2 })
  })
})

describe('fetch with headers', () => {
  test('a secret is sent only where its owner allows, and never along with a redirect', async (t) => {
    const received: (string | undefined)[] = []
    const other = await startSite(t, (request, response) => {
      received.push(`other ${request.headers.authorization}`)
      response.end('there')
    })
    const { port } = await startSite(t, (request, response) => {
      received.push(request.headers.authorization)
      if (request.url === '/away') response.writeHead(302, { location: `http://other.test:${other.port}/` }).end()
      else response.end(`you said ${request.headers.authorization}`)
    })
    const [site, away] = [`site.test:${port}`, `other.test:${other.port}`]
    const headers = { Authorization: 'Bearer secret:SITE_KEY' }
    const steps = [
      callStep('fetch', { url: `http://${site}/`, headers }),
      callStep('fetch', { url: `http://${site}/away`, headers }),
      callStep('fetch', { url: `http://${away}/`, headers }),
    ]
    const home = freshFolder(t)
    const before = await openApp(t, { home })
    await before.run('secrets set', { name: 'SITE_KEY', value: 'k3y-of-the-site-77', to: site })
    await before.close()
    const { app, results, session_id } = await runAgent(t, steps, { home, resolve, yaml: allowHostsYaml(site, away) })
    assert.deepEqual(received, ['Bearer k3y-of-the-site-77', 'Bearer k3y-of-the-site-77', 'other undefined'])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'ok', 'error'],
    )
    assert.doesNotMatch(JSON.stringify(await journalOf(app, session_id)), /k3y-of/)
  })

  test('reserved, duplicate and malformed headers are refused before any approval', async (t) => {
    const { port, requests: asked } = await startSite(t, (_, response) => response.end('ok'))
    const url = `http://site.test:${port}/`
    const bad = [{ Host: 'evil.test' }, { 'Content-Length': '3' }, { 'X-A': 'b\r\nX-C: d' }, { 'a b': 'c' }]
    const { results } = await runEachCallAlone(
      t,
      bad.map((headers) => callStep('fetch', { url, headers })),
      { resolve, yaml: allowHostsYaml(`site.test:${port}`) },
    )
    assert.deepEqual(
      { statuses: results.map(({ status }) => status), asked },
      { statuses: bad.map(() => 'error'), asked: [] },
    )
  })
})
