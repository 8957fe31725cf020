import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resolveApiKey } from '../../config.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { createModelRegistry, type ModelRegistryOptions } from './model-registry.ts'
import { findKnownProvider, PROVIDERS } from './providers.ts'

type Env = Readonly<Record<string, string>>

/** A fetch that answers for these local servers with their models; other addresses refuse the connection. */
function fakeNetwork(servers: Readonly<Record<string, readonly string[] | 'hangs' | 'nonsense'>> = {}) {
  const urls: string[] = []
  const fetch = (async (url: string, init: RequestInit) => {
    urls.push(url)
    const models = servers[url]
    if (models === undefined) throw new TypeError('fetch failed')
    if (models === 'nonsense') return new Response('<html>')
    if (models !== 'hangs') return Response.json({ data: models.map((id) => ({ id })) })
    return new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
  }) as unknown as typeof globalThis.fetch
  return { fetch, asked: urls }
}

function createModels(env: Env = {}, more: Partial<ModelRegistryOptions> = {}) {
  return createModelRegistry({
    default: null,
    fallback: [],
    planner: null,
    agents: {},
    timeout: null,
    max_output: 100,
    providers: {},
    prices: {},
    isLocalFree: false,
    clock: new FakeClock(),
    env,
    fetch: fakeNetwork().fetch,
    apiKeyOf: (provider) => resolveApiKey(provider as never, undefined, env),
    resolveSecrets: (text) => text,
    ...more,
  })
}

const OLLAMA = 'http://127.0.0.1:11434/v1/models'
const LMSTUDIO = 'http://127.0.0.1:1234/v1/models'

describe('the default model', () => {
  test('configured default, then API keys in order, then Ollama, then LM Studio, then the offline model', async () => {
    const keys = Object.values(PROVIDERS).flatMap(({ variable }) => variable ?? [])
    assert.deepEqual(keys, [
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GEMINI_API_KEY',
      'OPENROUTER_API_KEY',
      'DEEPSEEK_API_KEY',
      'MOONSHOT_API_KEY',
      'DASHSCOPE_API_KEY',
    ])
    const all = Object.fromEntries(keys.map((key) => [key, 'k']))
    const servers = { [OLLAMA]: ['nomic-embed-text', 'qwen3:8b'], [LMSTUDIO]: ['local-model'] }
    const choice = (env: Env, more: Partial<ModelRegistryOptions> = {}) =>
      createModels(env, { fetch: fakeNetwork(servers).fetch, ...more }).choice()
    assert.deepEqual(await choice(all, { default: 'x/y' }), { id: 'x/y', why: 'models.default' })
    assert.deepEqual(await choice({ ...all, TIRELESS_MODEL: 'x/z' }), { id: 'x/z', why: 'TIRELESS_MODEL' })
    for (const [n, key] of keys.entries()) {
      const env = Object.fromEntries(keys.slice(n).map((name) => [name, 'k']))
      const { id, why } = await choice(env)
      assert.equal(why, key)
      const [name, known] = Object.entries(PROVIDERS)[n] ?? assert.fail()
      assert.equal(id, `${name}/${known.model}`)
    }
    assert.equal((await choice({})).id, 'ollama/qwen3:8b')
    assert.equal((await choice({ ANTHROPIC_API_KEY: ' ' })).id, 'ollama/qwen3:8b')
    const onlyLmStudio = { fetch: fakeNetwork({ [OLLAMA]: 'nonsense', [LMSTUDIO]: ['local-model'] }).fetch }
    assert.equal((await choice({}, onlyLmStudio)).id, 'lmstudio/local-model')
    assert.equal((await choice({}, { fetch: fakeNetwork({ [OLLAMA]: [] }).fetch })).id, 'offline/rules')
    assert.equal((await choice({}, { fetch: fakeNetwork().fetch })).id, 'offline/rules')
  })

  test('local servers are asked once, only when a model is needed and no key is set', async () => {
    const network = fakeNetwork({ [OLLAMA]: ['m'] })
    const models = createModels({}, { fetch: network.fetch })
    assert.equal(models.defaultId, 'offline/rules')
    assert.deepEqual(await models.fallbackChain({ model: 'a/b' }), ['a/b'])
    assert.deepEqual(network.asked, [])
    assert.deepEqual(await models.fallbackChain(), ['ollama/m'])
    assert.deepEqual(await models.fallbackChain(), ['ollama/m'])
    assert.equal(models.defaultId, 'ollama/m')
    assert.deepEqual(network.asked, [OLLAMA, LMSTUDIO])
    await createModels({ OPENAI_API_KEY: 'k' }, { fetch: network.fetch }).choice()
    assert.equal(network.asked.length, 2)
  })

  test('silent servers are waited for half a second in total', async () => {
    const clock = new FakeClock()
    const models = createModels({}, { clock, fetch: fakeNetwork({ [OLLAMA]: 'hangs', [LMSTUDIO]: 'hangs' }).fetch })
    let found: string | undefined
    const pending = models.choice().then(({ id }) => (found = id))
    await clock.advance(499)
    assert.equal(found, undefined)
    await clock.advance(1)
    assert.equal(await pending, 'offline/rules')
  })

  test('OLLAMA_HOST and OPENAI_BASE_URL change the address of their providers', () => {
    const rows: readonly (readonly [string, string])[] = [
      ['192.168.1.2', 'http://192.168.1.2:11434/v1'],
      ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
      ['0.0.0.0:8080', 'http://127.0.0.1:8080/v1'],
      [':9999', 'http://127.0.0.1:9999/v1'],
      ['https://ollama.example', 'https://ollama.example/v1'],
      ['http://box:1/prefix/', 'http://box:1/prefix/v1'],
      ['::nonsense::', 'http://127.0.0.1:11434/v1'],
    ]
    for (const [OLLAMA_HOST, expected] of rows)
      assert.equal(findKnownProvider('ollama', { OLLAMA_HOST })?.base_url, expected, OLLAMA_HOST)
    const redirected = findKnownProvider('openai', { OPENAI_BASE_URL: 'http://proxy/v1' })
    assert.deepEqual(
      { base_url: redirected?.base_url, protocol: redirected?.protocol },
      { base_url: 'http://proxy/v1', protocol: 'openai-compatible' },
    )
    assert.equal(findKnownProvider('toString', {}), undefined)
  })
})

