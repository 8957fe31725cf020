/**
 * Reads one response, streamed or not, without checking it. Only an error part in the stream ends the reading early.
 */

import {
  EmptyResponseBodyError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import { StreamError } from './classify-error.ts'
import type { RequestMonitor } from './idle-timeout.ts'
import type { ProviderResponse, ResponsePart } from './parse-answer.ts'

type OnText = ((text: string) => void) | undefined
type GrowingPart = Extract<ResponsePart, { kind: 'text' | 'reasoning' }>

/** The SDK emits calls when a stream ends, even a broken one; then an error part follows, or the iterator throws. */
export async function readStream(
  chat: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  monitor: RequestMonitor,
  onText: OnText,
): Promise<ProviderResponse> {
  const parts: ResponsePart[] = []
  const growing = new Map<string, GrowingPart>()
  const appendPart = (
    kind: GrowingPart['kind'],
    id: string,
    text: string,
    notes: SharedV4ProviderMetadata | undefined,
  ): void => {
    const key = `${kind} ${id}`
    const part = growing.get(key) ?? { kind, text: '' }
    if (!growing.has(key)) parts.push(part)
    growing.set(key, part)
    part.text += monitor.countText(text)
    if (notes) part.notes = notes
  }
  let ending: Pick<ProviderResponse, 'finish' | 'usage'> = { finish: undefined, usage: undefined }
  const wireIds = new Map<number, string>()
  const { stream } = await chat.doStream({ ...call, includeRawChunks: true })
  for await (const part of stream) {
    if (part.type === 'error') throw part.error instanceof Error ? part.error : new StreamError(part.error)
    if (part.type === 'raw') collectIds(wireIds, part.rawValue)
    if (part.type !== 'stream-start' && part.type !== 'finish') monitor.recordEvent()
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        appendPart('text', part.id, '', part.providerMetadata)
        break
      case 'text-delta':
        appendPart('text', part.id, part.delta, part.providerMetadata)
        notify(onText, part.delta)
        break
      case 'reasoning-start':
      case 'reasoning-end':
        appendPart('reasoning', part.id, '', part.providerMetadata)
        break
      case 'reasoning-delta':
        appendPart('reasoning', part.id, part.delta, part.providerMetadata)
        break
      case 'tool-input-delta':
        monitor.countText(part.delta)
        break
      case 'tool-call':
        parts.push(callPart(part))
        break
      case 'finish':
        ending = { finish: part.finishReason, usage: part.usage }
    }
  }
  if (!monitor.hasEvents()) throw new EmptyResponseBodyError({ message: "no event of the provider's protocol" })
  return { parts: restoreIds(parts, wireIds), ...ending }
}

interface RawChunk {
  readonly choices?: readonly ({ readonly delta?: { readonly tool_calls?: unknown } | null } | null)[]
}

/** Collects the ids of calls in raw chunks. Only Chat Completions has them there. */
function collectIds(ids: Map<number, string>, chunk: unknown): void {
  const deltas = (chunk as RawChunk | null | undefined)?.choices?.[0]?.delta?.tool_calls
  if (!Array.isArray(deltas)) return
  for (const { index, id } of deltas.filter((delta) => delta !== null)) {
    if (typeof index === 'number' && typeof id === 'string' && id !== '' && !ids.has(index)) ids.set(index, id)
  }
}

/**
 * Restores the original ids of calls. While streaming, the SDK replaces a duplicate id by a random one, which would
 * hide the duplicate from the engine.
 */
function restoreIds(parts: readonly ResponsePart[], ids: ReadonlyMap<number, string>): readonly ResponsePart[] {
  if (ids.size !== parts.filter(({ kind }) => kind === 'call').length) return parts
  const inOrder = [...ids].sort(([a], [b]) => a - b).map(([, id]) => id)
  let position = 0
  return parts.map((part) => (part.kind === 'call' ? { ...part, id: inOrder[position++] ?? part.id } : part))
}

export async function readWholeBody(
  chat: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  monitor: RequestMonitor,
  onText: OnText,
): Promise<ProviderResponse> {
  const { content, finishReason, usage } = await chat.doGenerate(call)
  const parts = content.flatMap((part): ResponsePart[] => {
    if (part.type === 'tool-call') return [callPart({ ...part, input: monitor.countText(part.input) })]
    if (part.type !== 'text' && part.type !== 'reasoning') return []
    return [{ kind: part.type, text: monitor.countText(part.text), notes: part.providerMetadata }]
  })
  for (const part of parts) if (part.kind === 'text') notify(onText, part.text)
  return { parts, finish: finishReason, usage }
}

interface SdkCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
  readonly providerMetadata?: SharedV4ProviderMetadata
}

const callPart = ({ toolCallId, toolName, input, providerMetadata }: SdkCall): ResponsePart => ({
  kind: 'call',
  id: toolCallId,
  tool: toolName,
  args: input,
  notes: providerMetadata,
})

function notify(onText: OnText, text: string): void {
  try {
    if (text !== '') onText?.(text)
  } catch {
    // I9: an error of the listener is ignored.
  }
}
