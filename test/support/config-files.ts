// biome-ignore-all lint/suspicious/noTemplateCurlyInString: "${NAME}" is what is tested here

/** Loads configurations from texts; example files. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { EnvVariables } from '../../src/config/expand-env.ts'
import { loadConfig } from '../../src/config.ts'
import { TirelessError } from '../../src/domain/error.ts'
import type { Json } from '../../src/domain/json.ts'

/** A folder that is removed when the tests have ended. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tireless-config-'))
  after(() => rmSync(folder, { recursive: true }))
  return folder
}

export const folder = temporaryFolder()

export const file = join(folder, 'tireless.yaml')

export function load(text: string | Uint8Array, env: EnvVariables = {}) {
  writeFileSync(file, text)
  return loadConfig({ file, env })
}

export const configOf = (text: string, env?: EnvVariables) => load(text, env).config

/** The message of the error that a bad file throws, without the path of the file. */
export function errorMessageOf(text: string | Uint8Array, env: EnvVariables = {}): string {
  try {
    load(text, env)
  } catch (error) {
    assert.ok(error instanceof TirelessError, String(error))
    assert.equal(error.code, 'config_invalid')
    return error.message.replaceAll(`${file}:`, 'FILE:').replaceAll(file, 'FILE')
  }
  return assert.fail(`was accepted:\n${text}`)
}

export const DOCUMENTED = `
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
channels: { lark: { app_id: cli_a1b2c3d4e5f60718, app_secret_env: LARK_APP_SECRET }, slack: {…}, telegram: {…},
  webhook: { url: "https://example.com/hook", secret_env: HOOK_SECRET } }
policy: { allow_hosts: [], unattended: park }
server: { host: 127.0.0.1, port: 7717 }
`

/** A valid value for every mapping of the schema. */
export const FULL = {
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
        description: 'd',
        platform: 'linux',
        prompt: 'p',
        priority: -1,
        enabled: false,
        metadata: { team: 'x', nested: { deep: [1, true, null] } },
        schedule: '@hourly',
        timeout: null,
        cooldown: '1h',
        watch: ['README.md', { http: 'https://example.com' }],
        only_on_change: true,
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
      goals: ['g', { goal: 'h', every: '1h', until: '2027-01-01T00:00:00Z' }],
      slots: { city: 'where' },
      stm: 5,
      max_queries: null,
      persist_thought: false,
      forget_after: '30d',
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
  workspaces: { shared: ['/srv/shared'], grace: '20m' },
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
    lark: {
      app_id: 'cli_a1b2c3d4e5f60718',
      app_secret_file: 'lark.txt',
      domain: 'lark',
      mode: 'webhook',
      encrypt_key: 'e',
      verification_token: 'v',
      chat_id: 'oc_1',
    },
    webhook: { url: 'https://example.com/hook', secret_file: 'hook.txt', chat_id: 'c' },
  },
  policy: {
    allow_hosts: ['*.example.com'],
    unattended: 'deny',
    grants: [{ tool: 'send_message', to: ['general'], agent: 'a' }],
  },
  server: { host: '0.0.0.0', port: 0 },
  sources: {
    inbox: {
      type: 'files',
      paths: ['inbox'],
      ignore: ['*.tmp'],
      settle: '1s',
      poll: '5s',
      max_files: 100,
      trusted: false,
    },
    hook: { type: 'webhook', secret_env: 'HOOK', event: 'push', max_bytes: 1000, private: true },
    live: { type: 'websocket', secret: 'x', origins: ['https://desk.example.com'], max_per_second: 5 },
    terminal: { type: 'lines', terminal: true },
    clock: { type: 'timer', every: '5m', timezone: 'UTC', event: 'tick' },
    tail: { type: 'process', command: ['tail', '-F', 'x'], output: 'events', restart: 'always', sandbox: 'off' },
    page: { type: 'mcp_resource', server: 'm', uri: 'file:///x', poll: '30s', max_chars: 100 },
    news: { type: 'webhook', secret_file: 'news.txt' },
    nine: { type: 'timer', cron: '0 9 * * *' },
    once: { type: 'timer', at: '2027-01-31T09:00:00Z' },
    theirs: { type: 'process', pid: 4242 },
    job: {
      ...{ type: 'process', command: ['job'], env: { A: 'b' }, cwd: '/srv/job' },
      ...{ network: ['packages.example.org'], folders: ['/srv/data'], reads: ['/srv/library'] },
    },
    boot: { type: 'startup' },
  },
  plugins: ['./mine.ts', { package: 'other', trust: 'sandboxed', options: { city: 'Bern' } }, { path: 'p' }],
  sandbox: 'off',
  sandbox_image: 'debian:12',
  coding_agents: {
    coder: { command: ['coder'], usd: 2, hosts: ['api.example.com'], env: { A: 'b' }, timeout: '5m' },
  },
  search: { provider: 'tavily', url: 'https://search.example', api_key: 'secret:SEARCH' },
  limits: { processes: 100, memory_mb: 512, free_disk_mb: 10 },
  retention: { days: 7 },
}

export function nest(path: readonly string[], value: Json): Json {
  return path.reduceRight<Json>((inner, step) => ({ [step]: inner }), value)
}
