/** Converts a provider's response to an Answer, or throws the reason why it is invalid. Pure. */

import type { LanguageModelV4FinishReason, LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { assertNever, type ErrorCode, TirelessError } from '../../../domain/error.ts'
import type { ModelAnswer, RequestedCall, Usage } from '../../../domain/journal-record.ts'
import { isTokenCount } from '../../../domain/limits.ts'
import type { ModelRequest } from '../../../ports/model.ts'
import { writeReasoning } from './reasoning-trail.ts'

/** `notes`: the provider's metadata, sent back to it unchanged. */
export type ResponsePart = { notes?: SharedV4ProviderMetadata | undefined } & (
  | { readonly kind: 'text' | 'reasoning'; text: string }
  | ({ readonly kind: 'call' } & RequestedCall)
)

export interface ProviderResponse {
  readonly parts: readonly ResponsePart[]
  readonly finish: LanguageModelV4FinishReason | undefined
  readonly usage: LanguageModelV4Usage | undefined
}

export function parseAnswer(
  heard: ProviderResponse,
  request: ModelRequest,
  provider: string,
  where: string,
): ModelAnswer {
  const { parts } = heard
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const calls = parts.flatMap((part) =>
    part.kind === 'call' ? [{ id: part.id, tool: part.tool, args: part.args }] : [],
  )
  const finish = checkFinish(heard, calls.length > 0 ? 'calls' : 'stop', where)
  if (text.trim() === '' && calls.length === 0) {
    throw new TirelessError('model_empty', {
      what: 'the answer has neither text nor calls',
      where,
      got: `finish reason ${heard.finish?.raw}`,
    })
  }
  const reasoning = writeReasoning(provider, parts)
  return { text, calls, finish, usage: readUsage(heard, request), ...(reasoning === undefined ? {} : { reasoning }) }
}

/**
 * Calls are accepted only with a known finish reason:
 * - a refusal as text (raw reason `stop` or none, although the SDK says `content-filter`) is a normal answer;
 * - an answer stopped by a content filter is `model_refused`, which is not retried;
 * - an unknown reason (local servers send `eos`, `end_turn` …) with text alone is a normal stop. With calls it is
 *   `model_cut`, because the calls may be incomplete. A missing or empty reason is `model_cut`, too.
 */
function checkFinish({ finish }: ProviderResponse, complete: 'calls' | 'stop', where: string): ModelAnswer['finish'] {
  const raw = finish?.raw
  const fail = (code: ErrorCode, what: string) =>
    new TirelessError(code, { what, where, got: `finish reason ${raw || 'missing'}` })
  switch (finish?.unified) {
    case 'stop':
      return complete
    case 'tool-calls':
      if (CALL_FINISH_REASONS.has(raw)) return complete
      throw fail('model_cut', 'an answer with calls ended for an unknown reason')
    case 'length':
      return 'length'
    case 'content-filter':
      if (raw === 'stop' || raw === undefined) return complete
      throw fail('model_refused', "the provider's content filter stopped the answer")
    case 'other':
      if (raw && complete === 'stop') return complete
      throw fail('model_cut', raw ? 'an answer with calls ended for an unknown reason' : 'the answer is incomplete')
    case 'error':
    case 'interrupted':
    case undefined:
      throw fail('model_cut', 'the answer is incomplete')
    default:
      return assertNever(finish?.unified as never)
  }
}

/** Raw finish reasons of complete answers with calls; OpenAI's Responses API sends none. */
const CALL_FINISH_REASONS: ReadonlySet<string | undefined> = new Set([
  'tool_calls',
  'function_call',
  'tool_use',
  'STOP',
  undefined,
])

/** Missing or invalid counts are estimated, because zero would bypass every budget. */
function readUsage({ usage, parts }: ProviderResponse, request: ModelRequest): Usage {
  const outputText = () => parts.map((part) => (part.kind === 'call' ? part.args : part.text)).join('')
  const { inputTokens, outputTokens } = usage ?? {}
  const [input, output] = [inputTokens?.total, outputTokens?.total]
  const [cached, written] = [inputTokens?.cacheRead, inputTokens?.cacheWrite]
  return {
    input_tokens: isTokenCount(input) ? input : estimate(JSON.stringify(request)),
    output_tokens: isTokenCount(output) ? output : estimate(outputText()),
    cached_tokens: isTokenCount(cached) ? cached : 0,
    ...(isTokenCount(written) && written > 0 ? { written_tokens: written } : {}),
  }
}

const estimate = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)
