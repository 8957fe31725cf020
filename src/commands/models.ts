/** Lists and tests models, and chooses the model of a chat or channel. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { scopeKey } from '../domain/model-selection.ts'
import { PROVIDER_TYPES } from '../domain/provider-type.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import { copyKeys, keyVariables } from './lib/model-state.ts'
import { modelTrialSchema, TRY_MODEL_NEEDS, tryModel } from './lib/try-model.ts'

const type = z.enum(PROVIDER_TYPES)

const chosenSchema = z.object({
  default: z.string().nullable().describe('null: detected'),
  planner: z.string().nullable().describe('null: the default model'),
  fallback: z.array(z.string()),
  providers: z.array(z.object({ name: z.string(), type, base_url: z.string() })),
  known: z
    .array(z.object({ type, needs_key: z.boolean(), model: z.string().nullable() }))
    .describe('providers that can be added, each with a good first choice of model'),
})

export const modelsList = defineCommand({
  name: 'models list',
  summary: 'list models with their prices, which one is the default and why, and how to use another',
  example: 'models list',
  runsIn: 'any_process',
  needs: ['models', 'modelSetup', 'store'],
  input: z.object({}),
  output: z.object({
    items: z.array(
      z.object({
        id: z.string(),
        provider: z.string(),
        source: z.enum(['configured', 'found', 'built in', 'plugin']),
        key: z.enum(['set', 'missing', 'none']),
        is_default: z.boolean(),
        why: z.string().nullable(),
        /** US dollars per million tokens; null: unknown. */
        price: z
          .object({
            input: z.number(),
            output: z.number(),
            cached: z.number().optional(),
            cache_write: z.number().optional(),
            max_output: z.number(),
          })
          .nullable(),
        problem: z.string().nullable(),
      }),
    ),
    selections: z.array(z.object({ scope: z.string(), model: z.string() })),
    keys: keyVariables,
    chosen: chosenSchema.describe('what the configuration says'),
  }),
  run: async ({ models, modelSetup, store }) => ({
    items: [...(await models.list())],
    selections: [...(await store.selections())],
    keys: copyKeys(models),
    chosen: structuredClone(modelSetup.describe()) as z.input<typeof chosenSchema>,
  }),
})

export const modelsTest = defineCommand({
  name: 'models test',
  summary: 'send a model one short request: shows latency and usage, or the error and its remedy',
  example: 'models test openai/gpt-5',
  runsIn: 'any_process',
  needs: [...TRY_MODEL_NEEDS, 'models'],
  positional: ['model'],
  input: z.object({ model: z.string().min(1).optional().describe('provider/model; default: the default model') }),
  output: modelTrialSchema.extend({ keys: keyVariables }),
  async run(context, { model: wanted }) {
    const { models } = context
    const model = wanted ?? (await models.choice()).id
    return { ...(await tryModel(context, model, () => models.get(model))), keys: copyKeys(models) }
  },
  exitCode: ({ ok }) => (ok ? 0 : 1),
})

export const modelsUse = defineCommand({
  name: 'models use',
  summary: 'choose the model for a chat, a person in it, a channel, or everything',
  example: 'models use anthropic/claude-sonnet-5-5 --channel webhook',
  runsIn: 'any_process',
  needs: ['clock', 'models', 'store'],
  positional: ['model'],
  input: z.object({
    model: z.string().min(1).describe('provider/model; "default" removes the choice'),
    chat: z.string().min(1).optional().describe('for this chat, in any channel unless --channel is given'),
    user: z.string().min(1).optional().describe('with --chat: for this person in the chat'),
    channel: z.string().min(1).optional().describe('for this channel'),
  }),
  output: z.object({ scope: z.string(), model: z.string().nullable() }),
  async run({ models, store, clock }, { model: wanted, ...scope }) {
    if (scope.user !== undefined && scope.chat === undefined)
      throw new TirelessError('usage', {
        what: '--user needs --chat',
        expected: 'no option, --channel, --chat, or --chat with --user',
      })
    const model = wanted === 'default' ? null : models.get(wanted).id
    const key = scopeKey(scope)
    await commitOne(store, [{ op: 'select', scope: key, model, now: clock.now() }])
    return { scope: key, model }
  },
})
