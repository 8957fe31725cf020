/** Tools of MCP servers of both generations, by process and over HTTP: found, called, and treated like any tool. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { NODE_FLAGS, run } from '../crash/kills.ts'
import {
  ACT,
  ControlledServer,
  configYaml,
  everythingServer,
  filesystemServer,
  listServers,
  plainServer,
  runWithServers,
  testServer,
  toolCall,
  toolSearch,
} from '../support/mcp-homes.ts'
import { freshFolder, openApp, replayIn, waitUntil } from '../support/open-app.ts'
import { serveOverHttp } from './controlled-server-sdk.ts'

describe('servers of the registry, unchanged', () => {
  test('server-everything, handshake: a tool is found, then called under its own name', async (t) => {
    const every = { command: everythingServer(), effects: { echo: { recovery: 'pure', reach: 'none' } } }
    const { results, intended, model } = await runWithServers(t, { every }, [
      toolSearch('echo a message back'),
      toolCall('every__echo', { message: 'across the wire' }),
    ])
    assert.match(results[0]?.content ?? '', /"name":"every__echo".*"schema":\{/)
    assert.deepEqual(
      { status: results[1]?.status, content: results[1]?.content },
      { status: 'ok', content: 'Echo: across the wire' },
    )
    assert.deepEqual(intended, ['tool_search', 'every__echo'])
    const offered = model.requests.map(({ tools }) => tools.map(({ name }) => name))
    assert.ok(offered[0]?.includes('tool_search') && offered[0].includes('tool_call'))
    assert.ok(!offered.flat().some((name) => name.startsWith('every__')), 'not in the prompt')
    assert.deepEqual(model.requests[2]?.tools, model.requests[0]?.tools, 'the prefix is unchanged')
  })

  for (const [name, step] of [
    ['by its own name', { calls: [{ tool: 'every__echo', args: { message: 'hello' } }] }],
    ['with tool_call', toolCall('every__echo', { message: 'hello' })],
  ] as const)
    test(`server-everything: a tool can be called ${name} without a search before`, async (t) => {
      const every = { command: everythingServer(), effects: { echo: { recovery: 'pure', reach: 'none' } } }
      const none = { calls: [{ tool: 'every__none', args: {} }] }
      const { results, app, result } = await runWithServers(t, { every }, [step, none])
      assert.deepEqual(
        results.map(({ status, content }) => ({ status, content: content.slice(0, 33) })),
        [
          { status: 'ok', content: 'Echo: hello' },
          { status: 'error', content: 'there is no tool "every__none"; t' },
        ],
      )
      const { identical } = await replayIn(app, result.dispatch_id)
      assert.equal(identical, true)
    })

  test('server-filesystem: declared effects count; a tool without any gets the strictest class', async (t) => {
    const folder = freshFolder(t, 'files')
    writeFileSync(join(folder, 'note.txt'), 'seen from far away')
    const files = {
      command: filesystemServer(folder),
      effects: { read_text_file: { recovery: 'pure', reach: 'private' } },
    }
    const { results, app } = await runWithServers(t, { files }, [
      toolSearch('read a text file'),
      toolCall('files__read_text_file', { path: join(folder, 'note.txt') }),
    ])
    assert.equal(results[1]?.content, 'seen from far away')
    const [state] = await listServers(app)
    const effects = Object.fromEntries((state?.tools ?? []).map(({ tool, effect }) => [tool, effect]))
    assert.deepEqual(effects.read_text_file, { recovery: 'pure', reach: 'private' })
    assert.deepEqual(effects.write_file, { recovery: 'once', reach: 'destructive' })
    assert.equal(state?.state, 'up')
  })
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  return typeof address === 'object' && address ? address.port : 0
}

const COUNT = { count: { recovery: 'pure', reach: 'none' } }

describe('both generations', () => {
  test('stateless, by process: a tool is found and called, with the SDK and without', async (t) => {
    const controlled = new ControlledServer(t)
    const servers = {
      a: { command: controlled.sdkCommand, effects: ACT },
      b: { command: controlled.command, effects: ACT },
    }
    const act = (name: string) => toolCall(name, { what: 'something' })
    const { results, app } = await runWithServers(t, servers, [toolSearch('act'), act('a__act'), act('b__act')])
    assert.deepEqual(
      [results[1], results[2]].map((one) => ({ status: one?.status, content: one?.content })),
      [
        { status: 'ok', content: 'acted' },
        { status: 'ok', content: 'acted' },
      ],
    )
    assert.deepEqual(
      (await listServers(app)).map(({ protocol }) => protocol),
      ['2026-07-28', '2026-07-28'],
    )
    assert.equal(controlled.pids().length, 2, 'each started once')
  })

  test('stateless, over HTTP, with the headers of the configuration', async (t) => {
    process.env.PROOF_OF_TEST = 'from the environment'
    const controlled = new ControlledServer(t)
    const url = await serveOverHttp(t, controlled.folder)
    const { results, app } = await runWithServers(
      t,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration expands it.
      { a: { url, headers: { 'X-Proof': '${PROOF_OF_TEST}' }, effects: ACT } },
      [toolSearch('act'), toolCall('a__act', { what: 'something' })],
    )
    assert.deepEqual({ status: results[1]?.status, content: results[1]?.content }, { status: 'ok', content: 'acted' })
    assert.equal((await listServers(app))[0]?.protocol, '2026-07-28')
    assert.deepEqual([...new Set(controlled.logLines('POST'))], ['POST from the environment'])
  })

  test('handshake, over HTTP: server-everything with its sessions', async (t) => {
    const port = await freePort()
    const [program = '', ...args] = everythingServer('streamableHttp')
    const child = spawn(program, args, { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' })
    t.after(() => child.kill('SIGKILL'))
    const url = `http://127.0.0.1:${port}/mcp`
    await waitUntil(() =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    )
    const { results, app } = await runWithServers(
      t,
      { every: { url, effects: { echo: { recovery: 'pure', reach: 'none' } } } },
      [toolSearch('echo'), toolCall('every__echo', { message: 'by HTTP' })],
    )
    assert.equal(results[1]?.content, 'Echo: by HTTP')
    assert.match((await listServers(app))[0]?.protocol ?? '', /^2025-/)
  })

  for (const how of ['plain', 'strict'])
    test(`handshake, by process, ${how === 'strict' ? 'exits at an unknown method' : 'refuses others'}`, async (t) => {
      const { results, app } = await runWithServers(t, { p: { command: plainServer(how), effects: COUNT } }, [
        toolSearch('count letters'),
        toolCall('p__count', { text: 'four' }),
      ])
      assert.equal(results[1]?.content, '4 letters')
      assert.equal((await listServers(app))[0]?.protocol, '2024-11-05')
    })
})

test('case 136: a secret of the configuration reaches only its server, by process and over HTTP', async (t) => {
  const home = freshFolder(t)
  const before = await openApp(t, { home })
  await before.run('secrets set', { name: 'MAIL', value: 'm41l-secret-value-9' })
  await before.close()
  const controlled = new ControlledServer(t)
  const url = await serveOverHttp(t, controlled.folder)
  const own = new ControlledServer(t)
  const servers = {
    a: { url, headers: { 'X-Proof': 'secret:MAIL' }, effects: ACT },
    b: { command: own.command, env: { GIVEN: 'secret:MAIL' }, effects: ACT },
    c: { command: own.command, env: { GIVEN: 'secret:NOBODY' }, effects: ACT },
  }
  const calls = [toolCall('a__act', { what: 'something' }), toolCall('b__environment')]
  const { app, results } = await runWithServers(t, servers, [toolSearch('act'), ...calls], { home })
  assert.deepEqual([...new Set(controlled.logLines('POST'))], ['POST m41l-secret-value-9'])
  assert.match(results[2]?.content ?? '', /"GIVEN":"‹secret:MAIL›"/)
  assert.match((await testServer(app, 'c')).error ?? '', /NOBODY/)
  assert.doesNotMatch(JSON.stringify(await listServers(app)), /m41l/)
})

test('case 136: a server gets PATH, HOME, LANG and its configured variables, and nothing else', async (t) => {
  process.env.SOMEBODYS_API_KEY = 'not for servers'
  const controlled = new ControlledServer(t)
  const { results } = await runWithServers(
    t,
    { a: { command: controlled.command, effects: ACT, env: { GIVEN: 'this' } } },
    [toolSearch('environment'), toolCall('a__environment')],
  )
  const { TIRELESS_MCP_SERVER, ...known } = JSON.parse(results[1]?.content ?? '{}') as Record<string, string>
  assert.ok(TIRELESS_MCP_SERVER)
  assert.deepEqual(
    Object.keys(known).toSorted(),
    ['GIVEN', 'HOME', 'LANG', 'PATH'].filter((name) => name === 'GIVEN' || process.env[name]),
  )
})

test('the SDK is not loaded before a server is needed', async (t) => {
  const controlled = new ControlledServer(t)
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), configYaml({ a: { command: controlled.command } }))
  const main = [...NODE_FLAGS, join(import.meta.dirname, 'loaded-packages-main.ts')]
  const { stdout, stderr } = await run(process.execPath, [...main, home, 'status', 'start', 'mcp list'])
  assert.equal(stdout, '[]', stderr)
  assert.deepEqual(controlled.pids(), [])
})
