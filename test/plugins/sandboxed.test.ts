/** Sandboxed plugins of each kind, in the real sandbox. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { journalOf, openApp, runTaskIn } from '../support/open-app.ts'
import { approvePlugin, manifestOf, openApproved, pluginHome, withoutPlugins } from '../support/plugin-homes.ts'
import { WITHOUT_SANDBOX as skip } from '../support/sandbox-available.ts'

const CODE = `
import { definePlugin, defineTool, TirelessError } from 'tireless'
import { z } from 'zod'

export default definePlugin(({ options, secrets }) => ({
  name: 'greeter',
  needs: ['tools', 'gates', 'critics', 'channels', 'sources', 'modelProviders', 'clock'],
  setup(host) {
    host.get('tools').add(
      defineTool({
        name: 'greet',
        description: 'Greets a person',
        args: z.strictObject({ name: z.string() }),
        effect: () => ({ recovery: 'pure', reach: 'none' }),
        run: async ({ name }, { call, say }) => {
          say('thinking')
          const content = [options.greeting, name, secrets.CITY_KEY, call.length > 0].join(' ')
          return { status: 'ok', content, facts: { cwd: '/' } }
        },
      }),
    )
    host.get('gates').add({
      name: 'no-evil',
      judge: ({ args }) => (args.name === 'evil' ? { kind: 'deny', reason: 'evil' } : { kind: 'allow' }),
    })
    host.get('critics').add({ name: 'polite', judge: (_, step) => ({ kind: 'continue' }) })
    host.get('channels').add({
      ...{ name: 'paper', maxText: 500, replaces: true },
      trouble: () => null,
      async deliver({ text }) {
        if (text === 'refuse') throw new TirelessError('channel_refused', 'no paper')
        return 'sheet 1'
      },
    })
    host.get('modelProviders').add({
      name: 'mine',
      models: ['echo'],
      open: (model) => ({
        price: { input: 3, output: 15, max_output: 1000, ...options.price },
        async call({ messages }, { onText }) {
          onText('thinking')
          const usage = { input: 1, output: 1 }
          return { text: model + ' heard ' + messages.length, calls: [], finish: 'stop', usage }
        },
      }),
    })
  },
}))
`
const PROVIDES = {
  ...{ tools: ['greet'], gates: ['no-evil'], critics: ['polite'], channels: ['paper'], modelProviders: ['mine'] },
}
const EFFECTS = { greet: { recovery: 'pure', reach: 'none' } }
const MANIFEST = manifestOf({
  ...{ entry: 'index.js', trust: 'sandboxed', provides: PROVIDES, effects: EFFECTS, needs: { secrets: ['CITY_KEY'] } },
})
const YAML = 'plugins: [{ path: ./plugins/greeter, options: { greeting: Good morning } }]\n'

const greet = (name: string) => ({ calls: [{ tool: 'greet', args: { name } }] })

test('K1, Q18: a sandboxed plugin provides tools, gates, critics, channels and models', { skip }, async (t) => {
  const home = pluginHome(t, { 'tireless-plugin.json': MANIFEST, 'index.js': CODE }, YAML)
  await withoutPlugins(home, (app) => app.run('secrets set', { name: 'CITY_KEY', value: 'k-123456789' }))
  const model = scriptedModel([greet('Ada'), greet('evil'), { calls: [{ tool: 'greet', args: {} }] }, { text: 'done' }])
  const app = await openApproved(t, home, { model })
  const { session_id, status } = await runTaskIn(app)
  assert.equal(status, 'done')
  const journal = await journalOf(app, session_id)
  const results = journal.flatMap((record) => (record.kind === 'call_settled' ? [record.result] : []))
  assert.equal(results[0]?.content, 'Good morning Ada ‹secret:CITY_KEY› true')
  assert.equal((results[0]?.facts as { cwd?: string } | undefined)?.cwd, undefined)
  assert.match(results[1]?.content ?? '', /evil/)
  assert.match(results[2]?.content ?? '', /invalid arguments: .*name/)
  const channel = app.service('channels').all.get('paper')
  assert.equal(channel?.trouble(), null)
  const message: Message = { id: '1', chat_id: null, kind: 'notice', text: 'hello', ts: '2026-01-01T00:00:00Z' }
  assert.deepEqual({ maxText: channel?.maxText, replaces: channel?.replaces }, { maxText: 500, replaces: true })
  assert.equal(await channel?.deliver(message, new AbortController().signal), 'sheet 1')
  await assert.rejects(async () => channel?.deliver({ ...message, text: 'refuse' }, new AbortController().signal), {
    code: 'channel_refused',
  })
  const critic = app.service('critics').all.get('polite')
  assert.deepEqual(await critic?.judge({}, {} as never), { kind: 'continue' })
  const echo = app.service('modelProviders').all.get('mine')?.open('echo')
  assert.deepEqual(echo?.price, { input: 3, output: 15, max_output: 1000 })
  const texts: string[] = []
  const asked = { signal: new AbortController().signal, onText: (text: string) => texts.push(text) }
  const answer = await echo?.call({ system: '', messages: [{ role: 'user', text: 'x' }], tools: [] }, asked)
  assert.deepEqual([answer?.text, texts], ['echo heard 1', ['thinking']])
})

test('the approval of a sandboxed plugin keeps what it offers; the first call starts its process', {
  skip,
}, async (t) => {
  const manifest = manifestOf({ entry: 'index.js', trust: 'sandboxed', provides: PROVIDES })
  const home = pluginHome(t, { 'tireless-plugin.json': manifest, 'index.js': CODE }, YAML)
  await approvePlugin(home)
  const app = await openApp(t, { home })
  const tool = app.service('tools').all.get('greet')
  assert.equal(tool?.description, 'Greets a person')
  assert.deepEqual(tool?.effect({} as never), { recovery: 'once', reach: 'destructive' })
  const { items } = await app.run('plugins list', {})
  assert.partialDeepStrictEqual(items, [{ state: 'loaded', trust: 'sandboxed', provides: PROVIDES }])
})

test('an impossible price of a sandboxed model is refused when the plugin is approved', { skip }, async (t) => {
  const manifest = manifestOf({ entry: 'index.js', trust: 'sandboxed', provides: PROVIDES })
  const yaml = 'plugins: [{ path: ./plugins/greeter, options: { price: { input: -1 } } }]\n'
  const home = pluginHome(t, { 'tireless-plugin.json': manifest, 'index.js': CODE }, yaml)
  const message = /plugin greeter: invalid price of the model mine\/echo; got input: .*-1/
  await assert.rejects(approvePlugin(home), { code: 'plugin_invalid', message })
})