test('chain: the model of planner, agent, selection or default, each followed by the fallbacks', async () => {
  const models = createModels({}, { default: 'd/1', fallback: ['f/1', 'd/1'], planner: 'p/1', agents: { a: 'a/1' } })
  const selected = 's/1'
  assert.deepEqual(await models.fallbackChain({ phase: 'planner', agent: 'a', selected }), ['p/1', 'f/1', 'd/1'])
  assert.deepEqual(await models.fallbackChain({ agent: 'a', selected }), ['a/1', 'f/1', 'd/1'])
  assert.deepEqual(await models.fallbackChain({ agent: 'b', selected }), ['s/1', 'f/1', 'd/1'])
  assert.deepEqual(await models.fallbackChain({ agent: 'b' }), ['d/1', 'f/1'])
  assert.deepEqual(await models.fallbackChain({ model: 'm/1', agent: 'a', selected }), ['m/1'])
})

test('a model needs a configured or known provider; an unknown one is refused with a list of providers', () => {
  const models = createModels(
    { DEEPSEEK_API_KEY: 'k' },
    { providers: { own: { type: 'openai-compatible', base_url: 'http://x/v1' }, or: { type: 'openrouter' } } },
  )
  for (const id of ['own/m', 'own/a/b', 'deepseek/m', 'ollama/m', 'lmstudio/m']) assert.equal(models.get(id).id, id)
  assert.equal(models.get('own/m'), models.get('own/m'))
  for (const id of ['nobody/m', 'own', 'own/', '/m', 'constructor/m'])
    assert.throws(() => models.get(id), { code: 'model_unknown', message: /own\/<model> or or\/<model> or anthropic/ })
  for (const id of ['anthropic/m', 'or/m']) assert.throws(() => models.get(id), { code: 'config_invalid' })
})

test('list: configured and found models, the default and its reason, and missing keys', async () => {
  const models = createModels(
    { OPENAI_API_KEY: 'secret-key', GEMINI_API_KEY: 'k' },
    {
      fallback: ['own/m', 'nobody/m'],
      providers: { own: { type: 'openai-compatible', base_url: 'http://x/v1' }, or: { type: 'openrouter' } },
    },
  )
  const entries = await models.list()
  const summaries = entries.map(({ id, source, key, is_default, why, problem }) => ({
    ...{ id, source, key, is_default, why },
    usable: problem === null,
  }))
  const usual = { key: 'set', is_default: false, why: null, usable: true }
  assert.deepEqual(summaries, [
    { ...usual, id: 'openai/gpt-5.6', source: 'found', is_default: true, why: 'OPENAI_API_KEY' },
    { ...usual, id: 'own/m', source: 'configured', key: 'none', why: 'models.fallback' },
    { ...usual, id: 'nobody/m', source: 'configured', key: 'none', why: 'models.fallback', usable: false },
    { ...usual, id: 'or/<model>', source: 'configured', key: 'missing', usable: false },
    { ...usual, id: 'google/gemini-flash-latest', source: 'found' },
    { ...usual, id: 'offline/rules', source: 'built in', key: 'none' },
  ])
  assert.doesNotMatch(JSON.stringify(entries), /secret-key/)
})
