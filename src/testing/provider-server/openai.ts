/** OpenAI's Chat Completions format. Pure. */

import type { ChatRequest } from './script.ts'
import { type ScriptedReply, splitPieces, type WireFormat } from './wire.ts'

export const openAIFormat: WireFormat = {
  jsonBody,
  sseEvents,
  errorBody: (type, message) => ({ error: { message, type, code: type } }),
  errorEvent: (type, message) => sseEvent({ error: { message, type, code: type } }),
}

function jsonBody(answer: ScriptedReply, request: ChatRequest, id: string): string {
  const message = {
    role: 'assistant',
    content: answer.text === '' ? null : answer.text,
    ...(answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning }),
    ...(answer.calls.length === 0 ? {} : { tool_calls: answer.calls.map(toolCall) }),
  }
  return JSON.stringify({
    ...head(request, id, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: answer.finish }],
    usage: formatUsage(answer),
  })
}

function sseEvents(answer: ScriptedReply, request: ChatRequest, id: string): string[] {
  const chunk = (fields: object) => sseEvent({ ...head(request, id, 'chat.completion.chunk'), ...fields })
  const delta = (part: object) => chunk({ choices: [{ index: 0, delta: part, finish_reason: null }] })
  const events = [
    delta({ role: 'assistant', content: '' }),
    ...splitPieces(answer.reasoning ?? '').map((piece) => delta({ reasoning_content: piece })),
    ...splitPieces(answer.text).map((piece) => delta({ content: piece })),
    ...answer.calls.flatMap((call, index) => [
      delta({ tool_calls: [{ index, ...toolCall({ ...call, args: '' }) }] }),
      ...splitPieces(call.args).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ]
  if (answer.finish === null) return events
  events.push(chunk({ choices: [{ index: 0, delta: {}, finish_reason: answer.finish }] }))
  if (request.stream_options?.include_usage) events.push(chunk({ choices: [], usage: formatUsage(answer) }))
  return [...events, 'data: [DONE]\n\n']
}

const sseEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`

const head = (request: ChatRequest, id: string, object: string) => ({ id, object, created: 0, model: request.model })

const toolCall = ({ id, tool, args }: ScriptedReply['calls'][number]) => ({
  id,
  type: 'function',
  function: { name: tool, arguments: args },
})

const formatUsage = ({ usage }: ScriptedReply) => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  total_tokens: usage.input_tokens + usage.output_tokens,
  prompt_tokens_details: { cached_tokens: usage.cached_tokens },
})
