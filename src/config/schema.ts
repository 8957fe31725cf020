/**
 * The shape of tireless.yaml: every documented key, its type and its default. Where a default is `null` the key is simply not set
 * (or, for a limit, unlimited); a key without any default takes its value from the place its description names. Defaults are written as a
 * user would write them (`prefault`: "30s"), and so they show in the JSON Schema.
 */

import { z } from 'zod'
import { REACHES, RECOVERIES } from '../domain/effect.ts'
import type { Json } from '../domain/json.ts'
import {
  atMostOne,
  count,
  countLimit,
  custom,
  daysLimit,
  exactlyOne,
  freeForm,
  host,
  hours,
  isMapping,
  link,
  minutesLimit,
  name,
  named,
  pause,
  price,
  range,
  schedule,
  span,
  text,
  timeLimit,
  timezone,
  tokenCount,
  tokenLimit,
  uniqueIds,
  usdLimit,
  variable,
  word,
} from './values.ts'

const isList = (payload: { readonly value: unknown }) => Array.isArray(payload.value)

const overrun = z.enum(['skip', 'catch_up']).prefault('skip').describe('what to do with a beat that took too long')

const agent = z.strictObject({
  agent_id: name,
  prompt: text,
  priority: z.int('a whole number').prefault(0),
  enabled: z.boolean().prefault(true),
  metadata: freeForm.prefault({}),
  schedule: schedule.nullable().prefault(null).describe('makes the agent due by itself'),
  timeout: timeLimit.optional().describe('default: budget.per_dispatch_minutes'),
  cooldown: pause.prefault('0s').describe('rest after a success'),
  watch: z
    .array(z.union([text, freeForm], 'a path, or a probe written as a mapping'))
    .prefault([])
    .describe('looked at without a model'),
  model: word.nullable().prefault(null),
  tools: z.array(word).nullable().prefault(null).describe('null: all that the policy allows'),
  workspace: text.nullable().prefault(null).describe('relative to the home; null: a folder of its own for each run'),
})

/** `agents/<id>/agent.yaml`: its folder is its id, and what it is to do may stand in `role.md`. */
export const agentFile = agent.extend({
  agent_id: name.optional().describe("default: the folder's name"),
  prompt: text.optional().describe('default: role.md'),
})

const planner = z.strictObject({
  mode: z.enum(['static', 'llm', 'hybrid']).prefault('static'),
  model: word.nullable().prefault(null).describe('null: models.planner'),
  max_dispatches: countLimit.prefault(5),
  timeout: timeLimit.prefault('60s'),
})

/** STATE.md on the first boot, as the seed has it. */
const SEED_STATE = `# Kernel State
## identity
elephant.ai autonomous kernel — founder mindset.
永不询问、永不等待、只派发任务、记录状态、做总结、思考规划。
## recent_actions
(none yet)
`

const MISSED = 'skip, once, all or {all: n}'

const kernel = z.strictObject({
  id: name.prefault('default'),
  enabled: z.boolean().prefault(true),
  schedule: schedule.prefault('*/10 * * * *'),
  timezone: timezone.nullable().prefault(null).describe("null: the machine's own"),
  jitter: pause.prefault('0s'),
  overrun,
  missed: z
    .union([z.enum(['skip', 'once', 'all'], MISSED), z.strictObject({ all: count })], MISSED)
    .prefault('once')
    .describe('beats while the machine slept'),
  planner: planner.prefault({}),
  max_concurrent: count.prefault(3),
  timeout: timeLimit.optional().describe('deadline of a cycle; default: until the next beat'),
  lease: span.prefault('30s').describe("how long a dead worker's work waits for another"),
  stop_timeout: span
    .prefault('30s')
    .describe(
      'asked to stop, by `stop` or a signal: how long running steps may take to end before they are interrupted',
    ),
  max_attempts: countLimit.prefault(3),
  max_cycle_history: count.prefault(5),
  seed_state: text.prefault(SEED_STATE),
  user_id: text.nullable().prefault(null),
  channel: text.nullable().prefault(null),
  chat_id: text.nullable().prefault(null),
  quiet_hours: hours.nullable().prefault(null),
  digest: z.union([z.boolean(), schedule]).nullable().prefault(true).describe('routine cycles told together'),
  ping_url: link.nullable().prefault(null).describe('called after each good cycle'),
  agents: z.array(agent).superRefine(uniqueIds, { when: isList }).prefault([]),
})

