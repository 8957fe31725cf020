/** The coding_agent tool: a real program in the real sandbox, in place of an external coding agent. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { resultsOf } from '../support/fake-tools.ts'
import { journalOf, openApp, runTaskIn } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { callStep, fakeDns, startSite } from '../support/serve-pages.ts'

const SECRET = 'coder-key-0123456789'

/** A program that writes its task to a file, and reports as Claude Code does. */
const coder = (script: string, more: object = {}): object => ({
  command: ['bash', '-c', script, 'coder', '{task}'],
  ...{ usd: 0.5, env: { CODER_KEY: SECRET } },
  ...more,
})

const REPORT = `echo '{"type":"result","is_error":false,"result":"Done: one file","total_cost_usd":0.25}'`

async function give(t: TestContext, agents: object, calls: readonly object[], more = '') {
  const app = await openApp(t, {
    model: scriptedModel([...calls.map((args) => callStep('coding_agent', args)), { text: 'done' }]),
    resolve: fakeDns({ 'site.test': '127.0.0.1' }),
    yaml: `coding_agents: ${JSON.stringify(agents)}\n${more}`,
  })
  const { session_id, workspace } = await runTaskIn(app, 'the task')
  const spend = await app.run('budget show', {})
  return { app, session_id, workspace, results: await resultsOf(app, session_id), spend }
}

describe('coding_agent', { skip: WITHOUT_SANDBOX }, () => {
  test('E21: a program works on the files, its answer and receipt come back, its cost is booked', async (t) => {
    const task = `write 'it' to "x" & $(touch pwned)`
    const script = `printf %s "$1" > task.txt; echo working; test -n "$CODER_KEY" && ${REPORT}`
    const { app, results, workspace, session_id } = await give(t, { coder: coder(script) }, [{ agent: 'coder', task }])
    assert.deepEqual(results, [
      {
        status: 'ok',
        content: 'Done: one file\n[coder: exit 0, 0.25 USD]',
        facts: { cost_usd: 0.25, receipt: { agent: 'coder', ended: 'exited', exit: 0, usd: 0.25 } },
      },
    ])
    assert.equal(readFileSync(join(workspace, 'task.txt'), 'utf8'), task)
    assert.equal(existsSync(join(workspace, 'pwned')), false)
    const [booked] = await app.service('store').spend('2000-01-01', '2999-01-01')
    assert.partialDeepStrictEqual(booked, { model: 'coding-agent/coder', agent_id: 'default', usd: 250_000 })
    assert.ok(!JSON.stringify(await journalOf(app, session_id)).includes(SECRET))
  })

  test('E21: without a report the whole sum is booked; a failure and a time limit are said', async (t) => {
    const agents = {
      silent: coder('echo plain text'),
      failing: coder('echo "no such file" >&2; exit 3'),
      slow: coder('echo begun; sleep 30', { timeout: '1s' }),
    }
    const calls = Object.keys(agents).map((agent) => ({ agent, task: 'x' }))
    const { results, app } = await give(t, agents, calls)
    assert.deepEqual(
      results.map(({ status, content }) => ({ status, content })),
      [
        { status: 'ok', content: 'plain text\n[silent: exit 0, 0.5 USD]' },
        { status: 'error', content: 'no such file\n[failing: exit 3, 0.5 USD]' },
        { status: 'error', content: 'begun\n[slow: timed out, 0.5 USD]' },
      ],
    )
    const spent = await app.service('store').spend('2000-01-01', '2999-01-01')
    assert.equal(
      spent.reduce((sum, { usd }) => sum + usd, 0),
      1_500_000,
    )
  })

  test('E21: it does not start if the day or the run cannot pay for it', async (t) => {
    const agents = { coder: coder(`touch ran; ${REPORT}`) }
    const day = await give(t, agents, [{ agent: 'coder', task: 'x' }], 'budget: { per_day_usd: 0.4 }\n')
    assert.match(day.results[0]?.content ?? '', /the budget is too low.*budget\.per_day_usd/s)
    assert.equal(existsSync(join(day.workspace, 'ran')), false)
    const run = await give(
      t,
      agents,
      [1, 2, 3].map((n) => ({ agent: 'coder', task: `task ${n}` })),
      'budget: { per_dispatch_usd: 0.8 }\n',
    )
    assert.deepEqual(
      run.results.map(({ status }) => status),
      ['ok', 'ok', 'error'],
    )
    assert.match(run.results[2]?.content ?? '', /coder may cost 0\.5 USD, and 0\.3\d* USD are left/)
  })

  test('E21: it reaches only the hosts that the owner lists for it', async (t) => {
    const { port, requests } = await startSite(t, (_, response) => response.end('hello'))
    const ask = `curl -sS --max-time 5 http://site.test:${port}/x || true; ${REPORT}`
    const agents = { closed: coder(ask), open: coder(ask, { hosts: [`site.test:${port}`] }) }
    const calls = ['closed', 'open'].map((agent) => ({ agent, task: 'x' }))
    await give(t, agents, calls, `policy: { allow_hosts: ["site.test:${port}"] }\n`)
    assert.equal(requests.length, 1)
  })

  test('without a configured program there is no such tool', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    assert.equal(app.service('tools').all.has('coding_agent'), false)
  })
})
