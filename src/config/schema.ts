/**
 * The schema of tireless.yaml: every documented key with type and default. A default of `null` means not set (for a
 * limit: unlimited); a key without a default takes its value from the key that its description names. Defaults are
 * written as a user would write them (`prefault`: "30s"), and the JSON Schema shows them so.
 */

import { z } from 'zod'
import { REACHES, RECOVERIES } from '../domain/effect.ts'
import type { Json } from '../domain/json.ts'
import {
  anyMapping,
  atMostOne,
  countLimit,
  customIssue,
  daysLimit,
  exactlyOne,
  hostPattern,
  hoursRange,
  httpUrl,
  isMapping,
  minutesLimit,
  namedMapping,
  nonEmptyText,
  numberRange,
  pauseDuration,
  positiveCount,
  positiveDuration,
  safeName,
  scheduleValue,
  textWithoutSpaces,
  timeLimit,
  timezoneName,
  tokenCount,
  tokenLimit,
  tokenPrice,
  uniqueIds,
  usdLimit,
  variableName,
} from './value-types.ts'

const isList = (payload: { readonly value: unknown }) => Array.isArray(payload.value)

const overrun = z
  .enum(['skip', 'catch_up'])
  .prefault('skip')
  .describe('skip or catch up on beats that fall due while a cycle runs')

const agent = z.strictObject({
  agent_id: safeName,
  prompt: nonEmptyText,
  priority: z.int('a whole number').prefault(0),
  enabled: z.boolean().prefault(true),
  metadata: anyMapping.prefault({}),
  schedule: scheduleValue
    .nullable()
    .prefault(null)
    .describe("the agent's own schedule; the agent is then not due at the kernel's beats"),
  timeout: timeLimit.optional().describe('default: budget.per_dispatch_minutes'),
  cooldown: pauseDuration.prefault('0s').describe('pause after a successful run'),
  watch: z
    .array(z.union([nonEmptyText, anyMapping], 'a path, or a mapping with path or git'))
    .prefault([])
    .describe('paths checked for changes without calling a model'),
  model: textWithoutSpaces.nullable().prefault(null),
  tools: z.array(textWithoutSpaces).nullable().prefault(null).describe('null: all tools that the policy allows'),
  workspace: nonEmptyText.nullable().prefault(null).describe('relative to the home; null: a new folder for each run'),
})

/** `agents/<id>/agent.yaml`: the folder name is the id, and the prompt may be in `role.md`. */
export const agentFile = agent.extend({
  agent_id: safeName.optional().describe("default: the folder's name"),
  prompt: nonEmptyText.optional().describe('default: role.md'),
})

const planner = z.strictObject({
  mode: z.enum(['static', 'llm', 'hybrid']).prefault('static'),
  model: textWithoutSpaces.nullable().prefault(null).describe('null: models.planner'),
  max_dispatches: countLimit.prefault(5),
  timeout: timeLimit.prefault('60s'),
})

/** Initial STATE.md of a new home. */
const SEED_STATE = `# Kernel State
## identity
elephant.ai autonomous kernel — founder mindset.
永不询问、永不等待、只派发任务、记录状态、做总结、思考规划。
## recent_actions
(none yet)
`

const MISSED = 'skip, once, all or {all: n}'

