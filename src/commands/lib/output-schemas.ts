/** Schemas that several commands output. */

import { z } from 'zod'
import { APPROVAL_STATUSES } from '../../domain/approval.ts'
import { CANCEL_MODES, DISPATCH_STATUSES } from '../../domain/dispatch.ts'
import { type Effect, REACHES, RECOVERIES } from '../../domain/effect.ts'
import type { RunSetup } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { FAILURE_CLASSES } from '../../domain/stop-reason.ts'
import { RESOLUTIONS, UNKNOWN_STATUSES } from '../../domain/unknown-outcome.ts'
import type { Wait } from '../../domain/wait.ts'

/** A schema that checks only a part of what the type says; the writer of the value has checked the rest. */
export const typedAs = <T>(schema: z.ZodType): z.ZodType<T, T> => schema as z.ZodType<T, T>

export const dispatchSchema = z.object({
  dispatch_id: z.string(),
  kernel_id: z.string(),
  cycle_id: z.string().nullable(),
  agent_id: z.string(),
  session_id: z.string(),
  prompt: z.string(),
  title: z.string().describe('start of the prompt, without the text that was filled into it'),
  outcome: z.string().nullable().describe('first lines of the result, else the error, else what it waits for'),
  priority: z.number(),
  status: z.enum(DISPATCH_STATUSES),
  metadata: typedAs<Readonly<Record<string, Json>>>(z.record(z.string(), z.unknown())),
  lease_owner: z.number().nullable(),
  lease_until: z.string().nullable(),
  attempts: z.number(),
  wait: typedAs<Wait>(z.looseObject({ kind: z.string(), reason: z.string(), until: z.number().nullable() })).nullable(),
  result: z.string().nullable(),
  error: z.string().nullable(),
  failure_class: z.enum(FAILURE_CLASSES).nullable(),
  cancel: z.enum(CANCEL_MODES).nullable(),
  paused: z.boolean(),
  parent_id: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})

/** A run that another run started. */
export const childSchema = dispatchSchema.pick({ dispatch_id: true, agent_id: true, status: true, title: true })

export const dispatchDetailsSchema = dispatchSchema.extend({
  workspace: z.string().nullable(),
  files: z.array(z.string()),
  children: z.array(childSchema).describe('the runs that it started'),
})

export const runSetupSchema = typedAs<RunSetup>(
  z.looseObject({ model: z.string().nullable(), parser: z.string(), memory: z.string() }),
)

export const sessionSchema = z.object({
  session_id: z.string(),
  agent_id: z.string(),
  workspace: z.string(),
  status: z.enum(['idle', 'active', 'waiting', 'archived']),
  created_at: z.string(),
})

export const unknownSchema = z.object({
  id: z.string(),
  session_id: z.string(),
  dispatch_id: z.string(),
  tool: z.string(),
  args: typedAs<Json>(z.unknown()),
  reach: z.enum(REACHES),
  started_at: z.string(),
  output_so_far: z.string(),
  status: z.enum(UNKNOWN_STATUSES),
  resolution: z.enum(RESOLUTIONS).nullable(),
})

export const grantSchema = z.object({
  id: z.string(),
  tool: z.string(),
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  to: z.array(z.string()).readonly(),
  args: z.string().nullable(),
  granted_at: z.string(),
  expires_at: z.string().nullable(),
})

export const approvalSchema = z.object({
  id: z.string(),
  session_id: z.string(),
  tool: z.string(),
  args: typedAs<Json>(z.unknown()),
  effect: typedAs<Effect>(
    z.object({
      recovery: z.enum(RECOVERIES),
      reach: z.enum(REACHES),
      host: z.string().optional(),
      writes: z.literal(true).optional().describe('also writes to the workspace'),
      method: z.string().optional(),
      publishes: z.literal(true).optional(),
    }),
  ),
  sinks: z.array(z.object({ to: z.string(), from: z.string(), trusted: z.boolean() })).readonly(),
  digest: z.string(),
  reason: z.string(),
  origin: z.object({ run_id: z.string(), step: z.number() }),
  asked_at: z.string(),
  expires_at: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  answered_at: z.string().nullable(),
  answer_reason: z.string().nullable(),
})

export const connectionSchema = z.object({
  state: z.enum(['connecting', 'connected', 'waiting', 'stopped']).describe('stopped: no kernel runs'),
  since: z.string().nullable(),
  next_at: z.string().nullable().describe('when it is tried again'),
  error: z.string().nullable().describe('why the last attempt failed'),
})
