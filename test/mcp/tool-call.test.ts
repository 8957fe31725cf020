/** A call through tool_call is treated as the call inside it. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { ACT, ControlledServer, configYaml, runWithServers, toolCall, toolSearch } from '../support/mcp-homes.ts'
import { freshFolder, journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { serveOverHttp } from './controlled-server-sdk.ts'
import { CASES } from './schema-cases.ts'

describe('a call through tool_call is treated as the call inside', () => {
  test('case 54: without declared effects it asks under its own name, with its arguments', async (t) => {
    const controlled = new ControlledServer(t)
    const answers = [
      toolSearch('act'),
      toolCall('a__act', { what: 'on leave' }),
      { calls: [{ tool: 'wait', args: { for: 'the answer' } }] },
    ]
    const { app, result } = await runWithServers(t, { a: { command: controlled.command } }, answers)
    const { items } = await app.run('approvals list', {})
    assert.deepEqual(
      items.map(({ tool, args, effect, reason }) => ({ tool, args, effect, reason })),
      [
        {
          tool: 'a__act',
          args: { what: 'on leave' },
          effect: { recovery: 'once', reach: 'destructive' },
          reason: 'it spends money, destroys, publishes, or touches credentials',
        },
      ],
    )
    assert.deepEqual(controlled.logLines('acted'), [])
    await app.run('approvals allow', { id: items[0]?.id ?? '' })
    await app.run('start', { until_idle: true })
    assert.match(controlled.logLines('acted').join(), /^acted on leave /)
    const journal = await journalOf(app, result.session_id)
    assert.ok(journal.some((record) => record.kind === 'call_intended' && record.call.tool === 'a__act'))
  })

  test('case 36: the same call three times in a row is held back', async (t) => {
    const controlled = new ControlledServer(t)
    const again = toolCall('a__act', { what: 'the same' })
    const { results } = await runWithServers(t, { a: { command: controlled.command, effects: ACT } }, [
      toolSearch('act'),
      ...[again, again, again, again],
    ])
    assert.equal(results.at(-1)?.status, 'blocked')
    assert.equal(controlled.logLines('acted').length, 3)
  })

  test('case 27: arguments that do not fit its schema are refused, and nothing runs', async (t) => {
    const controlled = new ControlledServer(t)
    const { results, model } = await runWithServers(t, { a: { command: controlled.command, effects: ACT } }, [
      toolSearch('act'),
      toolCall('a__act', { what: 5 }),
      toolCall('a__nothing', {}),
      toolSearch('act'),
      toolCall('view_file', { path: 'x' }),
    ])
    assert.match(results[1]?.content ?? '', /the arguments are invalid: .*what/)
    assert.match(results[2]?.content ?? '', /tool_call cannot call "a__nothing"/)
    assert.match(results[4]?.content ?? '', /tool_call cannot call "view_file"/)
    assert.deepEqual(controlled.logLines('acted'), [])
    assert.equal(model.requests.length, 6)
  })

  test('case 27: so are arguments that break other rules of a schema, in every dialect', async (t) => {
    const controlled = new ControlledServer(t)
    const cases = Object.entries(CASES)
    controlled.setTools({ schemas: Object.fromEntries(cases.map(([tool, { schema }]) => [tool, schema])) })
    const effects = Object.fromEntries(cases.map(([tool]) => [tool, { recovery: 'pure', reach: 'none' }]))
    const called = (which: 'bad' | 'good') =>
      cases.flatMap(([tool, { [which]: args }]) =>
        args === undefined ? [] : [{ tool: 'tool_call', args: { name: `a__${tool}`, args } }],
      )
    const [bad, good] = [called('bad'), called('good')]
    const a = { url: await serveOverHttp(t, controlled.folder), effects }
    const answers = [toolSearch('schema'), { calls: bad }, { calls: good }]
    const { results } = await runWithServers(t, { a }, answers)
    const told = results.slice(1, bad.length + 1).map(({ content }) => content)
    for (const content of told) assert.match(content, /^the arguments are invalid: ./)
    assert.match(told.join('\n'), /unknown argument +→ at c\n/)
    assert.match(told.join('\n'), /5 is less than or equal to +5\. +→ at l\.?\[?"?1"?\]?\.n/)
    const done = results.slice(bad.length + 1).map(({ content }) => content)
    assert.deepEqual(
      { done, logLineCount: controlled.logLines('acted').length },
      { done: good.map(() => 'acted'), logLineCount: good.length },
    )
  })

  test('it has a key of its own, and its replay is identical', async (t) => {
    const controlled = new ControlledServer(t)
    const { app, result } = await runWithServers(t, { a: { command: controlled.command, effects: ACT } }, [
      toolSearch('act'),
      toolCall('a__act', { what: 'once more' }),
    ])
    assert.deepEqual(controlled.logLines('acted'), [`acted once more ${result.session_id}.2.0`])
    const replay = await replayIn(app, result.dispatch_id)
    assert.equal(replay.identical, true)
    assert.equal(controlled.logLines('acted').length, 1, 'the server was not called again')
  })

  test("an agent whose tools name it has it in its prompt with the server's schema, and no others", async (t) => {
    const controlled = new ControlledServer(t)
    const home = freshFolder(t)
    writeFileSync(
      join(home, 'tireless.yaml'),
      [
        `${configYaml({ a: { command: controlled.command, effects: ACT } })}kernel: { agents: [{`,
        `agent_id: narrow, prompt: p, tools: [a__act] }] }\n`,
      ].join(' '),
    )
    const model = scriptedModel([{ calls: [{ tool: 'a__act', args: { what: 'by name' } }] }, { text: 'done' }])
    const app = await openApp(t, { home, model })
    // The server was never contacted before.
    assert.equal((await runTaskIn(app, 'x', { agent: 'narrow' })).status, 'done')
    const tools = model.requests[0]?.tools ?? []
    assert.deepEqual(tools.map(({ name }) => name).toSorted(), ['a__act', 'finish', 'wait'])
    assert.partialDeepStrictEqual(tools.find(({ name }) => name === 'a__act')?.parameters, {
      properties: { what: { type: 'string', minLength: 2 } },
      required: ['what'],
    })
    assert.equal(controlled.logLines('acted').length, 1)
    // Other agents do not have it in the prompt; one that knows its name may still call it.
    assert.equal((await runTaskIn(app, 'y')).status, 'done')
    assert.ok(!model.requests.at(-1)?.tools.some(({ name }) => name === 'a__act'))
    assert.equal(controlled.logLines('acted').length, 2)
  })

  test('without servers there is neither tool_search nor tool_call', async (t) => {
    const { model } = await runWithServers(t, {}, [])
    assert.ok(!model.requests[0]?.tools.some(({ name }) => name.startsWith('tool_')))
  })
})