const kernel = z.strictObject({
  id: safeName.prefault('default'),
  enabled: z.boolean().prefault(true),
  schedule: scheduleValue.prefault('*/10 * * * *'),
  timezone: timezoneName.nullable().prefault(null).describe('null: the time zone of the machine'),
  jitter: pauseDuration.prefault('0s'),
  overrun,
  missed: z
    .union([z.enum(['skip', 'once', 'all'], MISSED), z.strictObject({ all: positiveCount })], MISSED)
    .prefault('once')
    .describe('beats to make up for after the kernel was stopped or the machine slept'),
  planner: planner.prefault({}),
  max_concurrent: positiveCount.prefault(3),
  timeout: timeLimit.optional().describe('deadline of a cycle; default: until the next beat'),
  lease: positiveDuration.prefault('30s').describe('time until another worker takes over the work of a dead one'),
  stop_timeout: positiveDuration
    .prefault('30s')
    .describe('after `stop` or a signal: how long running steps may take before they are interrupted'),
  max_attempts: countLimit.prefault(3),
  max_cycle_history: positiveCount.prefault(5),
  seed_state: nonEmptyText.prefault(SEED_STATE),
  user_id: nonEmptyText.nullable().prefault(null),
  channel: nonEmptyText.nullable().prefault(null),
  chat_id: nonEmptyText.nullable().prefault(null),
  quiet_hours: hoursRange.nullable().prefault(null),
  digest: z
    .union([z.boolean(), scheduleValue])
    .nullable()
    .prefault(true)
    .describe('one message for routine cycles: true, false or its schedule'),
  ping_url: httpUrl.nullable().prefault(null).describe('URL to request after each successful cycle'),
  agents: z.array(agent).superRefine(uniqueIds, { when: isList }).prefault([]),
})

const resident = z.strictObject({
  agent_id: safeName,
  hz: numberRange(0.1, 10).prefault(1),
  overrun,
  goals: z.array(nonEmptyText).prefault([]),
  slots: z
    .union([z.array(nonEmptyText), anyMapping], 'a list of slot names, or a mapping of slots')
    .prefault([])
    .describe('information that the resident needs'),
  stm: positiveCount.prefault(20).describe('ticks of short-term memory'),
  max_queries: countLimit.prefault(3).describe('unanswered queries before the resident slows down'),
  persist_thought: z.boolean().prefault(true),
  sources: z.array(safeName).prefault([]).describe('names of entries of `sources`'),
})

export const PROVIDER_TYPES = [
  'openai-compatible',
  'openai',
  'anthropic',
  'google',
  'openrouter',
  'deepseek',
  'moonshot',
  'dashscope',
  'ollama',
  'lmstudio',
] as const

const provider = z
  .strictObject({
    type: z.enum(PROVIDER_TYPES),
    base_url: httpUrl.optional(),
    api_key: z
      .string()
      .optional()
      .describe(
        'prefer secret:NAME, api_key_env or api_key_file; a key of six or more characters is redacted everywhere',
      ),
    api_key_env: variableName.optional(),
    api_key_file: nonEmptyText.optional().describe('relative to the configuration file'),
    headers: namedMapping(textWithoutSpaces, z.string()).prefault({}),
    stream: z.boolean().prefault(true),
    timeout: timeLimit.optional().describe('default: models.timeout'),
  })
  .superRefine(atMostOne('api_key', 'api_key_env', 'api_key_file'), { when: isMapping })
  .superRefine(
    (value, context) => {
      if (value.type !== 'openai-compatible' || value.base_url !== undefined) return
      const expected = 'an address such as http://127.0.0.1:11434/v1, because the type is openai-compatible'
      context.addIssue({ ...customIssue(expected, undefined, 'add base_url here'), path: ['base_url'] })
    },
    { when: isMapping },
  )

const models = z.strictObject({
  default: textWithoutSpaces
    .nullable()
    .prefault(null)
    .describe('provider/model; null: detected from keys and local servers'),
  fallback: z.array(textWithoutSpaces).prefault([]),
  planner: textWithoutSpaces.nullable().prefault(null).describe('null: the default model'),
  timeout: timeLimit.prefault('2m').describe('a call that sends no data for this long is aborted'),
  providers: namedMapping(safeName, provider).prefault({}),
  prices: namedMapping(
    textWithoutSpaces,
    z.strictObject({
      input: tokenPrice,
      output: tokenPrice,
      cached: tokenPrice.optional().describe('default: input'),
      cache_write: tokenPrice.optional().describe('default: input'),
      max_output: tokenCount.optional().describe('default: models.max_output'),
    }),
  )
    .prefault({})
    .describe('USD per million tokens, by provider/model; * matches anything'),
  max_output: tokenCount.prefault(8192).describe('tokens of one answer'),
  max_input: tokenLimit.prefault(150_000).describe('tokens of one request; older history is shortened until it fits'),
})

