/**
 * The schema of tireless.yaml: every documented key with type and default. A default of `null` means not set (for a
 * limit: unlimited); a key without a default takes its value from the key that its description names. Defaults are
 * written as a user would write them (`prefault`: "30s"), and the JSON Schema shows them so.
 */

import { isAbsolute } from 'node:path'
import { z } from 'zod'
import type { Json } from '../domain/json.ts'
import { channelsSchema } from './schema-channels.ts'
import { codingAgentSchema } from './schema-coding.ts'
import { agentFile, isList, kernelSchema, overrun } from './schema-kernel.ts'
import { mcpServerSchema } from './schema-mcp.ts'
import { modelsSchema } from './schema-models.ts'
import { pluginsSchema } from './schema-plugins.ts'
import { checkSourceNames, sourceSchema } from './schema-sources.ts'
import { searchSchema } from './search.ts'
import {
  anyMapping,
  countLimit,
  daysLimit,
  hostPattern,
  isMapping,
  minutesLimit,
  namedMapping,
  nonEmptyText,
  numberRange,
  positiveCount,
  positiveDuration,
  safeName,
  textWithoutSpaces,
  timeLimit,
  uniqueIds,
  usdLimit,
} from './value-types.ts'

const resident = z.strictObject({
  agent_id: safeName,
  hz: numberRange(0.1, 10).prefault(1),
  overrun,
  goals: z
    .array(
      z.union(
        [
          nonEmptyText.transform((text) => ({ goal: text, every: null, until: null })),
          z.strictObject({
            goal: nonEmptyText,
            every: positiveDuration.nullable().prefault(null).describe('remind the resident of the goal this often'),
            until: z.iso
              .datetime({ offset: true, error: 'an instant such as 2026-12-31T18:00:00Z' })
              .nullable()
              .prefault(null)
              .describe('the goal is over then'),
          }),
        ],
        'a text, or a mapping with goal, every, until',
      ),
    )
    .prefault([]),
  slots: z
    .union([z.array(nonEmptyText), anyMapping], 'a list of slot names, or a mapping of slots')
    .prefault([])
    .describe('information that the resident needs'),
  stm: positiveCount.prefault(20).describe('ticks of short-term memory'),
  max_queries: countLimit.prefault(3).describe('unanswered queries before the resident slows down'),
  persist_thought: z.boolean().prefault(true).describe('whether the thoughts of the model are stored'),
  forget_after: timeLimit.prefault(null).describe('age at which a look leaves the memory; null: never'),
  sources: z.array(safeName).prefault([]).describe('names of entries of `sources`'),
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

const STORE = 'sqlite, or postgres://…'
const SHARED = 'true, or a list of absolute paths'
const absolutePath = z.string(SHARED).refine((path) => isAbsolute(path), 'an absolute path')
const PORT = 'a port from 0 (any free one) to 65535'

const keys = z.strictObject({
  kernel: kernelSchema.prefault({}),
  residents: z.array(resident).superRefine(uniqueIds, { when: isList }).prefault([]),
  models: modelsSchema.prefault({}),
  budget: budget.prefault({}),
  store: z
    .string(STORE)
    .regex(/^(sqlite|postgres(ql)?:\/\/\S+)$/, STORE)
    .prefault('sqlite'),
  workspaces: z
    .strictObject({
      shared: z
        .union([z.literal(true), z.array(absolutePath)], SHARED)
        .prefault([])
        .describe('folders that all homes on a PostgreSQL see under the same path; true: all of them'),
      grace: timeLimit
        .prefault('10m')
        .describe('how long work waits for the machine that has its files, before it goes on elsewhere without them'),
    })
    .prefault({}),
  mcp_servers: namedMapping(safeName, mcpServerSchema).prefault({}),
  channels: channelsSchema.prefault({}),
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
  coding_agents: namedMapping(safeName, codingAgentSchema)
    .prefault({})
    .describe('external coding agents for the tool coding_agent'),
  search: searchSchema.nullable().prefault(null).describe('what web_search asks; null: agents have no web search'),
  server: z
    .strictObject({
      host: textWithoutSpaces.prefault('127.0.0.1'),
      port: z.int(PORT).min(0, PORT).max(65535, PORT).prefault(7717),
    })
    .prefault({}),
  sources: namedMapping(safeName, sourceSchema)
    .prefault({})
    .describe('what residents hear from outside; a resident names its sources in `sources`'),
  plugins: pluginsSchema,
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

/** With the checks across keys, which run even if other values are invalid. */
export const schema = keys.superRefine(checkSourceNames, { when: isMapping })

/** Makes a type read-only at every level. Json is left as it is: it is already read-only, and recursive. */
type Immutable<T> = [Json] extends [T]
  ? T
  : T extends readonly unknown[] | Record<string, unknown>
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T

export type Config = Immutable<z.output<typeof schema>>
export type AgentConfig = Config['kernel']['agents'][number]
export type ProviderConfig = Config['models']['providers'][string]
export type BudgetConfig = Config['budget']
export type SourceConfig = Config['sources'][string]
export type WebhookConfig = NonNullable<Config['channels']['webhook']>
export type LarkConfig = NonNullable<Config['channels']['lark']>

/** JSON Schemas of what the user may write, with defaults. */
export const agentSchema = () => z.toJSONSchema(agentFile, { io: 'input' })
export const jsonSchema = () => z.toJSONSchema(schema, { io: 'input' })
