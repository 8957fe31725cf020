/** Servers over HTTP: reached by the one way out, at the place that the configuration names and at no other. */

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { stringify } from 'yaml'
import type { AppOptions } from '../../src/app.ts'
import {
  ControlledServer,
  configYaml,
  runTimedOutCall,
  runWithServers,
  testServer,
  toolCall,
  toolSearch,
} from '../support/mcp-homes.ts'
import { openApp, waitUntil } from '../support/open-app.ts'
import { actingOverHttp } from './controlled-server-sdk.ts'

const acts = (recovery: string) => ({ act: { recovery, reach: 'workspace' } })
const act = toolCall('a__act', { what: 'something' })

interface Heard {
  readonly port: number
  readonly asked: string[]
}

async function heard(t: TestContext, answer: RequestListener): Promise<Heard> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['x-proof'] ?? ''}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, asked }
}

/** Of the generation before: it has sessions, and forgets each of them after one call. */
function forgetful(): RequestListener {
  let session = 1
  const answer = (method: string): object => {
    const info = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } }
    if (method === 'initialize') return { result: info }
    if (method === 'tools/list') return { result: { tools: [{ name: 'act', inputSchema: { type: 'object' } }] } }
    if (method === 'tools/call')
      return { result: { content: [{ type: 'text', text: `acted in session ${session++}` }] } }
    return { error: { code: -32601, message: `no method ${method}` } }
  }
  return async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method } = JSON.parse(Buffer.concat((await Array.fromAsync(request)) as Buffer[]).toString('utf8'))
    const known = request.headers['mcp-session-id']
    if (known !== undefined && known !== String(session)) return void response.writeHead(404).end()
    if (id === undefined) return void response.writeHead(202).end()
    response.setHeader('mcp-session-id', String(session)).setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method) }))
  }
}

describe('SSRF: a server that sends on', () => {
  test('to another host, a private one or a metadata service: refused in plain words, and nothing arrives there', async (t) => {
    const secret = await heard(t, (_, response) => response.end('secret'))
    let location = ''
    const { port, asked } = await heard(t, (_, response) => response.writeHead(307, { location }).end())
    for (location of [
      `http://127.0.0.1:${secret.port}/mcp`,
      `http://localhost:${port}/mcp`,
      `//127.0.0.2:${port}/mcp`,
      `https://127.0.0.1:${port}/mcp`,
      'http://169.254.169.254/latest/meta-data/',
      'http://2130706433/mcp',
      'https://elsewhere.example/mcp',
      'file:///etc/passwd',
    ]) {
      const headers = { 'X-Proof': 'the key' }
      const app = await openApp(t, { yaml: configYaml({ a: { url: `http://127.0.0.1:${port}/mcp`, headers } }) })
      const { ok, error } = await testServer(app, 'a')
      assert.equal(ok, false)
      assert.match(
        error ?? '',
        /the server redirects to another host.*expected an address at http:\/\/127\.0\.0\.1:\d+.*mcp_servers/,
      )
      await app.close()
    }
    assert.ok(asked.length >= 8)
    assert.deepEqual(secret.asked, [])
  })

  test('in the middle of its life: the call was not made, and the run goes on', async (t) => {
    const secret = await heard(t, (_, response) => response.end('secret'))
    const acting = new ControlledServer(t)
    acting.setMode(`send on to http://127.0.0.1:${secret.port}/mcp`)
    const url = await actingOverHttp(t, acting.folder)
    const { results, result } = await runWithServers(t, { a: { url, effects: acts('once') } }, [toolSearch('act'), act])
    assert.equal(results[1]?.status, 'error')
    assert.match(results[1]?.content ?? '', /the server redirects to another host/)
    assert.equal(result.status, 'done')
    assert.deepEqual(secret.asked, [])
  })

  test('within its own place it is followed', async (t) => {
    const acting = new ControlledServer(t)
    const url = await actingOverHttp(t, acting.folder)
    const a = { url: url.replace(/mcp$/, 'moved'), effects: acts('once') }
    const { results } = await runWithServers(t, { a }, [toolSearch('act'), act])
    assert.equal(results[1]?.content, 'acted')
  })
})

