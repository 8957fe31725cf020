// biome-ignore-all lint/suspicious/noTemplateCurlyInString: "${NAME}" is what is tested here

/** Keys and secrets of a configuration, and keys without effect. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stringify } from 'yaml'
import { configOf, DOCUMENTED, errorMessageOf, file, folder, load, nest } from '../test/support/config-files.ts'
import type { EnvVariables } from './config/expand-env.ts'
import { schemaLevels } from './config/explain-problems.ts'
import { findUnusedKeys, USED_KEYS } from './config/unused-keys.ts'
import { jsonSchema, resolveApiKey, resolveSecret, secretsInConfig } from './config.ts'
import { TirelessError } from './domain/error.ts'
import type { Json } from './domain/json.ts'

describe('secrets', () => {
  const SECRET = 'sk-hunter2secret'

  test('no error quotes a secret, wherever it is', () => {
    const bad: readonly Json[] = [
      { models: { providers: { p: { type: 'openai', api_key_env: SECRET } } } },
      { models: { providers: { p: { type: 'openai', api_key: [SECRET] } } } },
      { models: { providers: { p: { type: 'openai', api_key: SECRET, x: 1 } } } },
      { models: { providers: { p: { type: 'openai', base_url: `user:${SECRET}@host` } } } },
      { models: { providers: { p: { type: 'openai', api_keys: SECRET } } } },
      { models: { providers: { p: { type: 'openai', headers: SECRET } } } },
      { mcp_servers: { m: { command: SECRET, env: SECRET } } },
      { mcp_servers: { m: { command: ['x'], env: { 'A B': SECRET }, url: SECRET } } },
      { store: `mysql://root:${SECRET}@db/x` },
      { channels: { lark: SECRET } },
      { channels: { lark: { app_id: SECRET, app_secret: SECRET, app_secret_env: SECRET } } },
      { channels: { lark: { app_id: 'x', app_secret: [SECRET], domain: SECRET, mode: SECRET, encrypt_key: 1 } } },
      { channels: { slack: SECRET } },
      { channels: { webhook: { url: SECRET, secret: SECRET, secret_env: SECRET } } },
      { kernel: { ping_url: SECRET } },
      { sources: { s: SECRET } },
    ]
    for (const data of bad) assert.ok(!errorMessageOf(stringify(data)).includes('hunter2'), stringify(data))
    for (const path of ['kernel.id', 'kernel.schedule', 'kernel.timeout', 'sandbox', 'server.port', 'kernel.missed'])
      assert.ok(!errorMessageOf(stringify(nest(path.split('.'), 'a b ${S}')), { S: SECRET }).includes('hunter2'), path)
  })

  test('no syntax error quotes the source', () => {
    for (const text of [
      `api_key: "${SECRET}`,
      `a: x\n]${SECRET}`,
      `a: !${SECRET} x`,
      `a: | ${SECRET}\n  x`,
      `a: *${SECRET}`,
    ])
      assert.ok(!errorMessageOf(text).includes('hunter2'), text)
  })

  const provider = (yaml: string, env: EnvVariables = {}) => {
    const found = configOf(`models: { providers: { p: { type: openai, ${yaml} } } }`, env).models.providers.p
    return found ?? assert.fail()
  }
  const noFile = (): string => assert.fail('no file should be read')

  test('an API key comes from the configuration, a variable, a named variable or a file', () => {
    assert.equal(resolveApiKey(provider('api_key: abc'), noFile, {}), 'abc')
    assert.equal(resolveApiKey(provider('api_key: "${K}"', { K: 'abc\n' }), noFile, {}), 'abc')
    assert.equal(resolveApiKey(provider('api_key_env: K'), noFile, { K: 'abc' }), 'abc')
    writeFileSync(join(folder, 'key'), 'abc\n')
    assert.equal(resolveApiKey(provider('api_key_file: key'), undefined, {}), 'abc')
    assert.equal(provider('api_key_file: ~/key', { HOME: '/home/me' }).api_key_file, '/home/me/key')
    assert.equal(resolveApiKey(provider('stream: true'), noFile, {}), undefined)
    assert.equal(resolveApiKey(provider('api_key: "${K:-}"'), noFile, {}), undefined)
  })

  test('a missing API key is an error only when it is used', () => {
    const lacking = provider('api_key_env: NO_SUCH')
    assert.throws(() => resolveApiKey(lacking, noFile, {}), /variable NO_SUCH is empty or not set; .*api_key_env/)
    assert.throws(() => resolveApiKey(lacking, noFile, { NO_SUCH: ' ' }), { code: 'config_invalid' })
    assert.throws(
      () => resolveApiKey(provider('api_key_file: none'), undefined, {}),
      /none: cannot be read \(ENOENT\); .*api_key_file/,
    )
    assert.throws(() => resolveApiKey(provider('api_key_file: key'), () => '\n', {}), /key: the file is empty/)
  })

  test('an API key written in place of the variable’s name is not quoted', () => {
    const mistaken = provider('api_key_env: hunter2secret')
    assert.throws(
      () => resolveApiKey(mistaken, noFile, {}),
      (error: unknown) => error instanceof TirelessError && !error.message.includes('hunter2'),
    )
  })
})

describe('the secret of a webhook', () => {
  const webhook = (its: string) => {
    const { webhook } = configOf(`channels: { webhook: { url: "http://x", ${its} } }`).channels
    assert.ok(webhook)
    return webhook
  }

  test('E12: comes from the configuration, a variable or a file; if missing, the error says where', () => {
    writeFileSync(join(folder, 'hook.txt'), 'from a file\n')
    assert.equal(resolveSecret(webhook('secret: plain'), 'channels.webhook'), 'plain')
    assert.equal(
      resolveSecret(webhook('secret_env: HOOK'), 'channels.webhook', undefined, { HOOK: 'from outside' }),
      'from outside',
    )
    assert.equal(resolveSecret(webhook('secret_file: hook.txt'), 'channels.webhook'), 'from a file')
    assert.throws(
      () => resolveSecret(webhook('secret_env: HOOK'), 'channels.webhook', undefined, {}),
      /variable HOOK is empty or not set; expected the shared secret in it; do this: .*webhook\.secret_env/,
    )
    assert.throws(
      () => resolveSecret(webhook('secret_file: none'), 'channels.webhook'),
      /none: cannot be read \(ENOENT\)/,
    )
  })

  test('case 136: is among the texts to redact', () => {
    writeFileSync(join(folder, 'hook.txt'), 'from a file\n')
    const loaded = load('channels: { webhook: { url: "https://example.com/u/abc", secret_file: hook.txt } }')
    const secrets = secretsInConfig(loaded).map(({ value }) => value)
    for (const text of ['from a file', 'https://example.com/u/abc']) assert.ok(secrets.includes(text), text)
  })
})

test('E15: of the address of a database, the password is redacted; the user is an ordinary word', () => {
  const secretsOf = (yaml: string) => secretsInConfig(load(yaml)).map(({ value }) => value)
  assert.deepEqual(secretsOf('store: postgres://tireless:change-me@db.example.org/tireless'), ['change-me'])
  assert.deepEqual(secretsOf('store: postgresql://tireless@db.example.org/tireless'), [])
})

describe('the keys of Lark', () => {
  const ID = 'app_id: cli_a1b2c3d4e5f60718'
  for (const [what, yaml, message] of [
    ['no App ID', 'app_id: 7, app_secret: x', /channels\.lark\.app_id .*the App ID of the developer console/],
    ['no secret', ID, /channels\.lark .*exactly one of app_secret, app_secret_env, app_secret_file/],
    ['two secrets', `${ID}, app_secret: x, app_secret_env: Y`, /exactly one of app_secret/],
    ['a webhook without proof', `${ID}, app_secret: x, mode: webhook`, /channels\.lark\.encrypt_key_env is missing/],
    ['plain http', `${ID}, app_secret: x, domain: "http://lark.example.com"`, /channels\.lark\.domain .*https address/],
    ['an address with a path', `${ID}, app_secret: x, domain: "https://x.example.com/y"`, /channels\.lark\.domain/],
  ] as const)
    test(`E12: ${what} is refused with what is expected`, () => {
      assert.match(errorMessageOf(`channels: { lark: { ${yaml} } }`), message)
    })

  test('E12: the two platforms, and addresses, are known by name', () => {
    const domainOf = (domain: string) =>
      configOf(`channels: { lark: { ${ID}, app_secret: x, domain: "${domain}" } }`).channels.lark?.domain
    assert.equal(domainOf('feishu'), 'https://open.feishu.cn')
    assert.equal(domainOf('lark'), 'https://open.larksuite.com')
    assert.equal(domainOf('https://lark.example.com/'), 'https://lark.example.com')
    assert.equal(domainOf('http://127.0.0.1:8080'), 'http://127.0.0.1:8080')
  })

  test('case 136: its secrets are redacted; its other values are not', () => {
    writeFileSync(join(folder, 'lark.txt'), 'the app secret\n')
    const keys = `${ID}, app_secret_file: lark.txt, encrypt_key: the-encrypt-key, verification_token: the-token`
    const values = secretsInConfig(load(`channels: { lark: { ${keys}, chat_id: oc_home } }`)).map(({ value }) => value)
    for (const secret of ['the app secret', 'the-encrypt-key', 'the-token']) assert.ok(values.includes(secret), secret)
    for (const open of ['connection', 'cli_a1b2c3d4e5f60718', 'https://open.feishu.cn', 'oc_home'])
      assert.ok(!values.includes(open), open)
  })
})

describe('unused keys and sources', () => {
  test('keys without effect are listed, of an unused branch only its top', () => {
    const later = ['channels.slack', 'channels.telegram']
    assert.deepEqual(load(DOCUMENTED).unused, later)
    assert.deepEqual(load('channels: { slack: { a: 1 } }\nstore: postgres://db/x\nkernel: { id: k }').unused, [
      'channels.slack',
    ])
  })

  test('the table of used keys covers lists', () => {
    const data = { kernel: { id: 'k', agents: [{ agent_id: 'a', prompt: 'p' }] } }
    assert.deepEqual(findUnusedKeys(data, { 'kernel.agents.*.agent_id': 'any' }), [
      'kernel.id',
      'kernel.agents[0].prompt',
    ])
  })

  test('the table of used keys names only keys of the schema', () => {
    const known = schemaLevels().flatMap(({ path, keys }) => keys.map((key) => [...path, key].join('.')))
    assert.deepEqual(
      Object.keys(USED_KEYS).filter((path) => !known.includes(path)),
      [],
    )
  })

  test('every value’s source is known', () => {
    const text = 'kernel:\n  id: k\n  agents:\n    - agent_id: a\n      prompt: do ${IT}\n      metadata: { x: [1] }\n'
    const { sources } = load(text, { IT: 'this' })
    assert.equal(sources['kernel.id'], `${file}:2`)
    assert.equal(sources['kernel.agents[0].agent_id'], `${file}:4`)
    assert.equal(sources['kernel.agents[0].prompt'], 'env:IT')
    assert.equal(sources['kernel.agents[0].metadata.x[0]'], `${file}:6`)
    assert.equal(sources['kernel.agents[0].priority'], 'default')
    assert.equal(sources['models.timeout'], 'default')
  })

  test('the JSON Schema has every key with its default, or the key it comes from', () => {
    const without = optionals(jsonSchema() as Schema, '').filter(
      ([, { default: fallback, description }]) => fallback === undefined && !description?.includes('default: '),
    )
    const secrets = '(api_key|secret|app_secret|encrypt_key|verification_token)(_env|_file)?'
    const others = 'every|at|base_url|command|url|lark|slack|telegram|webhook|path|package'
    const choices = new RegExp(`\\.(${secrets}|${others})$`)
    assert.deepEqual(
      without.map(([path]) => path).filter((path) => !choices.test(path)),
      [],
    )
    assert.match(JSON.stringify(jsonSchema()), /"max_concurrent":\{"default":3,"type":"integer"/)
  })
})

interface Schema {
  readonly default?: Json
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
}

function optionals(schema: Schema, path: string): readonly [string, Schema][] {
  const { properties = {}, required = [], items, additionalProperties, anyOf = [] } = schema
  const children = [items, additionalProperties, ...anyOf].filter((child) => typeof child === 'object')
  return [
    ...Object.entries(properties)
      .filter(([name]) => !required.includes(name))
      .map(([name, child]): [string, Schema] => [`${path}.${name}`, child]),
    ...Object.entries(properties).flatMap(([name, child]) => optionals(child, `${path}.${name}`)),
    ...children.flatMap((child) => optionals(child, `${path}.*`)),
  ]
}
