/** What a task may ask for in place of what is configured: on the command line, over HTTP and in the library alike. */

import { z } from 'zod'
import type { Json } from '../domain/json.ts'
import { MAX_DURATION_MS, MAX_USD } from '../domain/limits.ts'

const count = z.int().positive().nullable().optional()
const amount = (max: number) => z.number().positive().max(max).nullable().optional()

export const wishes = {
  behaviour: z.string().min(1).optional().describe('the behaviour it begins with'),
  model: z.string().min(1).optional().describe('the model, as provider/model'),
  parser: z.string().min(1).optional().describe('how the model writes its calls: native, json, react, xml'),
  memory: z.string().min(1).optional().describe('what it is given of its past: whole, window, summary, recall'),
  env: z.string().min(1).optional().describe('where its hands reach: host, repository'),
  max_steps: count.describe('end after so many steps'),
  max_seconds: amount(MAX_DURATION_MS / 1000).describe('end after so long at work'),
  max_tokens: count.describe('end after so many tokens'),
  max_usd: amount(MAX_USD).describe('end after so much money'),
  resources: z
    .array(
      z.strictObject({
        path: z.string(),
        mount_to: z.string().optional(),
        required: z.boolean().optional(),
        writable: z.boolean().optional(),
      }),
    )
    .optional()
    .describe('what must be there before it begins'),
}

export type WishesInput = z.output<z.ZodObject<typeof wishes>>

export function metadataOf(wanted: WishesInput): Readonly<Record<string, Json>> {
  const { max_steps, max_seconds, max_tokens, max_usd, ...words } = wanted
  const ms = typeof max_seconds === 'number' ? max_seconds * 1000 : max_seconds
  const budget = given({ steps: max_steps, ms, tokens: max_tokens, usd: max_usd })
  return given({ ...words, ...(Object.keys(budget).length > 0 ? { budget } : {}) })
}

function given(values: Readonly<Record<string, unknown>>): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<string, Json>
}
