/**
 * The messages between Tireless and the process of a sandboxed plugin: one JSON text per line. Both sides check every
 * message; message-limits.ts limits those of the plugin.
 */

import { z } from 'zod'
import type { Json } from '../../../domain/json.ts'
import { SANDBOXED_KINDS } from '../../../domain/plugin-manifest.ts'

/** Names reach the model and the owner, so they cannot be sentences. */
export const OFFERED_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/

const id = z.int().positive()
const text = z.string().max(100_000)
const name = z.string().min(1).max(200)
const offeredName = z.string().regex(OFFERED_NAME)
/** What was parsed is JSON; to check each value again would take seconds. */
const json = z.unknown() as unknown as z.ZodType<Json, Json>

const offeredTool = z.strictObject({
  ...{ name: offeredName, description: z.string().max(20_000), parameters: z.record(z.string(), json) },
  timeoutMs: z.number().positive().max(86_400_000).nullable(),
})

const price = z
  .strictObject({
    ...{ input: z.number(), output: z.number(), cached: z.number().optional(), cache_write: z.number().optional() },
    max_output: z.number(),
  })
  .nullable()

const list = <T extends z.ZodType>(item: T) => z.array(item).max(200)

/** What a plugin adds, as far as the owner approves it. */
export const offersSchema = z.strictObject({
  tools: list(offeredTool),
  gates: list(z.strictObject({ name: offeredName })),
  critics: list(z.strictObject({ name: offeredName })),
  channels: list(
    z.strictObject({
      ...{ name: offeredName, maxText: z.int().positive().optional(), replaces: z.boolean().optional() },
    }),
  ),
  sources: list(z.strictObject({ name: offeredName, type: offeredName })),
  modelProviders: list(
    z.strictObject({ name: offeredName, models: list(z.strictObject({ name, price: price.optional() })) }),
  ),
})
export type Offers = z.output<typeof offersSchema>

/** From Tireless to the plugin. The first message is `load`. */
export const toPlugin = z.discriminatedUnion('type', [
  z.strictObject({
    ...{ type: z.literal('load'), name, entry: name, digest: name },
    files: z.record(z.string(), z.string()).describe('contents in base64'),
    options: z.record(z.string(), json),
    secrets: z.record(z.string(), z.string()),
  }),
  z.strictObject({
    ...{ type: z.literal('call'), id, kind: z.enum(SANDBOXED_KINDS), name, method: name, args: z.array(json) },
  }),
  z.strictObject({ type: z.literal('cancel'), id }),
  z.strictObject({ type: z.literal('reply'), id, value: json.optional(), error: text.optional() }),
  z.strictObject({ type: z.literal('ping') }),
])
export type ToPlugin = z.output<typeof toPlugin>

/** From the plugin to Tireless. `event` and `ask` belong to the call with that id, and have no effect after its end. */
export const fromPlugin = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), offers: offersSchema }),
  z.strictObject({ type: z.literal('failed'), message: text }),
  z.strictObject({ type: z.literal('result'), id, value: json.optional() }),
  z.strictObject({ type: z.literal('error'), id, code: name, message: text, retryAfterMs: z.number().optional() }),
  z.strictObject({ type: z.literal('event'), id, event: z.enum(['say', 'text', 'slice']), value: json }),
  z.strictObject({
    ...{ type: z.literal('ask'), id, ask: id, method: z.enum(['publish', 'mark', 'saveMark']) },
    value: json.optional(),
  }),
  z.strictObject({ type: z.literal('log'), text }),
  z.strictObject({ type: z.literal('pong') }),
])
export type FromPlugin = z.output<typeof fromPlugin>