/** The limits `per_agent_*`, `per_kernel_*` and `per_day_*` apply to one day. */
const budget = z.strictObject({
  per_dispatch_calls: countLimit.prefault(40),
  per_dispatch_minutes: minutesLimit.prefault(30),
  per_dispatch_tokens: countLimit.prefault(null),
  per_dispatch_usd: usdLimit.prefault(null),
  per_agent_calls: countLimit.prefault(null),
  per_agent_tokens: countLimit.prefault(null),
  per_agent_usd: usdLimit.prefault(null),
  per_kernel_calls: countLimit.prefault(null),
  per_kernel_tokens: countLimit.prefault(null),
  per_kernel_usd: usdLimit.prefault(null),
  per_day_calls: countLimit.prefault(null),
  per_day_tokens: countLimit.prefault(null),
  per_day_usd: usdLimit.prefault(5),
  per_month_usd: usdLimit.prefault(null),
})

const TRUSTS = ['trusted', 'untrusted'] as const

const toolEffect = z.strictObject({
  recovery: z.enum(RECOVERIES),
  reach: z.enum(REACHES),
  destinations: z
    .array(textWithoutSpaces)
    .optional()
    .describe('arguments that name the destination of a call; default: all arguments'),
  gives: z.enum(TRUSTS).optional().describe("default: the server's trust"),
  private: z.boolean().optional().describe('default: true if reach is private'),
})

const mcpServer = z
  .strictObject({
    command: z.array(z.string()).nonempty('a command with its arguments, such as [node, server.js]').optional(),
    url: httpUrl.optional(),
    env: namedMapping(variableName, z.string())
      .prefault({})
      .describe('added to PATH, HOME and LANG; no other variable is passed on'),
    cwd: nonEmptyText
      .optional()
      .describe('default: the folder of the configuration file; other paths are relative to it'),
    sandbox: z
      .enum(['on', 'off'])
      .prefault('on')
      .describe('off: the server runs with your permissions and can read your files'),
    network: z
      .union(
        [z.enum(['none', 'all']), z.array(hostPattern)],
        'none, all, or a list of hosts such as packages.example.org',
      )
      .prefault('none')
      .describe('hosts that the server may reach from its sandbox, through a proxy; all: every public host'),
    folders: z
      .array(nonEmptyText)
      .prefault([])
      .describe('folders that the server may write, besides its own folder in the home'),
    reads: z
      .array(nonEmptyText)
      .prefault([])
      .describe('paths that the server may read, besides system folders and the folder of its command'),
    headers: namedMapping(textWithoutSpaces, z.string()).prefault({}),
    timeout: positiveDuration.prefault('1m').describe('timeout of a call'),
    start_timeout: positiveDuration
      .prefault('1m')
      .describe('timeout of the first response; a server that is downloaded first needs longer'),
    trust: z.enum(TRUSTS).prefault('untrusted').describe("the trust level of the results of the server's tools"),
    effects: namedMapping(textWithoutSpaces, toolEffect)
      .prefault({})
      .describe('effect class by tool; tools not listed get the strictest class'),
    read_only: toolEffect
      .optional()
      .describe(
        'effect of tools that the server marks readOnlyHint and that are not in `effects`; default: the strictest',
      ),
  })
  .superRefine(exactlyOne('command', 'url'), { when: isMapping })

const webhook = z
  .strictObject({
    url: httpUrl.describe('messages are posted to this URL'),
    secret: nonEmptyText.optional().describe('prefer secret:NAME, secret_env or secret_file'),
    secret_env: variableName.optional(),
    secret_file: nonEmptyText.optional().describe('relative to the configuration file'),
    chat_id: nonEmptyText.nullable().prefault(null).describe('chat for messages that name no chat'),
  })
  .superRefine(exactlyOne('secret', 'secret_env', 'secret_file'), { when: isMapping })

const STORE = 'sqlite, or postgres://…'
const PORT = 'a port from 0 (any free one) to 65535'

