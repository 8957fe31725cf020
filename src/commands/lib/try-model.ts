/** Sends a model one short request, within the budget, and says what came of it. */

import { z } from 'zod'
import { asTirelessError } from '../../domain/error.ts'
import { callWithinBudget } from '../../engine/request/budget-reservation.ts'
import { isOfflineModel, type Model } from '../../ports/model.ts'
import type { Needs } from './context.ts'
import { OFFLINE_NOTICE } from './model-state.ts'

const errorParts = z.object({
  what: z.string().describe('what happened'),
  where: z.string().optional(),
  got: z.string().optional(),
  expected: z.string().optional(),
  fix: z.string().optional().describe('what to do'),
})

export const modelTrialSchema = z.object({
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
})

type ModelTrial = z.input<typeof modelTrialSchema>

const REQUEST = { system: '', messages: [{ role: 'user', text: 'Say the word: ready' } as const], tools: [] }

export const TRY_MODEL_NEEDS = ['breaker', 'budgetLimits', 'clock', 'ids', 'kernelId', 'signals', 'store'] as const

/** Contract: never rejects. `open` may throw: then the model cannot be used, and the result says why. */
export async function tryModel(
  context: Needs<(typeof TRY_MODEL_NEEDS)[number]>,
  id: string,
  open: () => Model,
): Promise<ModelTrial> {
  const { breaker, clock, signals, ids, budgetLimits: purse, kernelId: kernel_id } = context
  const startedAt = clock.monotonic()
  const failed = { model: id, ok: false, latency_ms: null, usage: null, note: null }
  try {
    const spender = {
      ...{ kernel_id, agent_id: 'models test', dispatch_id: ids.next(), model: id },
      day: purse.dayOf(clock.budgetNow()),
    }
    const { usage } = await callWithinBudget(context, {
      ...{ model: open(), request: REQUEST, signal: signals.abort, spender },
    })
    breaker.recordOutcome({ model: id, code: null, at: clock.now() })
    const latency_ms = Math.round(clock.monotonic() - startedAt)
    const note = isOfflineModel(id) ? OFFLINE_NOTICE.text : null
    return { ...failed, ok: true, latency_ms, usage, code: null, error: null, error_parts: null, note }
  } catch (thrown) {
    const { code, message, parts } = asTirelessError(thrown)
    return { ...failed, code, error: message, error_parts: parts }
  }
}
