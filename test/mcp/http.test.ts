/** Servers over HTTP: reached only through the common network guard, and only at the configured address. */

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
import { serveOverHttp } from './controlled-server-sdk.ts'

const acts = (recovery: string) => ({ act: { recovery, reach: 'workspace' } })
const act = toolCall('a__act', { what: 'something' })

interface RecordingServer {
  readonly port: number
  readonly requests: string[]
}

async function startRecordingServer(t: TestContext, answer: RequestListener): Promise<RecordingServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers['x-proof'] ?? ''}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, requests }
}

/** A server of the older generation, which forgets each session after one call. */
function forgetfulServer(): RequestListener {
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

describe('SSRF: a server that redirects', () => {
  test('to another host, a private one or a metadata service: refused, nothing is sent there', async (t) => {
    const secret = await startRecordingServer(t, (_, response) => response.end('secret'))
    let location = ''
    const { port, requests } = await startRecordingServer(t, (_, response) =>
      response.writeHead(307, { location }).end(),
    )
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
    assert.ok(requests.length >= 8)
    assert.deepEqual(secret.requests, [])
  })

  test('during its lifetime: the call is not made, and the run continues', async (t) => {
    const secret = await startRecordingServer(t, (_, response) => response.end('secret'))
    const controlled = new ControlledServer(t)
    controlled.setMode(`send on to http://127.0.0.1:${secret.port}/mcp`)
    const url = await serveOverHttp(t, controlled.folder)
    const { results, result } = await runWithServers(t, { a: { url, effects: acts('once') } }, [toolSearch('act'), act])
    assert.equal(results[1]?.status, 'error')
    assert.match(results[1]?.content ?? '', /the server redirects to another host/)
    assert.equal(result.status, 'done')
    assert.deepEqual(secret.requests, [])
  })

  test('within its own address it is followed', async (t) => {
    const controlled = new ControlledServer(t)
    const url = await serveOverHttp(t, controlled.folder)
    const a = { url: url.replace(/mcp$/, 'moved'), effects: acts('once') }
    const { results } = await runWithServers(t, { a }, [toolSearch('act'), act])
    assert.equal(results[1]?.content, 'acted')
  })
})

describe('SSRF: the address behind the name of a server', () => {
  const scene = async (t: TestContext, host: string, resolve: AppOptions['resolve'], listed = false) => {
    const controlled = new ControlledServer(t)
    const { port } = new URL(await serveOverHttp(t, controlled.folder))
    const policy = stringify({ policy: { allow_hosts: listed ? [`${host}:${port}`] : [] } })
    const yaml = `${configYaml({ a: { url: `http://${host}:${port}/mcp`, effects: acts('pure') } })}${policy}`
    const app = await openApp(t, { yaml, ...(resolve && { resolve }) })
    return { controlled, app }
  }

  test('the owner may configure an address of this machine or network, by number or by such a name', async (t) => {
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

  test('rebinding: an internet name with a private address is refused, unless it is listed', async (t) => {
    const { app, controlled } = await scene(t, 'mcp.example.com', async () => ['127.0.0.1'])
    const { error } = await testServer(app, 'a')
    assert.match(error ?? '', /mcp\.example\.com resolves to 127\.0\.0\.1, which is this machine.*policy\.allow_hosts/)
    assert.deepEqual(controlled.logLines('POST'), [])
    const listed = await scene(t, 'mcp.example.com', async () => ['127.0.0.1'], true)
    assert.equal((await testServer(listed.app, 'a')).error, null)
  })

  test('rebinding: every connection is checked, and a metadata service is never allowed', async (t) => {
    let ip = '127.0.0.1'
    const { app, controlled } = await scene(t, 'nas.local', async () => [ip])
    assert.equal((await testServer(app, 'a')).error, null)
    const before = controlled.logLines('POST').length
    ip = '169.254.169.254'
    assert.match((await testServer(app, 'a')).error ?? '', /nas\.local resolves to 169\.254\.169\.254/)
    assert.equal(controlled.logLines('POST').length, before)
  })
})

describe('a server in trouble', () => {
  const controlled = async (t: TestContext, mode: string, recovery: string) => {
    const server = new ControlledServer(t)
    const url = await serveOverHttp(t, server.folder)
    server.setMode(mode)
    const scene = await runWithServers(t, { a: { url, effects: acts(recovery) } }, [toolSearch('act'), act])
    return { ...scene, server }
  }

  test('I4: it dies during a call: unknown where it may have taken effect, otherwise an error', async (t) => {
    const { results, server } = await controlled(t, 'die', 'once')
    assert.deepEqual(
      { status: results[1]?.status, logLineCount: server.logLines('acted').length },
      { status: 'unknown', logLineCount: 1 },
    )
    const { results: harmless } = await controlled(t, 'die', 'pure')
    assert.equal(harmless[1]?.status, 'error')
  })

  test('it exits between two calls: nothing was called, so no outcome is unknown', async (t) => {
    const server = new ControlledServer(t)
    server.setMode('leave')
    const url = await serveOverHttp(t, server.folder)
    const { results } = await runWithServers(t, { a: { url, effects: acts('once') } }, [toolSearch('act'), act, act])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'ok', 'error'],
    )
    assert.match(results[2]?.content ?? '', /ECONNREFUSED/)
  })

  test('it restarts between two calls and forgets its session: it is called in a new one', async (t) => {
    const { port, requests } = await startRecordingServer(t, forgetfulServer())
    const a = { url: `http://127.0.0.1:${port}/mcp`, effects: acts('once') }
    const { results } = await runWithServers(t, { a }, [toolSearch('act'), act, act])
    assert.deepEqual(
      results.slice(1).map(({ content }) => content),
      ['acted in session 1', 'acted in session 2'],
    )
    assert.ok(requests.length > 0)
  })

  test('case 29: a hanging call is abandoned, and the server is told', async (t) => {
    const server = new ControlledServer(t)
    const a = { url: await serveOverHttp(t, server.folder), timeout: '3s', effects: acts('once') }
    const { results } = await runTimedOutCall(t, server, { a })
    assert.equal(results[1]?.status, 'timed_out')
    await waitUntil(() => server.logLines('cancelled').length === 1)
  })

  test('a result that is too large is not read', async (t) => {
    const { results, result } = await controlled(t, 'huge', 'once')
    assert.equal(results[1]?.status, 'unknown')
    assert.equal(result.status, 'done')
  })

  test('no server at the address', async (t) => {
    const app = await openApp(t, { yaml: configYaml({ a: { url: 'http://127.0.0.1:9/mcp' } }) })
    const { ok, error } = await testServer(app, 'a')
    assert.equal(ok, false)
    assert.match(error ?? '', /fetch failed|ECONNREFUSED/)
  })
})
