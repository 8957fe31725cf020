/** Lists and tests models, and chooses the model of a chat or channel. */

import { z } from 'zod'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { scopeKey } from '../domain/model-selection.ts'
import { callWithinBudget } from '../engine/request/budget-reservation.ts'
import { isOfflineModel } from '../ports/model.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import { copyKeys, keyVariables, OFFLINE_NOTICE } from './lib/model-state.ts'

export const modelsList = defineCommand({
  name: 'models list',
  summary: 'list models with their prices, which one is the default and why, and how to use another',
  example: 'models list',
  runsIn: 'any_process',
  needs: ['models', 'store'],
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
  }),
  run: async ({ models, store }) => ({
    items: [...(await models.list())],
    selections: [...(await store.selections())],
    keys: copyKeys(models),
  }),
})

const REQUEST = { system: '', messages: [{ role: 'user', text: 'Say the word: ready' } as const], tools: [] }

const errorParts = z.object({
  what: z.string().describe('what happened'),
  where: z.string().optional(),
  got: z.string().optional(),
  expected: z.string().optional(),
  fix: z.string().optional().describe('what to do'),
})

export const modelsTest = defineCommand({
  name: 'models test',
  summary: 'send a model one short request: shows latency and usage, or the error and its remedy',
  example: 'models test openai/gpt-5',
  runsIn: 'any_process',
  needs: ['breaker', 'budgetLimits', 'clock', 'ids', 'kernelId', 'models', 'signals', 'store'],
  positional: ['model'],
  input: z.object({ model: z.string().min(1).optional().describe('provider/model; default: the default model') }),
  output: z.object({
    model: z.string(),
    ok: z.boolean(),
    latency_ms: z.number().nullable(),
    usage: z
      .object({
        input_tokens: z.number(),
        output_tokens: z.number(),
        cached_tokens: z.number(),
        written_tokens: z.number().optional(),
      })
      .nullable(),
    code: z.string().nullable(),
    error: z.string().nullable(),
    error_parts: errorParts.nullable().describe('the parts of the error'),
    note: z.string().nullable().describe('says that the model is only a stand-in'),
    keys: keyVariables,
  }),
  async run(context, { model: wanted }) {
    const { models, breaker, clock, signals, ids, budgetLimits: purse, kernelId: kernel_id } = context
    const model = wanted ?? (await models.choice()).id
    const startedAt = clock.monotonic()
    const failed = { model, ok: false, latency_ms: null, usage: null, note: null, keys: copyKeys(models) }
    try {
      const spender = {
        kernel_id,
        agent_id: 'models test',
        dispatch_id: ids.next(),
        model,
        day: purse.dayOf(clock.now()),
      }
      const { usage } = await callWithinBudget(context, {
        ...{ model: models.get(model), request: REQUEST, signal: signals.abort, spender },
      })
      breaker.recordOutcome({ model, code: null, at: clock.now() })
      const latency_ms = Math.round(clock.monotonic() - startedAt)
      const note = isOfflineModel(model) ? OFFLINE_NOTICE.text : null
      return { ...failed, ok: true, latency_ms, usage, code: null, error: null, error_parts: null, note }
    } catch (thrown) {
      const { code, message, parts } = asTirelessError(thrown)
      return { ...failed, code, error: message, error_parts: parts }
    }
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