const resident = z.strictObject({
  agent_id: name,
  hz: range(0.1, 10).prefault(1),
  overrun,
  goals: z.array(text).prefault([]),
  slots: z
    .union([z.array(text), freeForm], 'a list of slot names, or a mapping of slots')
    .prefault([])
    .describe('what it needs to know'),
  stm: count.prefault(20).describe('ticks of short-term memory'),
  max_queries: countLimit.prefault(3).describe('unanswered queries before it slows down'),
  persist_thought: z.boolean().prefault(true),
  sources: z.array(name).prefault([]).describe('names of entries of `sources`'),
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
    base_url: link.optional(),
    api_key: z
      .string()
      .optional()
      .describe(
        'better secret:NAME, a variable or a file than the key itself; hidden wherever it comes up, if it has six characters or more',
      ),
    api_key_env: variable.optional(),
    api_key_file: text.optional().describe('relative to the configuration file'),
    headers: named(word, z.string()).prefault({}),
    stream: z.boolean().prefault(true),
    timeout: timeLimit.optional().describe('default: models.timeout'),
  })
  .superRefine(atMostOne('api_key', 'api_key_env', 'api_key_file'), { when: isMapping })
  .superRefine(
    (value, context) => {
      if (value.type !== 'openai-compatible' || value.base_url !== undefined) return
      const expected = 'an address such as http://127.0.0.1:11434/v1, because the type is openai-compatible'
      context.addIssue({ ...custom(expected, undefined, 'add base_url here'), path: ['base_url'] })
    },
    { when: isMapping },
  )

const models = z.strictObject({
  default: word.nullable().prefault(null).describe('provider/model; null: whatever is found'),
  fallback: z.array(word).prefault([]),
  planner: word.nullable().prefault(null).describe('null: the default model'),
  timeout: timeLimit.prefault('2m').describe('silence after which a call is given up'),
  providers: named(name, provider).prefault({}),
  prices: named(
    word,
    z.strictObject({
      input: price,
      output: price,
      cached: price.optional().describe('default: input'),
      cache_write: price.optional().describe('default: input'),
      max_output: tokenCount.optional().describe('default: models.max_output'),
    }),
  )
    .prefault({})
    .describe('USD per million tokens, by provider/model with *'),
  max_output: tokenCount.prefault(8192).describe('tokens of one answer'),
  max_input: tokenLimit
    .prefault(150_000)
    .describe('tokens of one request; what is said of the past is shortened until it fits'),
})

/** The agent's, the kernel's and the plain caps are per day. */
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
    .array(word)
    .optional()
    .describe('names of the arguments that say where a call goes; default: all of them count'),
  gives: z.enum(TRUSTS).optional().describe("default: the server's trust"),
  private: z.boolean().optional().describe('default: whether its reach is private'),
})

