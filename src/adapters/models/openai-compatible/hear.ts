/** Listens to one answer, streamed or not. Nothing is judged here, except that an error part ends it. */

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4ToolCall } from '@ai-sdk/provider'
import type { Heard } from './answer.ts'
import { ErrorChunk } from './failure.ts'
import type { Watch } from './watch.ts'

type OnText = ((text: string) => void) | undefined

/** The SDK hands out calls at the end of the stream, also of one that broke off: then it adds an error part, or the iterator throws. */
export async function hearStream(
  chat: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  guard: Watch,
  onText: OnText,
): Promise<Heard> {
  const calls: LanguageModelV4ToolCall[] = []
  const heard = { text: '', reasoning: '', calls, finish: undefined, usage: undefined }
  let end: Pick<Heard, 'finish' | 'usage'> = heard
  const wireIds = new Map<number, string>()
  const { stream } = await chat.doStream({ ...call, includeRawChunks: true })
  for await (const part of stream) {
    if (part.type === 'error') throw part.error instanceof Error ? part.error : new ErrorChunk(wordOf(part.error))
    if (part.type !== 'stream-start') guard.part()
    if (part.type === 'raw') noteIds(wireIds, part.rawValue)
    if (part.type === 'text-delta') {
      heard.text += guard.grow(part.delta)
      tell(onText, part.delta)
    }
    if (part.type === 'reasoning-delta') heard.reasoning += guard.grow(part.delta)
    if (part.type === 'tool-input-delta') guard.grow(part.delta)
    if (part.type === 'tool-call') calls.push(part)
    if (part.type === 'finish') end = { finish: part.finishReason, usage: part.usage }
  }
  return { ...heard, ...end, calls: withIds(calls, wireIds) }
}

interface RawChunk {
  readonly choices?: readonly ({ readonly delta?: { readonly tool_calls?: unknown } | null } | null)[]
}

function noteIds(ids: Map<number, string>, chunk: unknown): void {
  const deltas = (chunk as RawChunk | null | undefined)?.choices?.[0]?.delta?.tool_calls
  if (!Array.isArray(deltas)) return
  for (const { index, id } of deltas.filter((delta) => delta !== null)) {
    if (typeof index === 'number' && typeof id === 'string' && id !== '' && !ids.has(index)) ids.set(index, id)
  }
}

/**
 * While streaming, the SDK gives a call whose id was used before a random id of its own. Then nobody could see that the model used one id
 * twice, and what is refused without a stream would run with one. So the ids are put back as they were on the wire.
 */
function withIds(calls: LanguageModelV4ToolCall[], ids: ReadonlyMap<number, string>): LanguageModelV4ToolCall[] {
  if (ids.size !== calls.length) return calls
  const inOrder = [...ids].sort(([a], [b]) => a - b).map(([, id]) => id)
  return calls.map((call, position) => ({ ...call, toolCallId: inOrder[position] ?? call.toolCallId }))
}

export async function hearBody(
  chat: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  guard: Watch,
  onText: OnText,
): Promise<Heard> {
  const { content, finishReason, usage } = await chat.doGenerate(call)
  const calls: LanguageModelV4ToolCall[] = []
  const heard = { text: '', reasoning: '', calls, finish: finishReason, usage }
  for (const part of content) {
    if (part.type === 'text') heard.text += guard.grow(part.text)
    if (part.type === 'reasoning') heard.reasoning += guard.grow(part.text)
    if (part.type === 'tool-call') calls.push({ ...part, input: guard.grow(part.input) })
  }
  if (heard.text !== '') tell(onText, heard.text)
  return heard
}

function tell(onText: OnText, text: string): void {
  try {
    onText?.(text)
  } catch {
    // I9: telling cannot fail the teller.
  }
}

function wordOf(error: unknown): string {
  return String(typeof error === 'object' && error !== null && 'message' in error ? error.message : error)
}
