/** From what a provider said to an Answer, or to the reason why it is none. Pure. */

import type { LanguageModelV4FinishReason, LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { assertNever, type ErrorCode, TirelessError } from '../../../domain/error.ts'
import { isTokenCount } from '../../../domain/limits.ts'
import type { Answer, AskedCall, Usage } from '../../../domain/record.ts'
import type { ModelRequest } from '../../../ports/model.ts'
import { writeReasoning } from './reasoning.ts'

/** `notes`: the provider's own, for itself. */
export type HeardPart = { notes?: SharedV4ProviderMetadata | undefined } & (
  | { readonly kind: 'text' | 'reasoning'; text: string }
  | ({ readonly kind: 'call' } & AskedCall)
)

export interface Heard {
  readonly parts: readonly HeardPart[]
  /** Something of the protocol came. */
  readonly spoke: boolean
  readonly finish: LanguageModelV4FinishReason | undefined
  readonly usage: LanguageModelV4Usage | undefined
}

export function answerOf(heard: Heard, request: ModelRequest, provider: string, where: string): Answer {
  const { parts } = heard
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const calls = parts.flatMap((part) =>
    part.kind === 'call' ? [{ id: part.id, tool: part.tool, args: part.args }] : [],
  )
  const finish = finishOf(heard, calls.length > 0 ? 'calls' : 'stop', where)
  if (text.trim() === '' && calls.length === 0) {
    throw new TirelessError('model_empty', {
      what: 'the provider answered with neither text nor calls',
      where,
      got: `finish reason ${heard.finish?.raw}`,
    })
  }
  const reasoning = writeReasoning(provider, parts)
  return { text, calls, finish, usage: usageOf(heard, request), ...(reasoning === undefined ? {} : { reasoning }) }
}

/**
 * Only a reason that we know lets a call through:
 * - a refusal in words (`stop` or nothing on the wire, `content-filter` in the SDK) is an answer like any other;
 * - a content filter broke the answer off, and would do so again: `model_refused`, which is not retried;
 * - a reason that we do not know (local servers say `eos`, `end_turn` …) with text alone is a plain stop. With calls nobody can tell
 *   whether they are whole, so it is `model_cut`. So is no reason at all, and an empty one.
 */
function finishOf({ finish, spoke }: Heard, whole: 'calls' | 'stop', where: string): Answer['finish'] {
  const raw = finish?.raw
  const fail = (code: ErrorCode, what: string) =>
    new TirelessError(code, { what, where, got: `finish reason ${raw || 'missing'}` })
  if (!spoke) throw fail('model_garbled', "the answer is not the provider's protocol")
  switch (finish?.unified) {
    case 'stop':
      return whole
    case 'tool-calls':
      if (WITH_CALLS.has(raw)) return whole
      throw fail('model_cut', 'the provider ended an answer with calls for an unknown reason')
    case 'length':
      return 'length'
    case 'content-filter':
      if (raw === 'stop' || raw === undefined) return whole
      throw fail('model_refused', "the provider's content filter stopped the answer")
    case 'other':
      if (raw && whole === 'stop') return whole
      throw fail(
        'model_cut',
        raw ? 'the provider ended an answer with calls for an unknown reason' : 'the answer broke off',
      )
    case 'error':
    case 'interrupted':
    case undefined:
      throw fail('model_cut', 'the answer broke off')
    default:
      return assertNever(finish?.unified as never)
  }
}

/** The reasons with which an answer with calls is whole; OpenAI's responses give none. */
const WITH_CALLS: ReadonlySet<string | undefined> = new Set([
  'tool_calls',
  'function_call',
  'tool_use',
  'STOP',
  undefined,
])

/** A provider that does not count, or whose counts are none, is estimated: nothing at all would let every budget through. */
function usageOf({ usage, parts }: Heard, request: ModelRequest): Usage {
  const said = () => parts.map((part) => (part.kind === 'call' ? part.args : part.text)).join('')
  const { inputTokens, outputTokens } = usage ?? {}
  const [input, output] = [inputTokens?.total, outputTokens?.total]
  const [cached, written] = [inputTokens?.cacheRead, inputTokens?.cacheWrite]
  return {
    input_tokens: isTokenCount(input) ? input : estimate(JSON.stringify(request)),
    output_tokens: isTokenCount(output) ? output : estimate(said()),
    cached_tokens: isTokenCount(cached) ? cached : 0,
    ...(isTokenCount(written) && written > 0 ? { written_tokens: written } : {}),
  }
}

const estimate = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)
