/** The examples of docs/plugins: tool, gate, channel and source, loaded as a reader would load them. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import type { GatedCall } from '../../src/ports/gate.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, journalOf, openApp, runTaskIn, waitUntil } from '../support/open-app.ts'
import { approvePlugin, withoutPlugins, writeFiles } from '../support/plugin-homes.ts'
import { WITHOUT_SANDBOX as skip } from '../support/sandbox-available.ts'
import { startSite } from '../support/serve-pages.ts'

/** The plugin of a page: its first program and its manifest. */
function pluginOf(page: string): Record<string, string> {
  const text = readFileSync(join(import.meta.dirname, `../../docs/plugins/${page}.md`), 'utf8')
  const block = (language: string): string =>
    new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(text)?.[1] ?? assert.fail(`${page}: ${language}`)
  const code = block('ts')
  const lines = code.trim().split('\n').length
  assert.ok(lines >= 15 && lines <= 60, `${page} has ${lines} lines`)
  return { 'index.ts': code, 'tireless-plugin.json': block('json') }
}

function homeWith(t: Parameters<typeof freshFolder>[0], page: string, entry: object, more: object = {}): string {
  const home = freshFolder(t)
  writeFiles(join(home, page), pluginOf(page))
  writeFileSync(join(home, 'tireless.yaml'), stringify({ plugins: [{ path: `./${page}`, ...entry }], ...more }))
  return home
}

test('docs/plugins/tool.md: the tool counts words, sandboxed', { skip }, async (t) => {
  const home = homeWith(t, 'tool', {})
  await approvePlugin(home, 'word-count')
  const call = { tool: 'count_words', args: { text: 'good morning to all' } }
  const app = await openApp(t, { home, model: scriptedModel([{ calls: [call] }, { text: 'done' }]) })
  const { session_id } = await runTaskIn(app)
  const results = (await journalOf(app, session_id)).flatMap((r) => (r.kind === 'call_settled' ? [r.result] : []))
  assert.deepEqual(results, [{ status: 'ok', content: '{"words":4}' }])
})

test('docs/plugins/gate.md: the gate asks at night', async (t) => {
  const home = homeWith(t, 'gate', { trust: 'trusted', options: { from: 22, to: 6 } })
  await approvePlugin(home, 'night-watch')
  for (const [now, kind] of [
    ['2026-01-01T23:00:00Z', 'ask'],
    ['2026-01-01T12:00:00Z', 'allow'],
  ] as const) {
    const app = await openApp(t, { home, clock: new FakeClock({ now: Date.parse(now) }) })
    const gate = app.service('gates').all.get('night-watch')
    const call: GatedCall = {
      ...{ tool: 'create_file', args: {}, effect: { recovery: 'idempotent', reach: 'workspace' } },
      ...{ session_id: 's', agent_id: 'a' },
    }
    assert.equal((await gate?.judge(call))?.kind, kind)
    await app.close()
  }
})

test('docs/plugins/channel.md: the channel delivers, and says whether to try again', async (t) => {
  let status = 200
  const site = await startSite(t, (_, response) => response.writeHead(status).end())
  const options = { server: `http://127.0.0.1:${site.port}` }
  const home = homeWith(t, 'channel', { trust: 'trusted', options })
  await withoutPlugins(home, (app) => app.run('secrets set', { name: 'NTFY_TOPIC', value: 'topic-12345' }))
  await approvePlugin(home, 'ntfy')
  const app = await openApp(t, { home })
  const channel = app.service('channels').all.get('ntfy') ?? assert.fail('there is no channel')
  const message = { id: 'm1', chat_id: null, kind: 'notice', text: 'hello', ts: '2026-01-01T00:00:00Z' } as const
  const { signal } = new AbortController()
  await channel.deliver(message, signal)
  assert.equal(channel.trouble(), null)
  for (const [answer, code] of [
    [503, 'channel_unavailable'],
    [404, 'channel_refused'],
  ] as const) {
    status = answer
    await assert.rejects(channel.deliver(message, signal), { code })
  }
})

test('docs/plugins/source.md: the source reports once a day, sandboxed and untrusted', { skip }, async (t) => {
  const entry = { options: { until: '2999-01-01' } }
  const home = homeWith(t, 'source', entry, { residents: [{ agent_id: 'planner', sources: ['countdown'] }] })
  await approvePlugin(home, 'countdown')
  const app = await openApp(t, { home })
  const stop = new AbortController()
  const running = app.service('sources').run(stop.signal)
  const state = () =>
    app
      .service('sources')
      .list()
      .find(({ name }) => name === 'countdown')
  await waitUntil(() => (state()?.published ?? 0) > 0)
  assert.deepEqual([state()?.published, state()?.refused, state()?.state], [1, 0, 'running'])
  stop.abort()
  await running
})
