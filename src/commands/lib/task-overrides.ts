/** Options of one task that override the configuration: on the command line, over HTTP and in the library. */

import { z } from 'zod'
import { BEHAVIOUR_NAME_FORM, readBehaviourName } from '../../domain/behaviour-name.ts'
import type { Json } from '../../domain/json.ts'
import { MAX_DURATION_MS, MAX_USD } from '../../domain/limits.ts'
import type { Resource } from '../../domain/task.ts'
import { typedAs } from './output-schemas.ts'

const count = z.int().positive().nullable().optional()
const amount = (max: number) => z.number().positive().max(max).nullable().optional()

export const taskOverrides = {
  behaviour: z
    .string()
    .min(1)
    .refine((name) => readBehaviourName(name) !== undefined, BEHAVIOUR_NAME_FORM)
    .optional()
    .describe('the behaviour to start with: plan, solo or your own; with parameters: do:todo=T001'),
  model: z.string().min(1).optional().describe('model as provider/model'),
  parser: z.string().min(1).optional().describe('how the model writes tool calls: native, json, react, xml'),
  memory: z.string().min(1).optional().describe('how much history the model sees: whole, window, summary, recall'),
  env: z.string().min(1).optional().describe('where tools run: host, repository, or an env of a plugin'),
  max_steps: count.describe('stop after this many steps'),
  max_seconds: amount(MAX_DURATION_MS / 1000).describe('stop after this many seconds of work'),
  max_tokens: count.describe('stop after this many tokens'),
  max_usd: amount(MAX_USD).describe('stop after this many US dollars'),
  answer_schema: z
    .string()
    .superRefine(checkAnswerSchema)
    .optional()
    .describe('JSON Schema as text; the answer is JSON that matches, or is asked for again'),
  resources: typedAs<readonly Resource[]>(
    z.array(
      z.strictObject({
        path: z.string(),
        mount_to: z.string().optional(),
        required: z.boolean().optional(),
        writable: z.boolean().optional(),
      }),
    ),
  )
    .optional()
    .describe('files that must exist before the run starts'),
}

function checkAnswerSchema(text: string, { addIssue }: { addIssue(issue: string): void }): void {
  try {
    const schema: unknown = JSON.parse(text)
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw new Error('got no mapping')
    z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema)
  } catch (thrown) {
    addIssue(`expected a JSON Schema: ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}

type TaskOverridesInput = z.output<z.ZodObject<typeof taskOverrides>>

export function overridesToMetadata(wanted: TaskOverridesInput): Readonly<Record<string, Json>> {
  const { max_steps, max_seconds, max_tokens, max_usd, answer_schema: schema, ...rest } = wanted
  const ms = typeof max_seconds === 'number' ? max_seconds * 1000 : max_seconds
  const budget = dropUndefined({ steps: max_steps, ms, tokens: max_tokens, usd: max_usd })
  const answer_schema = schema === undefined ? undefined : JSON.parse(schema)
  return dropUndefined({ ...rest, answer_schema, ...(Object.keys(budget).length > 0 ? { budget } : {}) })
}

function dropUndefined(values: Readonly<Record<string, unknown>>): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<string, Json>
}
