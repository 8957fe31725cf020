/** Servers that die, hang, send garbage or change their tools: only their own calls fail, with a message that helps. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  ControlledServer,
  configYaml,
  isAlive,
  listServers,
  plainServer,
  runTimedOutCall,
  runWithServers,
  testServer,
  toolCall,
  toolSearch,
} from '../support/mcp-homes.ts'
import { journalOf, openApp, runTaskIn, waitUntil } from '../support/open-app.ts'

const acts = (recovery: string, reach: string) => ({ act: { recovery, reach } })
const act = toolCall('a__act', { what: 'something' })

describe('a server that dies during a call', () => {
  for (const recovery of ['pure', 'idempotent'])
    test(`${recovery}: it is restarted, and called again under the same key`, async (t) => {
      const controlled = new ControlledServer(t)
      controlled.setMode('die')
      const { results, result } = await runWithServers(
        t,
        { a: { command: controlled.command, effects: acts(recovery, 'none') } },
        [toolSearch('act'), act],
      )
      assert.equal(results[1]?.status, 'error')
      assert.match(results[1]?.content ?? '', /the MCP server was lost during the call: it exited with code 7/)
      const keys = controlled.logLines('acted')
      assert.deepEqual(
        { keyCount: keys.length, distinctKeys: new Set(keys).size, pidCount: controlled.pids().length },
        { keyCount: 2, distinctKeys: 1, pidCount: 2 },
      )
      assert.equal(result.status, 'done')
    })

  test('I4: once, in the workspace: the model is told that the outcome is unknown; no second call', async (t) => {
    const controlled = new ControlledServer(t)
    controlled.setMode('die')
    const { results, app } = await runWithServers(
      t,
      { a: { command: controlled.command, effects: acts('once', 'workspace') } },
      [toolSearch('act'), act],
    )
    assert.equal(results[1]?.status, 'unknown')
    assert.match(results[1]?.content ?? '', /It is unknown whether it took effect.*\n.*it exited with code 7/)
    assert.equal(controlled.logLines('acted').length, 1)
    const { items } = await app.run('unknowns list', {})
    assert.deepEqual(
      items.map(({ tool, status, args }) => ({ tool, status, args })),
      [{ tool: 'a__act', status: 'told_model', args: { what: 'something' } }],
    )
  })

  for (const recovery of ['once', 'reconcilable'])
    test(`I4: ${recovery}, third party: waits for the owner's resolution and continues`, async (t) => {
      const controlled = new ControlledServer(t)
      controlled.setMode('die')
      const { app, model } = await runWithServers(
        t,
        { a: { command: controlled.command, trust: 'trusted', effects: acts(recovery, 'third_party') } },
        [toolSearch('act'), act],
      )
      const { items } = await app.run('unknowns list', {})
      assert.deepEqual(
        { status: items[0]?.status, tool: items[0]?.tool, reach: items[0]?.reach },
        { status: 'open', tool: 'a__act', reach: 'third_party' },
      )
      assert.match(items[0]?.output_so_far ?? '', /it exited with code 7/)
      const waiting = (await app.run('queue list', {})).items[0]
      assert.deepEqual({ status: waiting?.status, kind: waiting?.wait?.kind }, { status: 'waiting', kind: 'unknown' })
      controlled.setMode('')
      await app.run('unknowns resolve', { id: items[0]?.id ?? '', as: 'not' })
      await app.run('start', { until_idle: true })
      assert.equal(controlled.logLines('acted').length, 2, 'called again because the owner said so')
      assert.equal((await app.run('queue list', {})).items[0]?.status, 'done')
      assert.match(JSON.stringify(model.requests.at(-1)?.messages), /acted/)
    })
})

describe('a server that cannot be used', () => {
  test('dead at the start: its calls say so with advice, and other work continues', async (t) => {
    const controlled = new ControlledServer(t)
    const broken = { command: [process.execPath, '-e', 'console.error("no licence found"); process.exit(3)'] }
    const good = { command: controlled.command, effects: acts('pure', 'none') }
    const { results, app } = await runWithServers(t, { broken, a: good }, [toolSearch('act'), act])
    assert.match(results[0]?.content ?? '', /a__act[\s\S]*\(the server broken does not answer\)/)
    assert.equal(results[1]?.content, 'acted')
    const state = (await listServers(app)).find(({ name }) => name === 'broken')
    assert.deepEqual({ state: state?.state, last: state?.stderr.at(-1) }, { state: 'down', last: 'no licence found' })
    assert.match(state?.error ?? '', /it exited with code 3/)
    const { checks } = await app.run('doctor', {})
    const check = checks.find(({ name }) => name === 'mcp server broken')
    assert.equal(check?.ok, false)
    assert.match(check?.found ?? '', /it exited with code 3.*no licence found/)
    assert.match(check?.remedy ?? '', /tireless mcp test broken/)
    assert.equal(checks.find(({ name }) => name === 'mcp server a')?.ok, true)
  })

  test('it is retried at once after the first failure, then only after a delay', async (t) => {
    const controlled = new ControlledServer(t)
    controlled.setMode('die')
    const a = { command: controlled.command, effects: acts('pure', 'none') }
    const clock = new FakeClock()
    const { results, app } = await runWithServers(t, { a }, [toolSearch('act'), act, act, toolSearch('act'), act], {
      clock,
    })
    // The first call and its retry found it alive; the second call came before the delay was over.
    assert.equal(controlled.logLines('acted').length, 2)
    assert.match(results[2]?.content ?? '', /next attempt in 1 s/)
    await clock.advance(1000)
    controlled.setMode('')
    const { session_id } = await runTaskIn(app)
    assert.match(JSON.stringify(await journalOf(app, session_id)), /"content":"acted"/)
  })

  test('a program that does not exist: the error names it', async (t) => {
    const app = await openApp(t, { yaml: configYaml({ none: { command: ['no-such-program-here'] } }) })
    const { ok, error } = await testServer(app, 'none')
    assert.equal(ok, false)
    assert.match(error ?? '', /no-such-program-here cannot be started.*ENOENT/)
    await assert.rejects(app.run('mcp test', { server: 'another' }), { code: 'not_found' })
  })

  test('a server that sends nothing or no message: the error shows the timeout and its output', async (t) => {
    const silent = { command: plainServer('silent'), start_timeout: '2s' }
    const babbling = { command: plainServer('babble'), start_timeout: '2s' }
    const app = await openApp(t, { yaml: configYaml({ silent, babbling }) })
    const [nothing, nonsense] = await Promise.all([testServer(app, 'silent'), testServer(app, 'babbling')])
    assert.deepEqual(
      { ok: nothing.ok, error: nothing.error },
      { ok: false, error: 'it did not answer within 2 s (start_timeout)' },
    )
    assert.equal(nonsense.ok, false)
    assert.match(nonsense.error ?? '', /^it did not answer.*an invalid message to stdout: Hello! I am not a server\.$/)
  })

  test('time limits that are too long for a timer mean no limit', async (t) => {
    const controlled = new ControlledServer(t)
    const limits = { timeout: '36500d', start_timeout: '36500d' }
    const a = { command: controlled.command, effects: acts('pure', 'none'), ...limits }
    const { results } = await runWithServers(t, { a }, [toolSearch('act'), act])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['ok', 'ok'],
    )
  })

  test('a server that never answers blocks neither start, nor other work, nor the exit', async (t) => {
    const controlled = new ControlledServer(t)
    const clock = new FakeClock()
    const servers = {
      silent: { command: plainServer('silent') },
      a: { command: controlled.command, effects: acts('pure', 'none') },
    }
    const model = scriptedModel([toolSearch('act'), act, { text: 'finished' }])
    const app = await openApp(t, { yaml: configYaml(servers), clock, model })
    const stateOf = async (name: string) => (await listServers(app)).find((server) => server.name === name)
    assert.equal((await stateOf('silent'))?.state, 'idle', 'it was not needed')
    const running = runTaskIn(app)
    await waitUntil(async () => ((await stateOf('a'))?.tools.length ?? 0) > 0)
    await clock.advance(20_000)
    const { session_id, status } = await running
    const journal = JSON.stringify(await journalOf(app, session_id))
    assert.deepEqual({ status, state: (await stateOf('silent'))?.state }, { status: 'done', state: 'starting' })
    assert.match(journal, /\(the server silent does not answer\)/)
    assert.match(journal, /"content":"acted"/)
    await app.close()
  })
})

describe('invalid answers', () => {
  test('case 29: a hanging call is abandoned after its time limit, and the server is told', async (t) => {
    const controlled = new ControlledServer(t)
    const a = { command: controlled.command, timeout: '3s', effects: acts('once', 'workspace') }
    const { results, app } = await runTimedOutCall(t, controlled, { a })
    assert.equal(results[1]?.status, 'timed_out')
    await waitUntil(() => controlled.logLines('cancelled').length === 1)
    controlled.setMode('')
    assert.equal((await listServers(app))[0]?.state, 'up', 'the server itself still works')
  })

  test('a result that is too large closes the connection, and the program continues', async (t) => {
    const controlled = new ControlledServer(t)
    controlled.setMode('huge')
    const a = { command: controlled.command, effects: acts('once', 'workspace') }
    const { results, result } = await runWithServers(t, { a }, [toolSearch('act'), act])
    assert.equal(results[1]?.status, 'unknown')
    assert.match(results[1]?.content ?? '', /more than 10485760 bytes/)
    assert.equal(result.status, 'done')
  })

  test('a result that is too long for a model is cut like any result', async (t) => {
    const controlled = new ControlledServer(t)
    controlled.setMode('long')
    const { results } = await runWithServers(t, { a: { command: controlled.command, effects: acts('pure', 'none') } }, [
      toolSearch('act'),
      act,
    ])
    assert.equal(results[1]?.status, 'ok')
    assert.match(results[1]?.content ?? '', /characters left out/)
    assert.ok((results[1]?.content.length ?? 0) < 60_000)
  })

  const others = [
    ['nonsense', 'ok', /acted all the same/],
    ['picture', 'ok', /\[image image\/png: 5 bytes, not shown\]/],
  ] as const
  for (const [mode, status, content] of others)
    test(`the answer ${mode} gives a result with the status ${status}`, async (t) => {
      const controlled = new ControlledServer(t)
      controlled.setMode(mode)
      const { results } = await runWithServers(
        t,
        { a: { command: controlled.command, effects: acts('once', 'workspace') } },
        [toolSearch('act'), act],
      )
      assert.equal(results[1]?.status, status)
      assert.match(results[1]?.content ?? '', content)
    })
})

test('an answer without a result: an error that says that the call may have taken effect', async (t) => {
  const { results } = await runWithServers(
    t,
    { p: { command: plainServer('no result'), effects: { count: { recovery: 'once', reach: 'workspace' } } } },
    [toolSearch('count'), toolCall('p__count', { text: 'four' })],
  )
  assert.equal(results[1]?.status, 'error')
  assert.match(results[1]?.content ?? '', /the server.s answer was not a valid result; the call may have taken effect/)
})

describe('processes', { skip: process.platform !== 'linux' && 'needs /proc' }, () => {
  test('O: when the program stops, a server and all of its processes are killed', async (t) => {
    const controlled = new ControlledServer(t)
    controlled.setMode('child')
    const { app } = await runWithServers(t, { a: { command: controlled.command, effects: acts('pure', 'none') } }, [
      toolSearch('act'),
      act,
    ])
    const pids = [...controlled.pids(), ...controlled.pids('child')]
    assert.deepEqual({ started: pids.length, alive: pids.filter(isAlive).length }, { started: 2, alive: 2 })
    await app.close()
    assert.deepEqual(pids.filter(isAlive), [])
  })

  test('a server whose configuration changes is stopped, and restarted when it is needed', async (t) => {
    const controlled = new ControlledServer(t)
    controlled.setMode('stay')
    const { app } = await runWithServers(t, { a: { command: controlled.command, effects: acts('pure', 'none') } }, [
      toolSearch('act'),
    ])
    const [first = 0] = controlled.pids()
    app.context.changeConfig([{ path: ['mcp_servers', 'a', 'timeout'], value: '5s' }])
    assert.equal((await listServers(app))[0]?.state, 'idle')
    // At once: cleaning up after the old process must not kill the new one.
    assert.deepEqual(
      { error: (await testServer(app, 'a')).error, isAlive: isAlive(first) },
      { error: null, isAlive: false },
    )
    assert.equal(controlled.pids().length, 2)
  })
})
