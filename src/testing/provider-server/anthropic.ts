/** Anthropic's Messages format. Pure. */

import type { ChatRequest } from './script.ts'
import { type ScriptedReply, splitPieces, type WireFormat } from './wire.ts'

export const anthropicFormat: WireFormat = {
  jsonBody: (answer, request, id) =>
    JSON.stringify({
      ...head(answer, request, id),
      content: contentBlocks(answer),
      stop_reason: stopReason(answer.finish),
      usage: formatUsage(answer),
    }),
  sseEvents,
  errorBody: (type, message) => ({ type: 'error', error: { type: ERRORS[type] ?? type, message } }),
  errorEvent: (type, message) => event('error', { error: { type, message } }),
}

/** Anthropic has no separate error type for a prompt that is too long. */
const ERRORS: Readonly<Record<string, string>> = { context_length_exceeded: 'invalid_request_error' }

const REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
}

const stopReason = (finish: string | null): string | null => (finish === null ? null : (REASONS[finish] ?? finish))

const head = (_: ScriptedReply, { model }: ChatRequest, id: string) => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  stop_sequence: null,
})

const formatUsage = ({ usage }: ScriptedReply) => ({
  input_tokens: usage.input_tokens - usage.cached_tokens,
  output_tokens: usage.output_tokens,
  cache_read_input_tokens: usage.cached_tokens,
  cache_creation_input_tokens: 0,
})

/** Arguments that are not JSON become a JSON string. */
function parseInput(args: string): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}

function contentBlocks({ text, reasoning, calls }: ScriptedReply): object[] {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'thinking', thinking: reasoning, signature: fakeSignature(reasoning) }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, tool, args }) => ({ type: 'tool_use', id, name: tool, input: parseInput(args) })),
  ]
}

const fakeSignature = (reasoning: string): string => `signed(${reasoning.length})`

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

function sseEvents(answer: ScriptedReply, request: ChatRequest, id: string): string[] {
  const delta = (index: number, part: object) => event('content_block_delta', { index, delta: part })
  const block = (index: number, start: object, deltas: readonly object[]) => [
    event('content_block_start', { index, content_block: start }),
    ...deltas.map((part) => delta(index, part)),
  ]
  const { text, reasoning, calls } = answer
  const blocks = [
    ...(reasoning === undefined
      ? []
      : [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              ...splitPieces(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
              { type: 'signature_delta', signature: fakeSignature(reasoning) },
            ],
          },
        ]),
    ...(text === ''
      ? []
      : [
          {
            start: { type: 'text', text: '' },
            deltas: splitPieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
          },
        ]),
    ...calls.map((call) => ({
      start: { type: 'tool_use', id: call.id, name: call.tool, input: {} },
      deltas: splitPieces(call.args).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    })),
  ]
  const events = [
    event('message_start', {
      message: {
        ...head(answer, request, id),
        content: [],
        stop_reason: null,
        usage: formatUsage({ ...answer, usage: { ...answer.usage, output_tokens: 0 } }),
      },
    }),
    event('ping', {}),
    ...blocks.flatMap(({ start, deltas }, index) => [
      ...block(index, start, deltas),
      event('content_block_stop', { index }),
    ]),
  ]
  if (answer.finish === null) return events
  return [
    ...events,
    event('message_delta', {
      delta: { stop_reason: stopReason(answer.finish), stop_sequence: null },
      usage: { output_tokens: answer.usage.output_tokens },
    }),
    event('message_stop', {}),
  ]
}
