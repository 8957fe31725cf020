/** Service `ai`: asks the configured models outside of runs, within the budget. */

import { z } from 'zod'
import { isWorthFallback } from '../domain/breaker.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { callWithinBudget, costUsd } from '../engine/request/budget-reservation.ts'
import type { Engine } from '../engine/run.ts'
import type { Ai, AiAnswer } from '../ports/agent-services.ts'
import { withDeadline } from '../ports/deadline.ts'
import type { ModelMessage, ModelRequest } from '../ports/model.ts'
import { checkArguments } from './check-arguments.ts'

/** Time limit of one request. */
const CALL_MS = 10 * 60_000

const message = z.strictObject({ role: z.enum(['user', 'assistant']), text: z.string() })
const argumentsSchema = z.object({
  messages: z.union([z.string().trim().min(1), z.array(message).min(1)]),
  options: z.strictObject({
    system: z.string().optional(),
    model: z.string().min(1).optional(),
    agent: z.string().min(1).max(100).optional(),
    signal: z.instanceof(AbortSignal).optional(),
  }),
})

/** `kernelId`: of the kernel for which the money is booked. */
export function createAi(engine: Engine, kernelId: () => string): Ai {
  return {
    async chat(messages, options = {}) {
      const given = checkArguments('ai.chat', argumentsSchema, { messages, options })
      const { system = '', model, agent, signal = new AbortController().signal } = given.options
      const request: ModelRequest = { system, messages: toMessages(given.messages), tools: [] }
      const chain = await engine.models.fallbackChain({ model, agent })
      for (const [i, id] of chain.entries()) {
        try {
          return await ask(engine, id, request, { kernelId: kernelId(), agent: agent ?? 'ai', signal })
        } catch (thrown) {
          if (i === chain.length - 1 || !isWorthFallback(asTirelessError(thrown).code)) throw thrown
        }
      }
      throw new TirelessError('model_unknown', 'no model is configured')
    },
  }
}

const toMessages = (messages: string | readonly z.infer<typeof message>[]): readonly ModelMessage[] =>
  (typeof messages === 'string' ? [{ role: 'user' as const, text: messages }] : messages).map(({ role, text }) =>
    role === 'user' ? { role, text } : { role, text, calls: [] },
  )

interface Asking {
  readonly kernelId: string
  readonly agent: string
  readonly signal: AbortSignal
}

async function ask(
  engine: Engine,
  id: string,
  request: ModelRequest,
  { kernelId: kernel_id, agent: agent_id, signal }: Asking,
): Promise<AiAnswer> {
  const { clock, ids, models, breaker, budgetLimits } = engine
  const model = models.get(id)
  const spender = {
    kernel_id,
    agent_id,
    dispatch_id: ids.next(),
    model: id,
    day: budgetLimits.dayOf(clock.budgetNow()),
  }
  const late = (): never => {
    throw new TirelessError('model_timeout', `model ${id} did not answer ai.chat() within ${CALL_MS / 60_000} minutes`)
  }
  try {
    const answer = await withDeadline(
      { clock, ms: CALL_MS, stop: signal },
      (over) => callWithinBudget(engine, { model, request, signal: over, spender }),
      () => {
        if (signal.aborted) throw new TirelessError('aborted', 'ai.chat() was aborted')
        return late()
      },
    )
    breaker.recordOutcome({ model: id, code: null, at: clock.now() })
    return { text: answer.text, model: id, usage: answer.usage, usd: costUsd(model, answer) ?? null }
  } catch (thrown) {
    const { code, retryAfterMs } = asTirelessError(thrown)
    if (code.startsWith('model_')) breaker.recordOutcome({ model: id, code, at: clock.now(), retryAfterMs })
    throw thrown
  }
}
