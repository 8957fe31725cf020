/** What is said in answer to a request, whatever the format; and what a wire format is. Pure. */

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

/** One wire format: an answer as a JSON body or as server-sent events, and how it tells of trouble. */
export interface Wire {
  jsonBody(said: Said, request: ChatRequest, id: string): string
  /** One string per event. An answer without a finish reason breaks off: nothing after it says that it is over. */
  sseEvents(said: Said, request: ChatRequest, id: string): string[]
  /** Trouble as a whole body, as the body of a status, or in the middle of a stream. */
  errorBody(type: string, message: string): object
  errorEvent(type: string, message: string): string
}

/** Also a short text arrives in pieces, so that a reader which takes the first for the whole is found out. */
export function pieces(text: string): string[] {
  const size = Math.min(Math.max(1, Math.ceil(text.length / 3)), 65_536)
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
}
