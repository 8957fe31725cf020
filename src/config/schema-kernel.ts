/** Schemas of the kernel and its agents. */

import { z } from 'zod'
import { OWN_STATE } from './seed-state.ts'
import {
  agentName,
  anyMapping,
  countLimit,
  hoursRange,
  httpUrl,
  nonEmptyText,
  pauseDuration,
  positiveCount,
  positiveDuration,
  safeName,
  scheduleValue,
  textWithoutSpaces,
  timeLimit,
  timezoneName,
  uniqueIds,
} from './value-types.ts'

export const isList = (payload: { readonly value: unknown }) => Array.isArray(payload.value)

export const overrun = z
  .enum(['skip', 'catch_up'])
  .prefault('skip')
  .describe('skip or catch up on beats that fall due while a cycle runs')

/** In the default workspace: stands for the id of the agent. */
export const AGENT_ID_MARK = '<agent_id>'

const agent = z.strictObject({
  agent_id: agentName,
  description: nonEmptyText
    .nullable()
    .prefault(null)
    .describe('what other agents may give it to do (spawn_agent); null: it is not offered to them'),
  prompt: nonEmptyText,
  priority: z.int('a whole number').prefault(0),
  enabled: z.boolean().prefault(true),
  metadata: anyMapping.prefault({}),
  schedule: scheduleValue
    .nullable()
    .prefault(null)
    .describe("the agent's own schedule; the agent is then not due at the kernel's beats"),
  only_on_change: z
    .boolean()
    .prefault(false)
    .describe('true: at a beat, run only if something that the agent sees has changed'),
  timeout: timeLimit.optional().describe('default: budget.per_dispatch_minutes'),
  cooldown: pauseDuration.prefault('0s').describe('pause after a successful run'),
  watch: z
    .array(z.union([nonEmptyText, anyMapping], 'a path, or a mapping with path or git'))
    .prefault([])
    .describe('paths checked for changes without calling a model'),
  model: textWithoutSpaces.nullable().prefault(null),
  tools: z.array(textWithoutSpaces).nullable().prefault(null).describe('null: all tools that the policy allows'),
  platform: z
    .enum(['linux', 'macos', 'windows'])
    .nullable()
    .prefault(null)
    .describe('the operating system that its work needs; null: any'),
  workspace: nonEmptyText
    .nullable()
    .prefault(`workspaces/${AGENT_ID_MARK}`)
    .describe('relative to the home; its runs share it, one at a time; null: a new folder for each run'),
})

/** `agents/<id>/agent.yaml`: the folder name is the id, and the prompt may be in `role.md`. */
export const agentFile = agent.extend({
  agent_id: agentName.optional().describe("default: the folder's name"),
  prompt: nonEmptyText.optional().describe('default: role.md'),
})

const planner = z.strictObject({
  mode: z.enum(['static', 'llm', 'hybrid']).prefault('static'),
  model: textWithoutSpaces.nullable().prefault(null).describe('null: models.planner'),
  max_dispatches: countLimit.prefault(5),
  timeout: timeLimit.prefault('60s'),
})

const MISSED = 'skip, once, all or {all: n}'

export const kernelSchema = z.strictObject({
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
  seed_state: nonEmptyText.prefault(OWN_STATE),
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
