// biome-ignore-all lint/suspicious/noTemplateCurlyInString: "${NAME}" is what is tested here

/** Configuration files that are accepted: values, durations, limits, variables. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stringify } from 'yaml'
import { configOf, DOCUMENTED, errorMessageOf, FULL, folder, load, nest } from '../test/support/config-files.ts'
import type { EnvVariables } from './config/expand-env.ts'
import { schemaLevels } from './config/explain-problems.ts'
import { defaultHome, loadConfig } from './config.ts'
import type { Json } from './domain/json.ts'

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

describe('accepted files', () => {
  test('E1, E4: the example of the specification loads unchanged, with its placeholders', () => {
    const [agent] = configOf(SEED).kernel.agents
    assert.equal(agent?.agent_id, 'daily-report')
    assert.equal(agent.prompt, '当前系统状态:\n{STATE}\n\n请根据上述状态生成今日工作简报。\n')
    assert.deepEqual(
      { priority: agent.priority, enabled: agent.enabled, metadata: agent.metadata },
      { priority: 10, enabled: true, metadata: {} },
    )
  })

  test('the documented example loads', () => {
    const config = configOf(DOCUMENTED)
    assert.equal(config.kernel.planner.mode, 'hybrid')
    assert.equal(config.residents[0]?.stm, 20)
    assert.deepEqual(config.mcp_servers.mail?.effects.send_mail, { recovery: 'once', reach: 'third_party' })
    assert.deepEqual(config.channels.lark, {
      ...{ app_id: 'cli_a1b2c3d4e5f60718', app_secret_env: 'LARK_APP_SECRET', chat_id: null },
      ...{ domain: 'https://open.feishu.cn', mode: 'connection' },
    })
    assert.deepEqual(config.channels.slack, { '…': null })
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

  test('a file without keys has the documented defaults', () => {
    const { kernel, models, budget, store, policy, server, sandbox } = loadConfig({ env: {} }).config
    assert.deepEqual(
      { id: kernel.id, schedule: kernel.schedule, max_concurrent: kernel.max_concurrent },
      { id: 'default', schedule: '*/10 * * * *', max_concurrent: 3 },
    )
    assert.deepEqual(
      { mode: kernel.planner.mode, missed: kernel.missed, overrun: kernel.overrun },
      { mode: 'static', missed: 'once', overrun: 'skip' },
    )
    assert.equal(kernel.max_cycle_history, 5)
    assert.match(kernel.seed_state, /^# Kernel State\n## identity\n[\s\S]*## recent_actions\n\(none yet\)\n$/)
    assert.equal(models.timeout, 120_000)
    assert.deepEqual(
      {
        per_day_usd: budget.per_day_usd,
        per_dispatch_calls: budget.per_dispatch_calls,
        per_dispatch_minutes: budget.per_dispatch_minutes,
      },
      { per_day_usd: 5, per_dispatch_calls: 40, per_dispatch_minutes: 30 },
    )
    assert.deepEqual({ store, sandbox }, { store: 'sqlite', sandbox: 'auto' })
    assert.deepEqual(policy, { allow_hosts: [], unattended: 'park', grants: [] })
    assert.deepEqual(server, { host: '127.0.0.1', port: 7717 })
  })

  test('anchors and aliases work; circular aliases and alias bombs are refused', () => {
    const config = configOf('models:\n  providers:\n    a: &p { type: openai }\n    b: *p\n')
    assert.equal(config.models.providers.b?.type, 'openai')
    assert.match(errorMessageOf('channels: &c { slack: { self: *c } }\n'), /undefined, circular or too large/)
    const avalanche = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
    for (let i = 1; i < 12; i += 1) avalanche.push(`a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]`)
    assert.match(
      errorMessageOf(`channels:\n  slack:\n${avalanche.map((line) => `    ${line}\n`).join('')}`),
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
      agents.map(({ agent_id, enabled, prompt: text }) => ({ agent_id, enabled, text })),
      [{ agent_id: 'a', enabled: true, text: value }],
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
    assert.deepEqual(
      { port: server.port, enabled: kernel.enabled, missed: kernel.missed, jitter: kernel.jitter },
      { port: 80, enabled: false, missed: { all: 4 }, jitter: 4_000 },
    )
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

function hasPath(data: Json, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true
  if (typeof data !== 'object' || data === null) return false
  if (step === '*') return Object.values(data).some((child) => hasPath(child, rest))
  const child = (data as Record<string, Json>)[step]
  return child !== undefined && hasPath(child, rest)
}