const mcpServer = z
  .strictObject({
    command: z.array(z.string()).nonempty('a command with its arguments, such as [node, server.js]').optional(),
    url: link.optional(),
    env: named(variable, z.string()).prefault({}).describe('beside PATH, HOME and LANG; it knows nothing else of ours'),
    cwd: text.optional().describe('default: the folder of the configuration file, to which it is relative'),
    sandbox: z.enum(['on', 'off']).prefault('on').describe('off: it runs as you do, and sees what you see'),
    network: z
      .union([z.enum(['none', 'all']), z.array(host)], 'none, all, or a list of hosts such as registry.npmjs.org')
      .prefault('none')
      .describe('what it may reach from its sandbox, through a proxy; all: every public host'),
    folders: z.array(text).prefault([]).describe('what it may write, beside its own folder in the home'),
    reads: z.array(text).prefault([]).describe('what it may read, beside the system and where its command lies'),
    headers: named(word, z.string()).prefault({}),
    timeout: span.prefault('1m').describe('for a call'),
    start_timeout: span
      .prefault('1m')
      .describe('until it answers for the first time; one that is fetched first takes a while'),
    trust: z.enum(TRUSTS).prefault('untrusted').describe('what the results of its tools are worth'),
    effects: named(word, toolEffect)
      .prefault({})
      .describe('by tool; a tool that is not named gets the strictest class'),
    read_only: toolEffect
      .optional()
      .describe(
        'of all tools that the server marks as read-only (readOnlyHint) and that effects does not name; default: they get the strictest class',
      ),
  })
  .superRefine(exactlyOne('command', 'url'), { when: isMapping })

const webhook = z
  .strictObject({
    url: link.describe('where messages are posted to'),
    secret: text.optional().describe('better secret:NAME, a variable or a file than the secret itself'),
    secret_env: variable.optional(),
    secret_file: text.optional().describe('relative to the configuration file'),
    chat_id: text.nullable().prefault(null).describe('where a message goes that names no chat'),
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
  mcp_servers: named(name, mcpServer).prefault({}),
  channels: z
    .strictObject({
      lark: freeForm.optional(),
      slack: freeForm.optional(),
      telegram: freeForm.optional(),
      webhook: webhook.optional(),
    })
    .prefault({}),
  policy: z
    .strictObject({
      allow_hosts: z.array(host).prefault([]),
      unattended: z.enum(['park', 'deny']).prefault('park').describe('what becomes of a call that needs a human'),
      grants: z
        .array(
          z.strictObject({
            tool: word,
            to: z.array(text).prefault([]).describe('where it may go; * stands for anything within one'),
            agent: word.nullable().prefault(null).describe('null: any agent'),
          }),
        )
        .prefault([])
        .describe('what may be sent without asking'),
    })
    .prefault({}),
  server: z
    .strictObject({ host: word.prefault('127.0.0.1'), port: z.int(PORT).min(0, PORT).max(65535, PORT).prefault(7717) })
    .prefault({}),
  sources: named(name, freeForm).prefault({}),
  plugins: z.array(z.union([text, freeForm], 'a package name, a path, or a mapping')).prefault([]),
  sandbox: z.enum(['auto', 'required', 'off']).prefault('auto'),
  sandbox_image: z
    .string()
    .regex(/^[a-z0-9][\w./:@-]*$/i, 'the name of an image, such as debian:12')
    .nullable()
    .prefault(null)
    .describe('commands run in containers of this image, by docker or podman; null: in bubblewrap'),
  limits: z
    .strictObject({
      processes: z
        .int('a whole number from 16 on')
        .min(16, 'a whole number from 16 on')
        .max(1_000_000)
        .prefault(2048)
        .describe('processes and threads of all commands together'),
      memory_mb: z
        .int('a whole number from 64 on')
        .min(64, 'a whole number from 64 on')
        .max(1_000_000_000)
        .nullable()
        .prefault(null)
        .describe('memory of all commands together; null: three quarters of what there is'),
      free_disk_mb: z
        .int('a whole number')
        .min(0, 'a whole number')
        .max(1_000_000_000)
        .prefault(1024)
        .describe('commands are ended before they leave less of a disk'),
    })
    .prefault({}),
  retention: z
    .strictObject({
      days: daysLimit.prefault(90).describe('how long what is over is kept; null: for ever'),
    })
    .prefault({}),
})

/** Json is read-only already, and without end. */
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

/** What the user may write: inputs, with the defaults they get. */
export const agentSchema = () => z.toJSONSchema(agentFile, { io: 'input' })
export const jsonSchema = () => z.toJSONSchema(schema, { io: 'input' })
