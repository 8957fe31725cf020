/** Models on the command line: detected, listed, tested, selected. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { commitOne } from '../src/ports/store.ts'
import { startProviderServer } from '../src/testing/provider-server.ts'
import { freshFolder, journalOf, openApp, readLogs, runTaskIn } from './support/open-app.ts'

async function startProvider(t: TestContext, faults: ('401' | '404' | 'hang')[] = []) {
  const server = await startProviderServer({ script: [{ text: 'ready', faults }] })
  t.after(() => server.close())
  return server
}

/** Sets variables for one test and restores them afterwards. */
function withEnvironment(t: TestContext, values: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name]
    t.after(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

const yamlFor = (url: string, more: object = {}) =>
  JSON.stringify({
    models: {
      default: 'one/m',
      providers: {
        one: { type: 'openai-compatible', base_url: url },
        two: { type: 'anthropic', base_url: url, api_key: 'the-key-of-two' },
      },
      ...more,
    },
  })

test('a key in the environment selects its model, one note says so, and the key appears nowhere', async (t) => {
  const text = 'you said marmalade-7731-for-breakfast'
  const server = await startProviderServer({ script: [{ text }] })
  t.after(() => server.close())
  const { url, requests } = server
  withEnvironment(t, {
    TIRELESS_MODEL: undefined,
    OPENAI_API_KEY: 'marmalade-7731-for-breakfast',
    OPENAI_BASE_URL: url,
  })
  const app = await openApp(t)
  const notes: string[] = []
  const { answer, dispatch_id } = await app.run('run', { task: 'hello' }, (progress) => {
    if (progress.kind === 'note') notes.push(progress.text)
  })
  assert.equal(answer, 'you said ‹secret:OPENAI_API_KEY›')
  assert.deepEqual(
    notes.filter((note) => note.startsWith('Using model')),
    ['Using model openai/gpt-5.6 (OPENAI_API_KEY).'],
  )
  assert.equal(requests[0]?.headers.authorization, 'Bearer marmalade-7731-for-breakfast')
  const traced = JSON.stringify(await app.run('trace show', { run: dispatch_id }))
  assert.match(traced, /you said ‹secret:OPENAI_API_KEY›/)
  const outputs = traced + JSON.stringify([await readLogs(app), await app.run('models list', {})])
  assert.doesNotMatch(outputs, /marmalade-7731-for-breakfast/)
})

test('models list: the default with its reason, and the selections', async (t) => {
  const { url } = await startProvider(t)
  const app = await openApp(t, { yaml: yamlFor(url) })
  await app.run('models use', { model: 'two/m', chat: 'c', user: 'u' })
  const { items, selections } = await app.run('models list', {})
  assert.deepEqual(
    items.filter(({ is_default }) => is_default).map(({ id, why }) => ({ id, why })),
    [{ id: 'one/m', why: 'models.default' }],
  )
  assert.deepEqual(selections, [{ scope: 'chat c user u', model: 'two/m' }])
})

test('models test: latency and usage, or the error with the remedy; a valid key counts at once', async (t) => {
  const { url, requests } = await startProvider(t, ['401', '401'])
  const app = await openApp(t, { yaml: yamlFor(url) })
  const testModel = (model?: string) =>
    app.run('models test', model === undefined ? {} : { model }) as Promise<Record<string, unknown>>
  const refused = await testModel('two/m')
  assert.deepEqual(
    { ok: refused.ok, code: refused.code, usage: refused.usage },
    { ok: false, code: 'model_auth', usage: null },
  )
  assert.match(String(refused.error), /do this: check the API key/)
  assert.match((refused.error_parts as { fix: string }).fix, /^check the API key/)
  const unknown = await testModel('nobody/m')
  assert.equal(unknown.code, 'model_unknown')

  const health = async () => (await app.run('status', {})).health.ok
  assert.equal((await runTaskIn(app, 'Say the word: ready')).status, 'failed')
  assert.equal(await health(), false)
  const passed = await testModel()
  assert.deepEqual(
    { model: passed.model, ok: passed.ok, code: passed.code, error: passed.error, parts: passed.error_parts },
    { model: 'one/m', ok: true, code: null, error: null, parts: null },
  )
  assert.equal(typeof passed.latency_ms, 'number')
  assert.ok((passed.usage as { input_tokens: number }).input_tokens > 0)
  assert.equal(await health(), true)
  assert.equal(requests.length, 3)
})

test('E13: models use selects by chat, person, channel or for all, for later runs and after restarts', async (t) => {
  const { url } = await startProvider(t)
  const home = freshFolder(t)
  const yaml = yamlFor(url)
  let app = await openApp(t, { yaml, home })
  const use = (model: string, scope: object = {}) => app.run('models use', { model, ...scope })
  const modelAskedFor = async (metadata: Record<string, string>): Promise<string | undefined> => {
    const { store, ids, clock, kernelId } = app.context
    const id = ids.next()
    const workspace = freshFolder(t, 'work')
    const dispatch = {
      dispatch_id: id,
      session_id: id,
      kernel_id: kernelId,
      agent_id: 'default',
      prompt: 'x',
      priority: 0,
    }
    await commitOne(store, [
      { op: 'enqueue', now: clock.now(), dispatches: [{ ...dispatch, metadata, source: 'test', workspace }] },
    ])
    await app.run('start', { until_idle: true })
    return (await journalOf(app, id)).flatMap((record) => (record.kind === 'model_requested' ? [record.model] : []))[0]
  }
  const origin = { chat_id: 'c', user_id: 'u', channel: 'x' }
  assert.equal(await modelAskedFor(origin), 'one/m')
  await use('two/everything')
  assert.equal(await modelAskedFor(origin), 'two/everything')
  await use('two/channel', { channel: 'x' })
  assert.equal(await modelAskedFor(origin), 'two/channel')
  await use('two/person', { chat: 'c', user: 'u' })
  await app.close()
  app = await openApp(t, { yaml, home })
  assert.equal(await modelAskedFor(origin), 'two/person')
  assert.equal(await modelAskedFor({ ...origin, user_id: 'v' }), 'two/channel')
  await use('two/chat', { chat: 'c' })
  assert.equal(await modelAskedFor(origin), 'two/chat')
  await use('default', { chat: 'c' })
  assert.equal(await modelAskedFor(origin), 'two/person')
  // A chat together with its channel, as in the example of the contract.
  await use('two/here', { chat: 'c', channel: 'x' })
  assert.equal(await modelAskedFor(origin), 'two/here')
  assert.equal(await modelAskedFor({ ...origin, channel: 'y' }), 'two/person')
  await assert.rejects(use('two/m', { user: 'u' }), { code: 'usage' })
  await assert.rejects(use('nobody/m'), { code: 'model_unknown' })
})
