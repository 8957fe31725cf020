/** The OpenAI chat-completions wire format: one answer as a JSON body, or as server-sent events. Pure. */

import type { ChatRequest, Turn } from './script.ts'

export interface Said {
  readonly text: string
  readonly reasoning?: string | undefined
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly args: string }[]
  /** null: the answer breaks off without one. */
  readonly finish: string | null
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number }
}

export function saidOf(turn: Turn, request: ChatRequest, n: number): Said {
  const text = turn.text ?? ''
  const calls = (turn.calls ?? []).map(({ id, tool, args }, index) => ({
    id: id ?? `call_${n}_${index}`,
    tool,
    args: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
  }))
  const finish = turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = turn.usage ?? {
    input_tokens: tokens(JSON.stringify(request.messages)),
    output_tokens: tokens(text + calls.map((call) => call.args).join('')),
    cached_tokens: 0,
  }
  return { text, reasoning: turn.reasoning, calls, finish, usage }
}

const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)

export function jsonBody(said: Said, request: ChatRequest, id: string): string {
  const message = {
    role: 'assistant',
    content: said.text === '' ? null : said.text,
    ...(said.reasoning === undefined ? {} : { reasoning_content: said.reasoning }),
    ...(said.calls.length === 0 ? {} : { tool_calls: said.calls.map(toolCall) }),
  }
  return JSON.stringify({
    ...head(request, id, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: said.finish }],
    usage: usageOf(said),
  })
}

/** One string per event. An answer without a finish reason has no [DONE] either: that is how a stream breaks off. */
export function sseEvents(said: Said, request: ChatRequest, id: string): string[] {
  const chunk = (fields: object) => sseEvent({ ...head(request, id, 'chat.completion.chunk'), ...fields })
  const delta = (part: object) => chunk({ choices: [{ index: 0, delta: part, finish_reason: null }] })
  const events = [
    delta({ role: 'assistant', content: '' }),
    ...pieces(said.reasoning ?? '').map((piece) => delta({ reasoning_content: piece })),
    ...pieces(said.text).map((piece) => delta({ content: piece })),
    ...said.calls.flatMap((call, index) => [
      delta({ tool_calls: [{ index, ...toolCall({ ...call, args: '' }) }] }),
      ...pieces(call.args).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ]
  if (said.finish === null) return events
  events.push(chunk({ choices: [{ index: 0, delta: {}, finish_reason: said.finish }] }))
  if (request.stream_options?.include_usage) events.push(chunk({ choices: [], usage: usageOf(said) }))
  return [...events, 'data: [DONE]\n\n']
}

export const sseEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`

/** Also a short text arrives in pieces, so that a reader which takes the first for the whole is found out. */
function pieces(text: string): string[] {
  const size = Math.min(Math.max(1, Math.ceil(text.length / 3)), 65_536)
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
}

const head = (request: ChatRequest, id: string, object: string) => ({ id, object, created: 0, model: request.model })

const toolCall = ({ id, tool, args }: Said['calls'][number]) => ({
  id,
  type: 'function',
  function: { name: tool, arguments: args },
})

const usageOf = ({ usage }: Said) => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  total_tokens: usage.input_tokens + usage.output_tokens,
  prompt_tokens_details: { cached_tokens: usage.cached_tokens },
})
