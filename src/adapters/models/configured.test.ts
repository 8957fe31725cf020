import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { apiKeyOf } from '../../config.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { type ConfiguredModels, configuredModels } from './configured.ts'
import { knownProvider, PROVIDERS } from './providers.ts'

type Env = Readonly<Record<string, string>>

/** Local servers by address, with the models they list; everybody else refuses the connection. */
function machine(servers: Readonly<Record<string, readonly string[] | 'hangs' | 'nonsense'>> = {}) {
  const asked: string[] = []
  const fetch = (async (url: string, init: RequestInit) => {
    asked.push(url)
    const models = servers[url]
    if (models === undefined) throw new TypeError('fetch failed')
    if (models === 'nonsense') return new Response('<html>')
    if (models !== 'hangs') return Response.json({ data: models.map((id) => ({ id })) })
    return new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
  }) as unknown as typeof globalThis.fetch
  return { fetch, asked }
}

function modelsOf(env: Env = {}, more: Partial<ConfiguredModels> = {}) {
  return configuredModels({
    default: null,
    fallback: [],
    planner: null,
    agents: {},
    timeout: null,
    max_output: 100,
    providers: {},
    prices: {},
    freeAtHome: false,
    clock: new FakeClock(),
    env,
    fetch: machine().fetch,
    apiKeyOf: (provider) => apiKeyOf(provider as never, undefined, env),
    filled: (text) => text,
    ...more,
  })
}

const OLLAMA = 'http://127.0.0.1:11434/v1/models'
const LMSTUDIO = 'http://127.0.0.1:1234/v1/models'

describe('which model there is', () => {
  test('the configured default, then keys in their order, then Ollama, then LM Studio, then the offline model', async () => {
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
    const choice = (env: Env, more: Partial<ConfiguredModels> = {}) =>
      modelsOf(env, { fetch: machine(servers).fetch, ...more }).choice()
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
    const second = { fetch: machine({ [OLLAMA]: 'nonsense', [LMSTUDIO]: ['local-model'] }).fetch }
    assert.equal((await choice({}, second)).id, 'lmstudio/local-model')
    assert.equal((await choice({}, { fetch: machine({ [OLLAMA]: [] }).fetch })).id, 'offline/rules')
    assert.equal((await choice({}, { fetch: machine().fetch })).id, 'offline/rules')
  })

  test('nobody is asked before a model is needed, nor where a key decides; then each once', async () => {
    const net = machine({ [OLLAMA]: ['m'] })
    const models = modelsOf({}, { fetch: net.fetch })
    assert.equal(models.defaultId, 'offline/rules')
    assert.deepEqual(await models.chain({ model: 'a/b' }), ['a/b'])
    assert.deepEqual(net.asked, [])
    assert.deepEqual(await models.chain(), ['ollama/m'])
    assert.deepEqual(await models.chain(), ['ollama/m'])
    assert.equal(models.defaultId, 'ollama/m')
    assert.deepEqual(net.asked, [OLLAMA, LMSTUDIO])
    await modelsOf({ OPENAI_API_KEY: 'k' }, { fetch: net.fetch }).choice()
    assert.equal(net.asked.length, 2)
  })

  test('a server that says nothing is waited for half a second, once for all', async () => {
    const clock = new FakeClock()
    const models = modelsOf({}, { clock, fetch: machine({ [OLLAMA]: 'hangs', [LMSTUDIO]: 'hangs' }).fetch })
    let found: string | undefined
    const looking = models.choice().then(({ id }) => (found = id))
    await clock.advance(499)
    assert.equal(found, undefined)
    await clock.advance(1)
    assert.equal(await looking, 'offline/rules')
  })

  test('OLLAMA_HOST and OPENAI_BASE_URL move their providers', () => {
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
      assert.equal(knownProvider('ollama', { OLLAMA_HOST })?.base_url, expected, OLLAMA_HOST)
    const moved = knownProvider('openai', { OPENAI_BASE_URL: 'http://proxy/v1' })
    assert.deepEqual([moved?.base_url, moved?.wire], ['http://proxy/v1', 'openai-compatible'])
    assert.equal(knownProvider('toString', {}), undefined)
  })
})

test('the chain: the planner’s, the agent’s, the selected, the default, each with those that stand in for it', async () => {
  const models = modelsOf({}, { default: 'd/1', fallback: ['f/1', 'd/1'], planner: 'p/1', agents: { a: 'a/1' } })
  const selected = 's/1'
  assert.deepEqual(await models.chain({ phase: 'planner', agent: 'a', selected }), ['p/1', 'f/1', 'd/1'])
  assert.deepEqual(await models.chain({ agent: 'a', selected }), ['a/1', 'f/1', 'd/1'])
  assert.deepEqual(await models.chain({ agent: 'b', selected }), ['s/1', 'f/1', 'd/1'])
  assert.deepEqual(await models.chain({ agent: 'b' }), ['d/1', 'f/1'])
  assert.deepEqual(await models.chain({ model: 'm/1', agent: 'a', selected }), ['m/1'])
})

test('a model is made from what is configured or known; what is neither is refused with what there is', () => {
  const models = modelsOf(
    { DEEPSEEK_API_KEY: 'k' },
    { providers: { own: { type: 'openai-compatible', base_url: 'http://x/v1' }, or: { type: 'openrouter' } } },
  )
  for (const id of ['own/m', 'own/a/b', 'deepseek/m', 'ollama/m', 'lmstudio/m']) assert.equal(models.get(id).id, id)
  assert.equal(models.get('own/m'), models.get('own/m'))
  for (const id of ['nobody/m', 'own', 'own/', '/m', 'constructor/m'])
    assert.throws(() => models.get(id), { code: 'model_unknown', message: /own\/<model> or or\/<model> or anthropic/ })
  for (const id of ['anthropic/m', 'or/m']) assert.throws(() => models.get(id), { code: 'config_invalid' })
})

test('the list: what is configured and what was found, which is the default and why, what is missing', async () => {
  const models = modelsOf(
    { OPENAI_API_KEY: 'secret-key', GEMINI_API_KEY: 'k' },
    {
      fallback: ['own/m', 'nobody/m'],
      providers: { own: { type: 'openai-compatible', base_url: 'http://x/v1' }, or: { type: 'openrouter' } },
    },
  )
  const entries = await models.list()
  const shown = entries.map(({ id, source, key, is_default, why, problem }) => ({
    ...{ id, source, key, is_default, why },
    usable: problem === null,
  }))
  const plain = { key: 'set', is_default: false, why: null, usable: true }
  assert.deepEqual(shown, [
    { ...plain, id: 'openai/gpt-5.6', source: 'found', is_default: true, why: 'OPENAI_API_KEY' },
    { ...plain, id: 'own/m', source: 'configured', key: 'none', why: 'models.fallback' },
    { ...plain, id: 'nobody/m', source: 'configured', key: 'none', why: 'models.fallback', usable: false },
    { ...plain, id: 'or/<model>', source: 'configured', key: 'missing', usable: false },
    { ...plain, id: 'google/gemini-flash-latest', source: 'found' },
    { ...plain, id: 'offline/rules', source: 'built in', key: 'none' },
  ])
  assert.doesNotMatch(JSON.stringify(entries), /secret-key/)
})
