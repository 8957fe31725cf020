/** Models as a person meets them: found, listed, tested, chosen. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { commitOne } from '../src/ports/store.ts'
import { startProviderServer } from '../src/testing/provider-server.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from './support/open-app.ts'

interface Entry {
  readonly id: string
  readonly is_default: boolean
  readonly why: string | null
}

async function provider(t: TestContext, faults: ('401' | '404' | 'hang')[] = []) {
  const server = await startProviderServer({ script: [{ text: 'ready', faults }] })
  t.after(() => server.close())
  return server
}

/** For one test; the others find what was there. */
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

test('a key in the environment is enough: the model is found, told in one line, and asked; the key is told nobody', async (t) => {
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
  const { answer, dispatch_id } = (await app.run('run', { task: 'hello' }, (progress) => {
    if (progress.kind === 'note') notes.push(progress.text)
  })) as { answer: string; dispatch_id: string }
  assert.equal(answer, 'you said ‹secret:OPENAI_API_KEY›')
  assert.deepEqual(
    notes.filter((note) => note.startsWith('Using model')),
    ['Using model openai/gpt-5.6 (OPENAI_API_KEY).'],
  )
  assert.equal(requests[0]?.headers.authorization, 'Bearer marmalade-7731-for-breakfast')
  const traced = JSON.stringify(await app.run('trace show', { run: dispatch_id }))
  assert.match(traced, /you said ‹secret:OPENAI_API_KEY›/)
  const told = traced + JSON.stringify([await app.run('logs', {}), await app.run('models list', {})])
  assert.doesNotMatch(told, /marmalade-7731-for-breakfast/)
})

test('models list: the default and why, and what is chosen where', async (t) => {
  const { url } = await provider(t)
  const app = await openApp(t, { yaml: yamlFor(url) })
  await app.run('models use', { model: 'two/m', chat: 'c', user: 'u' })
  const { items, selections } = (await app.run('models list', {})) as { items: Entry[]; selections: unknown[] }
  assert.deepEqual(
    items.filter(({ is_default }) => is_default).map(({ id, why }) => [id, why]),
    [['one/m', 'models.default']],
  )
  assert.deepEqual(selections, [{ scope: 'chat c user u', model: 'two/m' }])
})

test('models test: latency and usage, or the error with what to do; a key that works again is believed at once', async (t) => {
  const { url, requests } = await provider(t, ['401', '401'])
  const app = await openApp(t, { yaml: yamlFor(url) })
  const tested = (model?: string) =>
    app.run('models test', model === undefined ? {} : { model }) as Promise<Record<string, unknown>>
  const refused = await tested('two/m')
  assert.deepEqual([refused.ok, refused.code, refused.usage], [false, 'model_auth', null])
  assert.match(String(refused.error), /do this: check the API key/)
  const unknown = await tested('nobody/m')
  assert.equal(unknown.code, 'model_unknown')

  const health = async () => ((await app.run('status', {})) as { health: { ok: boolean } }).health.ok
  assert.equal((await runTaskIn(app, 'Say the word: ready')).status, 'failed')
  assert.equal(await health(), false)
  const fine = await tested()
  assert.deepEqual([fine.model, fine.ok, fine.code, typeof fine.latency_ms], ['one/m', true, null, 'number'])
  assert.ok((fine.usage as { input_tokens: number }).input_tokens > 0)
  assert.equal(await health(), true)
  assert.equal(requests.length, 3)
})

test('E13: a model is chosen per chat, person, channel or for everything, for every run from then on, over restarts', async (t) => {
  const { url } = await provider(t)
  const home = freshFolder(t)
  const yaml = yamlFor(url)
  let app = await openApp(t, { yaml, home })
  const use = (model: string, scope: object = {}) => app.run('models use', { model, ...scope })
  const asked = async (metadata: Record<string, string>): Promise<string | undefined> => {
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
  const here = { chat_id: 'c', user_id: 'u', channel: 'x' }
  assert.equal(await asked(here), 'one/m')
  await use('two/everything')
  assert.equal(await asked(here), 'two/everything')
  await use('two/channel', { channel: 'x' })
  assert.equal(await asked(here), 'two/channel')
  await use('two/person', { chat: 'c', user: 'u' })
  await app.close()
  app = await openApp(t, { yaml, home })
  assert.equal(await asked(here), 'two/person')
  assert.equal(await asked({ ...here, user_id: 'v' }), 'two/channel')
  await use('two/chat', { chat: 'c' })
  assert.equal(await asked(here), 'two/chat')
  await use('default', { chat: 'c' })
  assert.equal(await asked(here), 'two/person')
  // As the seed says it: a chat with its channel.
  await use('two/here', { chat: 'c', channel: 'x' })
  assert.equal(await asked(here), 'two/here')
  assert.equal(await asked({ ...here, channel: 'y' }), 'two/person')
  await assert.rejects(use('two/m', { user: 'u' }), { code: 'usage' })
  await assert.rejects(use('nobody/m'), { code: 'model_unknown' })
})
