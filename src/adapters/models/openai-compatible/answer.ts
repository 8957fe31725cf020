/** From what a provider said to an Answer, or to the reason why it is none. Pure. */

import type { LanguageModelV4FinishReason, LanguageModelV4ToolCall, LanguageModelV4Usage } from '@ai-sdk/provider'
import { assertNever, type ErrorCode, TirelessError } from '../../../domain/error.ts'
import type { Answer, Usage } from '../../../domain/record.ts'
import type { ModelRequest } from '../../../ports/model.ts'
import { writeReasoning } from './prompt.ts'

export interface Heard {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly LanguageModelV4ToolCall[]
  readonly finish: LanguageModelV4FinishReason | undefined
  readonly usage: LanguageModelV4Usage | undefined
}

export function answerOf(heard: Heard, request: ModelRequest, provider: string, where: string): Answer {
  const finish = finishOf(heard, where)
  if (heard.text.trim() === '' && heard.calls.length === 0) {
    throw new TirelessError('model_empty', {
      what: 'the provider answered with neither text nor calls',
      where,
      got: `finish reason ${heard.finish?.raw}`,
    })
  }
  const reasoning = writeReasoning({
    by: provider,
    text: heard.reasoning,
    signatures: Object.fromEntries(
      heard.calls.flatMap((call) => (call.providerMetadata ? [[call.toolCallId, call.providerMetadata]] : [])),
    ),
  })
  return {
    text: heard.text,
    calls: heard.calls.map((call) => ({ id: call.toolCallId, tool: call.toolName, args: call.input })),
    finish,
    usage: usageOf(heard, request),
    ...(reasoning === undefined ? {} : { reasoning }),
  }
}

/**
 * Only a reason that we know lets a call through:
 * - a refusal in words (`stop` on the wire, `content-filter` in the SDK) is an answer like any other;
 * - a content filter broke the answer off, and would do so again: `model_refused`, which is not retried;
 * - a reason that we do not know (local servers say `eos`, `end_turn` …) with text alone is a plain stop. With calls nobody can tell
 *   whether they are whole, so it is `model_cut`. So is no reason at all, and an empty one.
 */
function finishOf({ finish, calls }: Heard, where: string): Answer['finish'] {
  const whole = calls.length > 0 ? 'calls' : 'stop'
  const fail = (code: ErrorCode, what: string) =>
    new TirelessError(code, { what, where, got: `finish reason ${finish?.raw || 'missing'}` })
  if (!finish?.raw) throw fail('model_cut', 'the answer broke off')
  switch (finish.unified) {
    case 'stop':
    case 'tool-calls':
      return whole
    case 'length':
      return 'length'
    case 'content-filter':
      if (finish.raw === 'stop') return whole
      throw fail('model_refused', "the provider's content filter stopped the answer")
    case 'other':
      if (whole === 'stop') return whole
      throw fail('model_cut', 'the provider ended an answer with calls for an unknown reason')
    case 'error':
    case 'interrupted':
      throw fail('model_cut', 'the answer broke off')
    default:
      return assertNever(finish.unified)
  }
}

/** A provider that does not count is estimated: nothing at all would let every budget through. */
function usageOf({ usage, text, reasoning, calls }: Heard, request: ModelRequest): Usage {
  const said = () => text + reasoning + calls.map((call) => call.input).join('')
  return {
    input_tokens: usage?.inputTokens.total ?? estimate(JSON.stringify(request)),
    output_tokens: usage?.outputTokens.total ?? estimate(said()),
    cached_tokens: usage?.inputTokens.cacheRead ?? 0,
  }
}

const estimate = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)
