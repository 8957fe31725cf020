// biome-ignore-all lint/suspicious/noTemplateCurlyInString: "${NAME}" is what is tested here
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import type { EnvVariables } from './config/expand-env.ts'
import { schemaLevels } from './config/explain-problems.ts'
import { findUnusedKeys, USED_KEYS } from './config/unused-keys.ts'
import { defaultHome, jsonSchema, loadConfig, resolveApiKey, resolveWebhookSecret, secretsInConfig } from './config.ts'
import { TirelessError } from './domain/error.ts'
import type { Json } from './domain/json.ts'

const folder = mkdtempSync(join(tmpdir(), 'tireless-config-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'tireless.yaml')

function load(text: string | Uint8Array, env: EnvVariables = {}) {
  writeFileSync(file, text)
  return loadConfig({ file, env })
}

const configOf = (text: string, env?: EnvVariables) => load(text, env).config

/** The message of the error that a bad file throws, without the path of the file. */
function errorMessageOf(text: string | Uint8Array, env: EnvVariables = {}): string {
  try {
    load(text, env)
  } catch (error) {
    assert.ok(error instanceof TirelessError, String(error))
    assert.equal(error.code, 'config_invalid')
    return error.message.replaceAll(`${file}:`, 'FILE:').replaceAll(file, 'FILE')
  }
  return assert.fail(`was accepted:\n${text}`)
}

const SEED = `
kernel:
  agents:
    - agent_id: "daily-report"
      prompt: |
        当前系统状态:
        {STATE}

        请根据上述状态生成今日工作简报。
      priority: 10
      enabled: true
`

const DOCUMENTED = `
kernel:
  id: default
  schedule: "*/10 * * * *"        # cron | { every: 30s } | "@hourly" ; timezone: Asia/Shanghai
  planner: { mode: hybrid }       # static | llm | hybrid
  max_concurrent: 3
  agents:
    - agent_id: daily-report
      prompt: |
        当前系统状态:
        {STATE}
        请根据上述状态生成今日工作简报。
      priority: 10
      enabled: true
residents:                        # Kairo-style agents
  - agent_id: watcher
    hz: 1
models:
  default: anthropic/<model>      # provider/model ; fallback: [..] ; planner: cheap one
  providers:
    local: { type: openai-compatible, base_url: "http://127.0.0.1:11434/v1", api_key_file: … }
    claude: { type: anthropic, base_url: "https://api.anthropic.com", api_key_env: ANTHROPIC_API_KEY }
  prices: { "local/*": { input: 0, output: 0 } }   # USD per million tokens; max_output: tokens
budget: { per_day_usd: 5, per_dispatch_calls: 40, per_dispatch_minutes: 30 }
store: sqlite                     # or postgres://… for several machines
mcp_servers:
  mail: { command: [node, server.js], effects: { send_mail: { recovery: once, reach: third_party },
    search: { recovery: pure, reach: private } } }
channels: { lark: {…}, slack: {…}, telegram: {…},
  webhook: { url: "https://example.com/hook", secret_env: HOOK_SECRET } }
policy: { allow_hosts: [], unattended: park }
server: { host: 127.0.0.1, port: 7717 }
`

/** A valid value for every mapping of the schema. */
const FULL = {
  kernel: {
    id: 'k1',
    enabled: false,
    schedule: { every: '30s' },
    timezone: 'Asia/Shanghai',
    jitter: '5s',
    overrun: 'catch_up',
    missed: { all: 7 },
    planner: { mode: 'llm', model: 'local/small', max_dispatches: 2, timeout: '20s' },
    max_concurrent: 8,
    timeout: '10m',
    lease: '1m',
    max_attempts: 2,
    stop_timeout: '45s',
    max_cycle_history: 9,
    seed_state: '# mine',
    user_id: 'u',
    channel: 'lark',
    chat_id: 'oc_1',
    quiet_hours: '22:00-07:00',
    digest: { at: '2026-01-31T09:00:00+08:00' },
    ping_url: 'https://ping.example.com/x',
    agents: [
      {
        agent_id: 'a',
        prompt: 'p',
        priority: -1,
        enabled: false,
        metadata: { team: 'x', nested: { deep: [1, true, null] } },
        schedule: '@hourly',
        timeout: null,
        cooldown: '1h',
        watch: ['README.md', { http: 'https://example.com' }],
        model: 'local/big',
        tools: ['bash'],
        workspace: 'workspaces/w',
      },
    ],
  },
  residents: [
    {
      agent_id: 'r',
      hz: 0.1,
      overrun: 'skip',
      goals: ['g'],
      slots: { city: 'where' },
      stm: 5,
      max_queries: null,
      persist_thought: false,
      sources: ['inbox'],
    },
  ],
  models: {
    default: 'local/big',
    fallback: ['local/small'],
    planner: 'local/small',
    timeout: '90s',
    providers: {
      local: {
        type: 'openai-compatible',
        base_url: 'http://127.0.0.1:1/v1',
        api_key: 'k',
        headers: { 'X-A': 'b' },
        stream: false,
        timeout: '5s',
      },
    },
    prices: { 'local/*': { input: 0, output: 0, cached: 0, cache_write: 0, max_output: 100 } },
    max_output: 4096,
    max_input: 9000,
  },
  budget: { per_day_usd: null, per_dispatch_minutes: 1.5 },
  store: 'postgres://u:p@db/tireless',
  mcp_servers: {
    m: {
      url: 'https://mcp.example.com',
      cwd: '/srv/mcp',
      timeout: '5s',
      start_timeout: '10s',
      trust: 'trusted',
      env: { A: 'b' },
      headers: {},
      sandbox: 'off',
      network: ['packages.example.org'],
      folders: ['/srv/data'],
      reads: ['/srv/library'],
      read_only: { recovery: 'pure', reach: 'private', destinations: [], gives: 'trusted', private: false },
      effects: { t: { recovery: 'once', reach: 'self', destinations: ['to'], gives: 'untrusted', private: true } },
    },
  },
  channels: {
    lark: { app_id: 'x' },
    webhook: { url: 'https://example.com/hook', secret_file: 'hook.txt', chat_id: 'c' },
  },
  policy: {
    allow_hosts: ['*.example.com'],
    unattended: 'deny',
    grants: [{ tool: 'send_message', to: ['general'], agent: 'a' }],
  },
  server: { host: '0.0.0.0', port: 0 },
  sources: { inbox: { kind: 'files' } },
  plugins: ['./mine.ts', { name: 'other' }],
  sandbox: 'off',
  sandbox_image: 'debian:12',
  limits: { processes: 100, memory_mb: 512, free_disk_mb: 10 },
  retention: { days: 7 },
}

describe('accepted files', () => {
  test('E1, E4: the example of the specification loads unchanged, with its placeholders', () => {
    const [agent] = configOf(SEED).kernel.agents
    assert.equal(agent?.agent_id, 'daily-report')
    assert.equal(agent.prompt, '当前系统状态:\n{STATE}\n\n请根据上述状态生成今日工作简报。\n')
    assert.deepEqual([agent.priority, agent.enabled, agent.metadata], [10, true, {}])
  })

  test('the documented example loads', () => {
    const config = configOf(DOCUMENTED)
    assert.equal(config.kernel.planner.mode, 'hybrid')
    assert.equal(config.residents[0]?.stm, 20)
    assert.deepEqual(config.mcp_servers.mail?.effects.send_mail, { recovery: 'once', reach: 'third_party' })
    assert.deepEqual(config.channels.lark, { '…': null })
    assert.equal(config.models.providers.local?.api_key_file, join(folder, '…'))
  })

  test('every documented key is accepted, with a value other than its default', () => {
    const { config } = load(stringify(FULL))
    assert.deepEqual(config.kernel.missed, { all: 7 })
    assert.deepEqual(config.kernel.schedule, { every: 30_000 })
    assert.equal(config.kernel.agents[0]?.timeout, null)
    assert.equal(config.residents[0]?.max_queries, null)
    assert.deepEqual(config.policy.grants, [{ tool: 'send_message', to: ['general'], agent: 'a' }])
    const documented = new Set(schemaLevels().flatMap(({ path, keys }) => keys.map((key) => [...path, key].join('.'))))
    const missing = [...documented].filter((path) => !hasPath(FULL, path.split('.')))
    const otherChoice =
      /^(budget\.|channels\.|.*\.(api_key_env|api_key_file|command)$|.*(schedule|digest)\.(every|at)$)/
    assert.deepEqual(
      missing.filter((path) => !otherChoice.test(path)),
      [],
    )
  })

  test('without a file, with an empty one or one of comments, the defaults apply', () => {
    const { config, file: read, unused, sources } = loadConfig({ file: join(folder, 'none.yaml'), env: {} })
    assert.equal(read, null)
    assert.deepEqual(unused, [])
    assert.ok(Object.values(sources).every((source) => source === 'default'))
    assert.deepEqual(configOf(''), config)
    assert.deepEqual(configOf('# nothing\n'), config)
    assert.deepEqual(loadConfig({ env: {} }).config, config)
  })

  test('the documented defaults', () => {
    const { kernel, models, budget, store, policy, server, sandbox } = loadConfig({ env: {} }).config
    assert.deepEqual([kernel.id, kernel.schedule, kernel.max_concurrent], ['default', '*/10 * * * *', 3])
    assert.deepEqual([kernel.planner.mode, kernel.missed, kernel.overrun], ['static', 'once', 'skip'])
    assert.equal(kernel.max_cycle_history, 5)
    assert.match(kernel.seed_state, /^# Kernel State\n## identity\n[\s\S]*## recent_actions\n\(none yet\)\n$/)
    assert.equal(models.timeout, 120_000)
    assert.deepEqual([budget.per_day_usd, budget.per_dispatch_calls, budget.per_dispatch_minutes], [5, 40, 30])
    assert.deepEqual([store, sandbox], ['sqlite', 'auto'])
    assert.deepEqual(policy, { allow_hosts: [], unattended: 'park', grants: [] })
    assert.deepEqual(server, { host: '127.0.0.1', port: 7717 })
  })

  test('anchors and aliases work; circular aliases and alias bombs are refused', () => {
    const config = configOf('models:\n  providers:\n    a: &p { type: openai }\n    b: *p\n')
    assert.equal(config.models.providers.b?.type, 'openai')
    assert.match(errorMessageOf('channels: &c { lark: { self: *c } }\n'), /undefined, circular or too large/)
    const avalanche = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
    for (let i = 1; i < 12; i += 1) avalanche.push(`a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]`)
    assert.match(
      errorMessageOf(`channels:\n  lark:\n${avalanche.map((line) => `    ${line}\n`).join('')}`),
      /too large/,
    )
  })

  test('the result is frozen at every depth', () => {
    const { config, sources } = load(DOCUMENTED)
    const thawed: string[] = []
    const visit = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return
      if (!Object.isFrozen(value)) thawed.push(path)
      for (const [key, child] of Object.entries(value)) visit(child, `${path}.${key}`)
    }
    visit(config, 'config')
    visit(sources, 'sources')
    assert.deepEqual(thawed, [])
  })
})

describe('durations and limits', () => {
  const timeouts: readonly [string, number | null | undefined][] = [
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5h', 5_400_000],
    ['45', 45_000],
    ['0.25', 250],
    ['"45"', 45_000],
    ['null', null],
  ]
  for (const [written, ms] of timeouts)
    test(`a timeout of ${written} is ${ms} ms`, () => {
      assert.equal(configOf(`kernel: { timeout: ${written} }`).kernel.timeout, ms)
    })

  for (const written of [
    '0',
    '0s',
    '-5',
    '-5s',
    'soon',
    '5 minutes',
    '1h30m',
    'true',
    '[]',
    '.inf',
    '.nan',
    '9e99d',
    '""',
  ])
    test(`a timeout of ${written} is refused`, () => {
      assert.match(errorMessageOf(`kernel: { timeout: ${written} }`), /^FILE:1:\d+: kernel\.timeout/)
    })

  test('null means unlimited; 0 is refused, and the message suggests null', () => {
    assert.equal(configOf('budget: { per_dispatch_calls: null }').budget.per_dispatch_calls, null)
    assert.equal(
      errorMessageOf('budget:\n  per_dispatch_calls: 0\n'),
      'FILE:2:3: budget.per_dispatch_calls is not valid; got 0; expected a whole number above 0, or null for no limit' +
        '; do this: write null if you want no limit',
    )
    for (const key of ['budget.per_day_usd', 'budget.per_dispatch_minutes', 'kernel.max_attempts', 'kernel.timeout'])
      assert.match(errorMessageOf(stringify(nest(key.split('.'), 0))), /write null if you want no limit/)
  })

  test('required limits refuse null', () => {
    assert.match(
      errorMessageOf('kernel: { max_concurrent: null }'),
      /expected a whole number above 0; do this: fill it in/,
    )
  })

  test('pauses may be 0', () => {
    assert.equal(configOf('kernel: { jitter: 0 }').kernel.jitter, 0)
  })
})

describe('environment', () => {
  const prompt = (text: string, env: EnvVariables) =>
    configOf(`kernel: { agents: [{ agent_id: a, prompt: ${JSON.stringify(text)} }] }`, env).kernel.agents[0]?.prompt

  test('E4: a variable, a default, an escape, several in one text', () => {
    assert.equal(prompt('hello ${WHO}!', { WHO: 'world' }), 'hello world!')
    assert.equal(prompt('${A}${B:-b}${C:-}', { A: 'a' }), 'ab')
    assert.equal(prompt('${A:-b c}', { A: '' }), 'b c')
    assert.equal(prompt('x${A}', { A: '' }), 'x')
    assert.equal(prompt('$${A} costs $5 or $$5', { A: 'a' }), '${A} costs $5 or $$5')
    assert.equal(prompt('{STATE}', { STATE: 'a' }), '{STATE}')
  })

  test('a value is never expanded again, and never becomes structure', () => {
    assert.equal(prompt('${A}', { A: '${B}', B: 'b' }), '${B}')
    const value = 'x\n      enabled: false\n    - agent_id: evil\n      prompt: "{}" # '
    const { agents } = configOf('kernel:\n  agents:\n    - agent_id: a\n      prompt: ${A}\n', { A: value }).kernel
    assert.deepEqual(
      agents.map(({ agent_id, enabled, prompt: text }) => [agent_id, enabled, text]),
      [['a', true, value]],
    )
    assert.equal(configOf('kernel: { user_id: "${A}" }', { A: '{ a: b }' }).kernel.user_id, '{ a: b }')
    assert.equal(configOf('kernel: { user_id: "${A}" }', { A: 'null' }).kernel.user_id, 'null')
    assert.equal(configOf('kernel: { user_id: "${A}" }', { A: '12' }).kernel.user_id, '12')
  })

  test('where a number or a boolean is expected, the text of a variable is converted', () => {
    const env = { PORT: '80', ON: 'false', N: '4' }
    const text =
      'server: { port: "${PORT}" }\n' +
      'kernel: { enabled: "${ON}", missed: { all: "${N}" }, jitter: "${N}", lease: "${L:-9}" }\n'
    const { server, kernel } = configOf(text, env)
    assert.deepEqual([server.port, kernel.enabled, kernel.missed, kernel.jitter], [80, false, { all: 4 }, 4_000])
    assert.equal(kernel.lease, 9_000)
    assert.equal(configOf('server: { port: "${P:-81}" }').server.port, 81)
    assert.match(
      errorMessageOf('server:\n  port: ${PORT}\n', { PORT: 'http' }),
      /got a value from PORT; expected a port/,
    )
    assert.match(errorMessageOf('server: { port: "80" }'), /do this: remove the quotes/)
  })

  test('a missing variable names file, line, key and variable, once', () => {
    assert.equal(
      errorMessageOf('models:\n  providers:\n    p:\n      type: openai\n      base_url: ${NO_SUCH}\n'),
      'FILE:5:17: models.providers.p.base_url: the environment variable NO_SUCH is not set; ' +
        'do this: set NO_SUCH, or write ${NO_SUCH:-default}',
    )
    assert.match(errorMessageOf('kernel: { user_id: "${toString}" }'), /toString is not set/)
  })

  test('the home is TIRELESS_HOME, else .tireless in the user’s home folder', () => {
    assert.equal(defaultHome({ TIRELESS_HOME: '/srv/t', HOME: '/home/me' }), '/srv/t')
    assert.equal(defaultHome({ TIRELESS_HOME: '', HOME: '/home/me' }), '/home/me/.tireless')
  })

  test('a ${ that is no reference is refused', () => {
    for (const text of ['${', '${A', '${}', '${1A}', '${A-b}', '${a.b}', '${A:-${B}}'])
      assert.match(
        errorMessageOf(stringify({ kernel: { user_id: text } }), { A: 'a', B: 'b' }),
        /kernel\.user_id: a \$\{ that/,
      )
  })
})

describe('refused files', () => {
  test('case 78: an unknown key names file, line, key path and the nearest valid key', () => {
    assert.equal(
      errorMessageOf('kernel:\n  id: x\n  max_concurent: 3\n'),
      'FILE:3:3: kernel.max_concurent is not a known key; do this: rename it to max_concurrent',
    )
    assert.match(errorMessageOf('kernal: {}\n'), /^FILE:1:1: kernal is not a known key; do this: rename it to kernel$/)
    assert.match(errorMessageOf('models: { providers: { p: { type: openai, base-url: x } } }'), /rename it to base_url/)
    assert.match(
      errorMessageOf('kernel: { agents: [{ agent_id: a, prompt: p, promt: q }] }'),
      /agents\[0\]\.promt .* to prompt$/,
    )
    assert.match(errorMessageOf('kernel: { schedule: { evry: 5s, at: "2026-01-31T09:00:00Z" } }'), /evry .* to every$/)
  })

  test('an unknown key gets the list of keys and the nearest one; a misplaced key gets its right place', () => {
    const far = errorMessageOf('qqqqqqqq: 1\n')
    assert.match(
      far,
      /expected one of kernel, residents, .*, retention; do this: remove it \(the nearest valid key is \w+\)$/,
    )
    assert.match(errorMessageOf('max_concurrent: 3\n'), /or move it under kernel/)
  })

  test('property: an unknown key in any mapping of the schema is refused and named', () => {
    const keys = fc.string({ unit: fc.constantFrom(...'abcxyz_-.QZ059'), minLength: 1, maxLength: 12 })
    for (const level of schemaLevels()) {
      const refused = fc.property(keys, fc.jsonValue({ maxDepth: 1 }), (key, value) => {
        fc.pre(!level.keys.includes(key))
        const message = errorMessageOf(stringify(insertKey(FULL, level.path, key, value as Json)))
        assert.ok(message.includes(/^[\w-]+$/.test(key) ? key : JSON.stringify(key)), message)
        assert.match(message, /is not a known key/)
        assert.ok(
          level.keys.some((known) => new RegExp(`(rename it to|nearest valid key is) ${known}\\b`).test(message)),
        )
      })
      fc.assert(refused, { numRuns: 6 })
    }
  })

  const wrong: readonly [string, RegExp][] = [
    ['kernel: 5', /^FILE:1:1: kernel is not valid; got 5; expected a mapping of keys to values/],
    ['kernel:\n', /^FILE:1:1: kernel is not valid; got nothing; .*do this: fill it in, or remove the line$/],
    ['- a\n', /^FILE:1:1: the file is not valid; got a list; expected a mapping/],
    ['kernel: { agents: {} }', /kernel\.agents is not valid; got a mapping; expected a list/],
    ['kernel: { enabled: "yes" }', /kernel\.enabled is not valid; got "yes"; expected true or false/],
    [
      'kernel: { user_id: 12 }',
      /kernel\.user_id is not valid; got 12; expected text; do this: put the value in quotes/,
    ],
    ['kernel: { max_concurrent: 2.5 }', /got 2\.5; expected a whole number above 0/],
    ['kernel: { planner: { mode: hybird } }', /expected one of static, llm, hybrid; do this: write hybrid/],
    ['kernel: { missed: al }', /got "al"; expected skip, once, all or \{all: n\}; do this: write all/],
    ['kernel: { missed: { all: 0 } }', /kernel\.missed\.all is not valid; got 0; expected a whole number above 0/],
    ['kernel: { schedule: "* * *" }', /kernel\.schedule is not valid; got "\* \* \*"; expected a schedule/],
    ['kernel: { schedule: "@fortnightly" }', /expected a schedule: a cron line/],
    ['kernel: { schedule: {} }', /kernel\.schedule is not valid; got a mapping; expected exactly one of every, at/],
    [
      'kernel: { schedule: { at: tomorrow } }',
      /kernel\.schedule\.at is not valid; got "tomorrow"; expected an instant/,
    ],
    ['kernel: { timezone: Mars/Base }', /got "Mars\/Base"; expected a time zone such as Asia\/Shanghai/],
    ['kernel: { quiet_hours: "25:00-07:00" }', /expected hours such as "22:00-07:00"/],
    ['channels: { webhook: { url: "ftp://x", secret: s } }', /webhook\.url is not valid.*begins with http/],
    ['channels: { webhook: { url: "http://x" } }', /expected exactly one of secret, secret_env, secret_file/],
    ['channels: { webhook: { url: "http://x", secret: s, chat: c } }', /webhook\.chat is not a known key/],
    [
      'residents: [{ agent_id: r, hz: 20 }]',
      /residents\[0\]\.hz is not valid; got 20; expected a number from 0\.1 to 10/,
    ],
    ['residents: [{ hz: 1 }]', /residents\[0\]\.agent_id is missing; expected a name .*do this: add agent_id here/],
    ['kernel: { agents: [{ agent_id: a, prompt: " " }] }', /expected text that is not empty/],
    [
      'models: { providers: { p: {} } }',
      /models\.providers\.p\.type is missing; expected one of openai-compatible, openai/,
    ],
    ['models: { providers: { p: { type: openai-compatible } } }', /base_url is missing; expected an address such as/],
    [
      'models: { providers: { p: { type: openai, api_key: a, api_key_env: B } } }',
      /at most one of api_key, api_key_env/,
    ],
    [
      'models: { prices: { "a/*": { input: -1, output: 0 } } }',
      /models\.prices\["a\/\*"\]\.input is not valid; got -1/,
    ],
    ['mcp_servers: { m: {} }', /mcp_servers\.m is not valid; got a mapping; expected exactly one of command, url/],
    ['mcp_servers: { m: { command: [] } }', /expected a command with its arguments/],
    [
      'mcp_servers: { m: { command: [x], effects: { t: { recovery: twice, reach: none } } } }',
      /one of pure, idempotent/,
    ],
    ['server: { port: 70000 }', /got 70000; expected a port from 0/],
    ['policy: { allow_hosts: ["https://x.y/z"] }', /expected a host such as api\.example\.com/],
    ['policy: { unattended: allow }', /got "allow"; expected one of park, deny; do this: choose one of them/],
    ['sandbox: none', /expected one of auto, required, off/],
    ['sandbox_image: --privileged', /expected the name of an image, such as debian:12/],
  ]
  for (const [text, message] of wrong)
    test(`refused: ${text.trim()}`, () => {
      assert.match(errorMessageOf(text), message)
    })

  for (const id of ['..', '.hidden', '-rf', 'a/b', 'a b', '名', '', 'x'.repeat(65), 'a\nb'])
    test(`ids are safe characters only, not ${JSON.stringify(id)}`, () => {
      const safe = /expected a name of 1 to 64 safe characters \(A-Z a-z 0-9 \. _ -\)/
      assert.match(errorMessageOf(stringify({ kernel: { id } })), safe)
      assert.match(errorMessageOf(stringify({ kernel: { agents: [{ agent_id: id, prompt: 'p' }] } })), safe)
      assert.match(errorMessageOf(stringify({ models: { providers: { [id]: { type: 'openai' } } } })), safe)
    })

  test('agent ids are unique within their list', () => {
    const twice = 'kernel:\n  agents:\n    - { agent_id: a, prompt: p }\n    - { agent_id: A, prompt: p }\n'
    assert.match(
      errorMessageOf(twice),
      /^FILE:4:9: kernel\.agents\[1\]\.agent_id is not valid; got "A"; .*differs from entry 1 of/,
    )
    assert.match(
      errorMessageOf('residents: [{ agent_id: r }, { agent_id: r }]'),
      /residents\[1\]\.agent_id is not valid/,
    )
    configOf('kernel: { agents: [{ agent_id: a, prompt: p }] }\nresidents: [{ agent_id: a }]')
  })

  test('all problems are reported at once, in the order of the file', () => {
    const message = errorMessageOf(
      [
        'kernel:',
        '  id: a/b',
        '  max_concurent: 3',
        '  id: twice',
        '  agents:',
        '    - { agent_id: x, prompt: 5, colour: red }',
        '    - { agent_id: x, prompt: p }',
        'models:',
        '  providers:',
        '    "bad name": { type: openai-compatible, tiemout: 5 }',
        '  default: ${MISSING}',
        'budget: { per_day_usd: 0 }',
      ].join('\n'),
    )
    const [head, ...problems] = message.split('\n  ')
    assert.equal(head, 'FILE: 11 problems')
    const lines = problems.map((problem) => Number(/^FILE:(\d+):/.exec(problem)?.[1]))
    assert.deepEqual(lines, [2, 3, 4, 6, 6, 7, 10, 10, 10, 11, 12])
  })

  test('a file that is required and absent, a folder, a file that is not text', () => {
    const missing = join(folder, 'absent.yaml')
    assert.throws(
      () => loadConfig({ file: missing, required: true, env: {} }),
      (error: unknown) => {
        assert.ok(error instanceof TirelessError && error.code === 'config_invalid')
        assert.equal(
          error.message,
          `${missing}: the file does not exist; do this: check the path, or run "tireless init" to create it`,
        )
        return true
      },
    )
    assert.throws(() => loadConfig({ file: folder, env: {} }), /cannot be read \(EISDIR\)/)
    assert.match(errorMessageOf(new Uint8Array([0x61, 0x3a, 0x20, 0xc4, 0xe3])), /the file is not UTF-8 text/)
  })
})

describe('YAML', () => {
  test('a duplicate key is refused with both lines', () => {
    assert.equal(
      errorMessageOf('kernel:\n  id: a\n  id: b\n'),
      'FILE:3:3: kernel.id: the key appears twice, first on line 2; do this: keep one of the two',
    )
  })

  const broken: readonly [string, RegExp][] = [
    ['kernel:\n\tid: a\n', /^FILE:2:1: a tab is used as indentation; do this: indent with spaces$/],
    ['kernel: { id: a\nstore: sqlite\n', /^FILE:2:1: the indentation does not fit, or a bracket is not closed/],
    ['kernel:\n  id: "a\n', /^FILE:\d:\d+: a closing quote/],
    ['kernel:\n  id: @a\n', /^FILE:2:7: a value begins with a character that YAML reserves/],
    ['kernel:\n  id: a: b\n', /^FILE:2:7: a mapping begins in the middle of a line/],
    ['kernel:\n  seed_state: "\\q"\n', /^FILE:2:\d+: a backslash inside double quotes/],
    ['kernel:\n  id: !vault x\n', /^FILE:2:7: a value begins with ! and is read as a YAML tag/],
    ['store: sqlite\n---\nstore: sqlite\n', /^FILE:2:1: a second document begins/],
    ['? [a]\n: b\n', /^FILE:1:3: a key is not plain text/],
    ['kernel: *nowhere\n', /^FILE:1:\d+: kernel: an alias that is undefined/],
    ['channels: { lark: { x: .inf } }\n', /channels\.lark\.x: neither text, a number/],
  ]
  for (const [text, message] of broken)
    test(`refused with line and column: ${JSON.stringify(text)}`, () => {
      assert.match(errorMessageOf(text), message)
    })

  test('several syntax errors give several lines', () => {
    assert.match(
      errorMessageOf('kernel:\n\tid: a\nstore: @x\n'),
      /^FILE: 2 problems\n {2}FILE:2:1: a tab.*\n {2}FILE:3:8: a value/,
    )
  })

  test('__proto__ is refused as a key, also in free mappings', () => {
    assert.match(
      errorMessageOf('channels: { lark: { __proto__: { a: 1 } } }'),
      /channels\.lark\.__proto__: a reserved word/,
    )
    assert.match(errorMessageOf('__proto__: { kernel: { id: x } }'), /a reserved word as a key/)
  })
})

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
    assert.equal(resolveWebhookSecret(webhook('secret: plain')), 'plain')
    assert.equal(resolveWebhookSecret(webhook('secret_env: HOOK'), undefined, { HOOK: 'from outside' }), 'from outside')
    assert.equal(resolveWebhookSecret(webhook('secret_file: hook.txt')), 'from a file')
    assert.throws(
      () => resolveWebhookSecret(webhook('secret_env: HOOK'), undefined, {}),
      /variable HOOK is empty or not set; expected the webhook's secret in it; do this: .*webhook\.secret_env/,
    )
    assert.throws(() => resolveWebhookSecret(webhook('secret_file: none')), /none: cannot be read \(ENOENT\)/)
  })

  test('case 136: is among the texts to redact', () => {
    writeFileSync(join(folder, 'hook.txt'), 'from a file\n')
    const loaded = load('channels: { webhook: { url: "https://example.com/u/abc", secret_file: hook.txt } }')
    const secrets = secretsInConfig(loaded).map(({ value }) => value)
    for (const text of ['from a file', 'https://example.com/u/abc']) assert.ok(secrets.includes(text), text)
  })
})