export const schema = z.strictObject({
  kernel: kernel.prefault({}),
  residents: z.array(resident).superRefine(uniqueIds, { when: isList }).prefault([]),
  models: models.prefault({}),
  budget: budget.prefault({}),
  store: z
    .string(STORE)
    .regex(/^(sqlite|postgres(ql)?:\/\/\S+)$/, STORE)
    .prefault('sqlite'),
  mcp_servers: namedMapping(safeName, mcpServer).prefault({}),
  channels: z
    .strictObject({
      lark: anyMapping.optional(),
      slack: anyMapping.optional(),
      telegram: anyMapping.optional(),
      webhook: webhook.optional(),
    })
    .prefault({}),
  policy: z
    .strictObject({
      allow_hosts: z.array(hostPattern).prefault([]),
      unattended: z
        .enum(['park', 'deny'])
        .prefault('park')
        .describe('a call that needs approval: park the run, or deny the call'),
      grants: z
        .array(
          z.strictObject({
            tool: textWithoutSpaces,
            to: z.array(nonEmptyText).prefault([]).describe('allowed destinations; * matches any part of a name'),
            agent: textWithoutSpaces.nullable().prefault(null).describe('null: any agent'),
          }),
        )
        .prefault([])
        .describe('calls allowed without approval'),
    })
    .prefault({}),
  server: z
    .strictObject({
      host: textWithoutSpaces.prefault('127.0.0.1'),
      port: z.int(PORT).min(0, PORT).max(65535, PORT).prefault(7717),
    })
    .prefault({}),
  sources: namedMapping(safeName, anyMapping).prefault({}),
  plugins: z.array(z.union([nonEmptyText, anyMapping], 'a package name, a path, or a mapping')).prefault([]),
  sandbox: z.enum(['auto', 'required', 'off']).prefault('auto'),
  sandbox_image: z
    .string()
    .regex(/^[a-z0-9][\w./:@-]*$/i, 'the name of an image, such as debian:12')
    .nullable()
    .prefault(null)
    .describe('run commands in containers of this image with docker or podman; null: in bubblewrap'),
  limits: z
    .strictObject({
      processes: z
        .int('a whole number, at least 16')
        .min(16, 'a whole number, at least 16')
        .max(1_000_000)
        .prefault(2048)
        .describe('limit of processes and threads for all commands and servers together'),
      memory_mb: z
        .int('a whole number, at least 64')
        .min(64, 'a whole number, at least 64')
        .max(1_000_000_000)
        .nullable()
        .prefault(null)
        .describe("memory limit for all commands and servers together; null: three quarters of the machine's memory"),
      free_disk_mb: z
        .int('a whole number')
        .min(0, 'a whole number')
        .max(1_000_000_000)
        .prefault(1024)
        .describe('commands are stopped when less disk space is free'),
    })
    .prefault({}),
  retention: z
    .strictObject({
      days: daysLimit.prefault(90).describe('days to keep finished work; null: forever'),
    })
    .prefault({}),
})

/** Makes a type read-only at every level. Json is left as it is: it is already read-only, and recursive. */
type Immutable<T> = [Json] extends [T]
  ? T
  : T extends readonly unknown[] | Record<string, unknown>
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T

export type Config = Immutable<z.output<typeof schema>>
export type KernelConfig = Config['kernel']
export type AgentConfig = KernelConfig['agents'][number]
export type ResidentConfig = Config['residents'][number]
export type ModelsConfig = Config['models']
export type ProviderConfig = ModelsConfig['providers'][string]
export type BudgetConfig = Config['budget']
export type McpServerConfig = Config['mcp_servers'][string]
export type WebhookConfig = NonNullable<Config['channels']['webhook']>
export type ScheduleConfig = KernelConfig['schedule']

/** JSON Schemas of what the user may write, with defaults. */
export const agentSchema = () => z.toJSONSchema(agentFile, { io: 'input' })
export const jsonSchema = () => z.toJSONSchema(schema, { io: 'input' })
