/** The scripted answer, and the interface of a wire format. Pure. */

import type { ChatRequest, Turn } from './script.ts'

export interface ScriptedReply {
  readonly text: string
  readonly reasoning?: string | undefined
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly args: string }[]
  /** null: the answer ends without a finish reason. */
  readonly finish: string | null
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number }
}

export function buildScriptedReply(turn: Turn, request: ChatRequest, turnNumber: number): ScriptedReply {
  const text = turn.text ?? ''
  const calls = (turn.calls ?? []).map(({ id, tool, args }, index) => ({
    id: id ?? `call_${turnNumber}_${index}`,
    tool,
    args: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
  }))
  const finish = turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = turn.usage ?? {
    input_tokens: estimateTokens(JSON.stringify(request.messages)),
    output_tokens: estimateTokens(text + calls.map((call) => call.args).join('')),
    cached_tokens: 0,
  }
  return { text, reasoning: turn.reasoning, calls, finish, usage }
}

const estimateTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)

/** A wire format: answers as a JSON body or as server-sent events, and errors. */
export interface WireFormat {
  jsonBody(said: ScriptedReply, request: ChatRequest, id: string): string
  /** One string per event. Without a finish reason, the final events are omitted. */
  sseEvents(said: ScriptedReply, request: ChatRequest, id: string): string[]
  /** The body of an error response; `errorEvent` is an error inside a stream. */
  errorBody(type: string, message: string): object
  errorEvent(type: string, message: string): string
}

/** Splits even short texts, to detect readers that take the first piece for the whole. */
export function splitPieces(text: string): string[] {
  const size = Math.min(Math.max(1, Math.ceil(text.length / 3)), 65_536)
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
}
