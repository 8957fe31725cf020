/** The shipped agents that work for others: the browser, and the desktop of Windows. */

import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findAgentIssues } from '../src/app/agent-issues.ts'
import { SHIPPED_AGENTS } from '../src/config.ts'
import type { ModelRequest } from '../src/ports/model.ts'
import { type ScriptedAnswer, scriptedModel } from '../src/testing/scripted-model.ts'
import { calling, finishing, openFamily, spawning, WAIT_FOR_AGENTS } from './support/agent-family.ts'
import { WITHOUT_CHROMIUM } from './support/chromium.ts'
import { freshFolder, openApp, runTaskIn } from './support/open-app.ts'
import { allowHostsYaml, callStep, fakeDns, runAgent, startSite } from './support/serve-pages.ts'

function homeWithShippedAgents(t: Parameters<typeof freshFolder>[0]): string {
  const home = freshFolder(t)
  cpSync(SHIPPED_AGENTS, join(home, 'agents'), { recursive: true })
  return home
}

describe('shipped agents', () => {
  test('O10: the browser agent drives a real Chromium by its role', { skip: WITHOUT_CHROMIUM }, async (t) => {
    const { port } = await startSite(t, (_, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end('<title>T</title><h1 id=a></h1><script>a.textContent="7 storks"</script>'),
    )
    const host = `birds.test:${port}`
    const { results, app, session_id } = await runAgent(
      t,
      [callStep('browser', { action: 'open', url: `http://${host}/` })],
      {
        home: homeWithShippedAgents(t),
        resolve: fakeDns({ 'birds.test': '127.0.0.1' }),
        yaml: allowHostsYaml(host),
      },
      { agent: 'browser' },
    )
    assert.match(results[0]?.content ?? '', /7 storks/)
    const [started] = (await app.run('trace list', { limit: 1 })).items
    assert.equal(started?.session_id, session_id)
  })

  test('O10: the browser agent works for another one, which reads what it saw', {
    skip: WITHOUT_CHROMIUM,
  }, async (t) => {
    const { port } = await startSite(t, (_, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end('<h1 id=a></h1><script>a.textContent=["9","herons"].join(" ")</script>'),
    )
    const host = `birds.test:${port}`
    const seen = ({ messages }: ModelRequest): ScriptedAnswer =>
      finishing(/\d herons/.exec(JSON.stringify(messages))?.[0] ?? 'nothing')
    const family = await openFamily(
      t,
      {
        lead: [spawning({ agent: 'browser', task: 'look: which birds?' }), WAIT_FOR_AGENTS, seen],
        'look:': [calling('browser', { action: 'open', url: `http://${host}/` }), seen],
      },
      {
        home: homeWithShippedAgents(t),
        resolve: fakeDns({ 'birds.test': '127.0.0.1' }),
        yaml: allowHostsYaml(host),
        tools: ['spawn_agent', 'browser', 'wait', 'finish'],
      },
    )
    const { answer, status } = await family.run()
    const [child] = await family.children()
    assert.deepEqual([status, child?.agent_id, child?.status, answer], ['done', 'browser', 'done', '9 herons'])
  })

  test('O10: the agent for a Windows desktop is refused elsewhere, and the error says what it needs', async (t) => {
    const app = await openApp(t, { home: homeWithShippedAgents(t), model: scriptedModel([{ text: 'never asked' }]) })
    const ended = await runTaskIn(app, 'open the editor', { agent: 'windows-desktop' })
    assert.equal(ended.status, 'failed')
    assert.equal(ended.stop_reason, 'env_capability_mismatch')
    assert.match(ended.error ?? '', /ENV_PLATFORM_MISSING: the agent windows-desktop needs a worker on Windows; got /)
  })

  test('an agent is refused only for what its machine lacks', () => {
    const agent = { agent_id: 'a', platform: 'windows', tools: ['browser'] } as const
    const codes = (platform: string, hasChromium: boolean) =>
      findAgentIssues(agent, { platform, hasTool: () => hasChromium }).map(({ code }) => code)
    assert.deepEqual(codes('win32', true), [])
    assert.deepEqual(codes('linux', true), ['ENV_PLATFORM_MISSING'])
    assert.deepEqual(codes('win32', false), ['ENV_TOOL_MISSING'])
    assert.deepEqual(codes('sunos', false), ['ENV_PLATFORM_MISSING', 'ENV_TOOL_MISSING'])
    const anywhere = { agent_id: 'a', platform: null, tools: null }
    assert.deepEqual(findAgentIssues(anywhere, { platform: 'sunos', hasTool: () => false }), [])
  })

  test('agents that work for others do not run at beats, and the lists say when they run', async (t) => {
    const app = await openApp(t, { home: homeWithShippedAgents(t), model: scriptedModel([]) })
    const { items } = await app.run('agent list', {})
    const shown = items.filter(({ on_call }) => on_call).map(({ agent_id, next_at }) => ({ agent_id, next_at }))
    assert.deepEqual(shown, [
      { agent_id: 'assistant', next_at: null },
      { agent_id: 'browser', next_at: null },
      { agent_id: 'windows-desktop', next_at: null },
    ])
  })
})