describe('SSRF: where the name of a server leads', () => {
  const scene = async (t: TestContext, host: string, resolve: AppOptions['resolve'], listed = false) => {
    const acting = new ControlledServer(t)
    const { port } = new URL(await actingOverHttp(t, acting.folder))
    const policy = stringify({ policy: { allow_hosts: listed ? [`${host}:${port}`] : [] } })
    const yaml = `${configYaml({ a: { url: `http://${host}:${port}/mcp`, effects: acts('pure') } })}${policy}`
    const app = await openApp(t, { yaml, ...(resolve && { resolve }) })
    return { acting, app }
  }

  test('the owner’s word: an address of this machine or of his network, by number or by a name that says so', async (t) => {
    for (const [host, ip] of [
      ['127.0.0.1', '127.0.0.1'],
      ['localhost', '127.0.0.1'],
      ['nas.local', '127.0.0.1'],
      ['intranet', '127.0.0.1'],
    ] as const) {
      const { app } = await scene(t, host, async () => [ip])
      assert.deepEqual((await testServer(app, 'a')).error, null, host)
    }
  })

  test('rebinding: a name of the internet that leads there is refused, unless it is listed', async (t) => {
    const { app, acting } = await scene(t, 'mcp.example.com', async () => ['127.0.0.1'])
    const { error } = await testServer(app, 'a')
    assert.match(error ?? '', /mcp\.example\.com resolves to 127\.0\.0\.1, which is this machine.*policy\.allow_hosts/)
    assert.deepEqual(acting.logLines('POST'), [])
    const listed = await scene(t, 'mcp.example.com', async () => ['127.0.0.1'], true)
    assert.equal((await testServer(listed.app, 'a')).error, null)
  })

  test('rebinding: it is judged at every connection, and a metadata service is nobody’s name', async (t) => {
    let ip = '127.0.0.1'
    const { app, acting } = await scene(t, 'nas.local', async () => [ip])
    assert.equal((await testServer(app, 'a')).error, null)
    const before = acting.logLines('POST').length
    ip = '169.254.169.254'
    assert.match((await testServer(app, 'a')).error ?? '', /nas\.local resolves to 169\.254\.169\.254/)
    assert.equal(acting.logLines('POST').length, before)
  })
})

describe('a server in trouble', () => {
  const acting = async (t: TestContext, mode: string, recovery: string) => {
    const server = new ControlledServer(t)
    const url = await actingOverHttp(t, server.folder)
    server.setMode(mode)
    const scene = await runWithServers(t, { a: { url, effects: acts(recovery) } }, [toolSearch('act'), act])
    return { ...scene, server }
  }

  test('I4: it dies during a call: unknown where it may have done its work, an error where that does not matter', async (t) => {
    const { results, server } = await acting(t, 'die', 'once')
    assert.deepEqual([results[1]?.status, server.logLines('acted').length], ['unknown', 1])
    const { results: harmless } = await acting(t, 'die', 'pure')
    assert.equal(harmless[1]?.status, 'error')
  })

  test('it went away between two calls: nothing was asked of it, so nothing is unknown', async (t) => {
    const server = new ControlledServer(t)
    server.setMode('leave')
    const url = await actingOverHttp(t, server.folder)
    const { results } = await runWithServers(t, { a: { url, effects: acts('once') } }, [toolSearch('act'), act, act])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'ok', 'error'],
    )
    assert.match(results[2]?.content ?? '', /ECONNREFUSED/)
  })

  test('it was started anew between two calls, and knows its session no more: it is asked in another', async (t) => {
    const { port, asked } = await heard(t, forgetful())
    const a = { url: `http://127.0.0.1:${port}/mcp`, effects: acts('once') }
    const { results } = await runWithServers(t, { a }, [toolSearch('act'), act, act])
    assert.deepEqual(
      results.slice(1).map(({ content }) => content),
      ['acted in session 1', 'acted in session 2'],
    )
    assert.ok(asked.length > 0)
  })

  test('case 29: what hangs is given up, and the server is told', async (t) => {
    const server = new ControlledServer(t)
    const a = { url: await actingOverHttp(t, server.folder), timeout: '3s', effects: acts('once') }
    const { results } = await runTimedOutCall(t, server, { a })
    assert.equal(results[1]?.status, 'timed_out')
    await waitUntil(() => server.logLines('cancelled').length === 1)
  })

  test('more than fits is not read', async (t) => {
    const { results, result } = await acting(t, 'huge', 'once')
    assert.equal(results[1]?.status, 'unknown')
    assert.equal(result.status, 'done')
  })

  test('nobody there', async (t) => {
    const app = await openApp(t, { yaml: configYaml({ a: { url: 'http://127.0.0.1:9/mcp' } }) })
    const { ok, error } = await testServer(app, 'a')
    assert.equal(ok, false)
    assert.match(error ?? '', /fetch failed|ECONNREFUSED/)
  })
})
