/** The total limits of commands also hold for MCP servers: a real fork bomb and a real memory hog run as servers. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { stringify } from 'yaml'
import type { CallResult } from '../../src/domain/decision.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { NODE_FLAGS } from '../crash/kills.ts'
import { countMarked, forkBomb, peakDuring } from '../sandbox/fork-bombs.ts'
import { listServers } from '../support/mcp-homes.ts'
import { journalOf, openApp, runTaskIn } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'

const SERVER = [process.execPath, ...NODE_FLAGS, join(import.meta.dirname, 'hostile-server-main.ts')]
const MAX_PROCESSES = 150

interface Tool {
  readonly tool: string
  readonly args: Record<string, string>
}
const evaluate = (what: string) => ({ tool: 'x__evaluate', args: { what } })
/** Runs a program in the server until it ends, and returns how it ended. */
const runProgram = (program: string, ...args: readonly string[]) =>
  evaluate(
    [
      `new Promise((done) => child.spawn(${JSON.stringify(program)}, ${JSON.stringify(args)}, {`,
      `stdio: 'ignore' }).on('exit', (code, signal) => done('it ended: ' + (signal ?? code))))`,
    ].join(' '),
  )

async function openServerApp(t: TestContext, limits: object, calls: readonly Tool[], server: object = {}) {
  const model = scriptedModel([...calls.map((one) => ({ calls: [one] })), { text: 'done' }])
  const effects = { evaluate: { recovery: 'once', reach: 'none' } }
  const servers = { x: { command: SERVER, trust: 'trusted', effects, ...server } }
  const agents = [{ agent_id: 'a', prompt: 'x', tools: ['x__evaluate', 'bash'] }]
  const app = await openApp(t, { model, yaml: stringify({ limits, mcp_servers: servers, kernel: { agents } }) })
  const run = async (): Promise<readonly string[]> => {
    const { session_id } = await runTaskIn(app, 'Evaluate.', { agent: 'a' })
    const journal = await journalOf(app, session_id)
    const results = journal.flatMap((record): CallResult[] => (record.kind === 'call_settled' ? [record.result] : []))
    return results.map(({ content }) => content)
  }
  return { app, run }
}

describe('total limits of servers', { skip: WITHOUT_SANDBOX }, () => {
  for (const sandbox of ['on', 'off'])
    test(`a fork bomb in a server is limited and ends it; it can be used again (sandbox: ${sandbox})`, async (t) => {
      const mark = `bomb-${process.pid}-${sandbox}`
      const calls = [runProgram('bash', '-c', forkBomb(mark)), evaluate('"works"')]
      const { app, run } = await openServerApp(t, { processes: MAX_PROCESSES }, calls, { sandbox })
      let results: readonly string[] = []
      const peak = await peakDuring(
        mark,
        run().then((all) => {
          results = all
        }),
      )
      assert.ok(peak > 10, `the fork bomb ran: ${peak}\n${results.join('\n')}`)
      assert.ok(peak <= MAX_PROCESSES + 20, `${peak} processes at once`)
      assert.match(results[0] ?? '', /more than 150 processes of all commands and servers together/)
      assert.equal(results[1], 'works')
      assert.equal(countMarked(mark), 0)
      assert.deepEqual(
        (await listServers(app)).map(({ name }) => name),
        ['x'],
      )
    })

  test('a server that uses too much memory is killed', async (t) => {
    const hoard = runProgram('perl', '-e', '$x = "a" x (300 * 1024 * 1024); sleep 60')
    const { run } = await openServerApp(t, { memory_mb: 200 }, [hoard])
    assert.match((await run())[0] ?? '', /it ended: SIGKILL|more than 200 MB of memory of all commands and servers/)
  })

  test('commands and servers share one total', async (t) => {
    const many = (count: number): string => `for i in {1..${count}}; do sleep 20 & done; wait`
    const start = evaluate(
      `child.spawn('bash', ['-c', ${JSON.stringify(many(30))}], { stdio: 'ignore' }).pid && 'begun'`,
    )
    // Alone the command would be within the limit.
    const { run } = await openServerApp(t, { processes: MAX_PROCESSES }, [
      start,
      { tool: 'bash', args: { command: many(140) } },
    ])
    const [started, command] = await run()
    assert.equal(started, 'begun')
    assert.match(command ?? '', /more than 150 processes of all commands and servers together/)
  })
})