describe('unused keys and sources', () => {
  test('keys without effect are listed, of an unused branch only its top', () => {
    const later = ['residents', 'channels.lark', 'channels.slack', 'channels.telegram']
    assert.deepEqual(load(DOCUMENTED).unused, later)
    assert.deepEqual(load('store: postgres://db/x\nsandbox: off\nkernel: { id: k, max_concurrent: 2 }').unused, [
      'store',
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
    const choices = /\.(every|at|base_url|(api_key|secret)(_env|_file)?|command|url|lark|slack|telegram|webhook)$/
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

function hasPath(data: Json, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true
  if (typeof data !== 'object' || data === null) return false
  if (step === '*') return Object.values(data).some((child) => hasPath(child, rest))
  const child = (data as Record<string, Json>)[step]
  return child !== undefined && hasPath(child, rest)
}

function nest(path: readonly string[], value: Json): Json {
  return path.reduceRight<Json>((inner, step) => ({ [step]: inner }), value)
}

/** `data` with one more key in the first mapping at `path`. */
function insertKey(data: Json, path: readonly string[], key: string, value: Json): Json {
  const [step, ...rest] = path
  const mapping = typeof data === 'object' && data !== null ? (data as Record<string, Json>) : {}
  if (step === undefined) return { ...mapping, [key]: value }
  const name = step === '*' ? (Object.keys(mapping)[0] ?? assert.fail(path.join('.'))) : step
  const child = insertKey(mapping[name] ?? {}, rest, key, value)
  return Array.isArray(data) ? [child, ...data.slice(1)] : { ...mapping, [name]: child }
}
