/** Models are set up by commands: a key is tested before it is stored, and appears nowhere. */

import assert from 'node:assert/strict'
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startProviderServer } from '../src/testing/provider-server.ts'
import { tirelessWith } from './support/command-line.ts'
import { freshFolder, openApp, readLogs, runTaskIn } from './support/open-app.ts'

const KEY = 'sk-marmalade-7731-for-breakfast'
const WRONG = 'sk-jam-0042-for-supper-tonight'

const YAML = `# my models
models:
  providers:
    other: { type: openai-compatible, base_url: "http://127.0.0.1:9/v1" } # not used
`

async function startProvider(t: TestContext) {
  const server = await startProviderServer({ script: [{ text: 'ready' }], key: KEY })
  t.after(() => server.close())
  return server
}

/** Every file of the home but the file of secrets. */
function textOf(home: string): string {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== 'secrets.json' && lstatSync(join(home, name)).isFile())
    .map((name) => readFileSync(join(home, name), 'latin1'))
    .join('\n')
}

test('E13, case 136: models add stores a key only after it worked, and uses the model at once', async (t) => {
  const { url } = await startProvider(t)
  const home = freshFolder(t)
  const app = await openApp(t, { home, yaml: YAML })
  const file = join(home, 'tireless.yaml')
  const provider = { type: 'openai-compatible', name: 'mine', base_url: url } as const
  const given = { ...provider, model: 'scripted' }

  const refused = await app.run('models add', { ...given, secret: WRONG })
  assert.deepEqual(
    { ok: refused.ok, stored: refused.stored, code: refused.code, fix: refused.error_parts?.fix },
    { ok: false, stored: false, code: 'model_auth', fix: 'check the API key' },
  )
  assert.equal(readFileSync(file, 'utf8'), YAML)
  assert.deepEqual((await app.run('secrets list', {})).items, [])
  const short = await app.run('models add', { ...given, secret: 'abc' })
  assert.match(`${short.stored} ${short.error}`, /^false .*too short/)

  const offered = await app.run('models offered', { ...provider, secret: ` ${KEY}\n` })
  assert.deepEqual(offered, { ok: true, code: null, error: null, models: ['scripted'] })
  const unlisted = await app.run('models offered', { ...provider, secret: WRONG })
  assert.match(`${unlisted.ok} ${unlisted.code} ${unlisted.error}`, /^false model_auth .*refuses the API key/)
  const added = await app.run('models add', { ...given, secret: KEY })
  assert.deepEqual({ stored: added.stored, is_default: added.is_default }, { stored: true, is_default: true })
  const yaml = readFileSync(file, 'utf8')
  assert.match(yaml, /# my models/)
  assert.match(yaml, /# not used/)
  assert.match(yaml, /api_key: secret:MINE_API_KEY/)
  const { model } = await app.run('status', {})
  assert.deepEqual({ id: model.id, why: model.why }, { id: 'mine/scripted', why: 'models.default' })
  const { answer, dispatch_id } = await runTaskIn(app, 'Say the word: ready')
  assert.equal(answer, 'ready')
  const shown = JSON.stringify([
    await app.run('trace show', { run: dispatch_id }),
    await app.run('models list', {}),
    await app.run('config explain', {}),
    await readLogs(app),
  ])
  for (const key of [KEY, WRONG]) {
    assert.ok(!shown.includes(key))
    assert.ok(!textOf(home).includes(key), 'only the file of secrets has the key')
  }
})

test('E13: models set chooses by role and refuses unknown models; a provider in use is not removed', async (t) => {
  const { url } = await startProvider(t)
  const app = await openApp(t, { yaml: YAML })
  await app.run('models add', {
    ...{ type: 'anthropic', base_url: url, model: 'scripted', secret: KEY },
    ...{ input_price: 1, output_price: 2, keep_default: true },
  })
  await app.run('models use', { model: 'other/m' })
  await app.run('models set', { role: 'default', model: 'anthropic/scripted' })
  await app.run('models set', { role: 'fallback', model: 'other/a, other/b' })
  await app.run('models set', { role: 'planner', model: 'other/a' })
  const listed = await app.run('models list', {})
  const { known, providers, ...chosen } = listed.chosen
  assert.deepEqual(chosen, { default: 'anthropic/scripted', planner: 'other/a', fallback: ['other/a', 'other/b'] })
  assert.deepEqual(
    providers.map(({ name, type }) => [name, type]),
    [
      ['other', 'openai-compatible'],
      ['anthropic', 'anthropic'],
    ],
  )
  assert.deepEqual(known[0], { type: 'anthropic', needs_key: true, model: 'claude-sonnet-5-5' })
  assert.deepEqual(listed.selections, [], 'an earlier choice for everything no longer hides the default')
  assert.deepEqual(listed.items.find(({ is_default }) => is_default)?.price, {
    ...{ input: 1, output: 2, max_output: 8192 },
  })
  await assert.rejects(app.run('models set', { role: 'default', model: 'nobody/m' }), /unknown model/)
  await assert.rejects(app.run('models set', { role: 'planner', model: 'other/a,other/b' }), /expected one model/)
  await assert.rejects(app.run('models remove', { name: 'anthropic' }), /in use for anthropic\/scripted/)
  await app.run('models set', { role: 'default', model: 'none' })
  const removed = await app.run('models remove', { name: 'anthropic' })
  assert.deepEqual({ ...removed, kept: '' }, { name: 'anthropic', secret_removed: true, secrets_left: [], kept: '' })
  assert.deepEqual((await app.run('secrets list', {})).items, [])
})

test('E13: models add reads the key from a variable, and needs none for a local server', async (t) => {
  const [{ url }, open] = [await startProvider(t), await startProviderServer({ script: [{ text: 'ready' }] })]
  t.after(() => open.close())
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), YAML)
  const add = (address: string, ...more: string[]) =>
    tirelessWith({ ...process.env, MY_KEY: KEY }, home, 'models', 'add', 'scripted', ...more, '--base-url', address)
  const keyed = await add(url, '--type', 'openrouter', '--from-env', 'MY_KEY')
  assert.equal(keyed.exit, 0, keyed.stderr)
  assert.match(keyed.stdout, /openrouter\/scripted/)
  assert.equal((await add(open.url, '--type', 'openai-compatible', '--json')).exit, 0)
  assert.match(readFileSync(join(home, 'tireless.yaml'), 'utf8'), /default: local\/scripted/)
})
