/** Listens to one answer, streamed or not. Nothing is judged here, except that an error part ends it. */

import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Heard, HeardPart } from './answer.ts'
import { ErrorChunk } from './failure.ts'
import type { Watch } from './watch.ts'

type OnText = ((text: string) => void) | undefined
type Growing = Extract<HeardPart, { kind: 'text' | 'reasoning' }>

/** The SDK hands out calls at the end of the stream, also of one that broke off: then it adds an error part, or the iterator throws. */
export async function hearStream(
  chat: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  guard: Watch,
  onText: OnText,
): Promise<Heard> {
  const parts: HeardPart[] = []
  const growing = new Map<string, Growing>()
  const grow = (kind: Growing['kind'], id: string, text: string, notes: SharedV4ProviderMetadata | undefined): void => {
    const key = `${kind} ${id}`
    const part = growing.get(key) ?? { kind, text: '' }
    if (!growing.has(key)) parts.push(part)
    growing.set(key, part)
    part.text += guard.grow(text)
    if (notes) part.notes = notes
  }
  let end: Pick<Heard, 'finish' | 'usage'> = { finish: undefined, usage: undefined }
  const wireIds = new Map<number, string>()
  const { stream } = await chat.doStream({ ...call, includeRawChunks: true })
  for await (const part of stream) {
    if (part.type === 'error') throw part.error instanceof Error ? part.error : new ErrorChunk(part.error)
    if (part.type === 'raw') noteIds(wireIds, part.rawValue)
    if (part.type !== 'stream-start' && part.type !== 'finish') guard.part()
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        grow('text', part.id, '', part.providerMetadata)
        break
      case 'text-delta':
        grow('text', part.id, part.delta, part.providerMetadata)
        tell(onText, part.delta)
        break
      case 'reasoning-start':
      case 'reasoning-end':
        grow('reasoning', part.id, '', part.providerMetadata)
        break
      case 'reasoning-delta':
        grow('reasoning', part.id, part.delta, part.providerMetadata)
        break
      case 'tool-input-delta':
        guard.grow(part.delta)
        break
      case 'tool-call':
        parts.push(callPart(part))
        break
      case 'finish':
        end = { finish: part.finishReason, usage: part.usage }
    }
  }
  return { parts: withIds(parts, wireIds), spoke: guard.spoke(), ...end }
}

interface RawChunk {
  readonly choices?: readonly ({ readonly delta?: { readonly tool_calls?: unknown } | null } | null)[]
}

/** Of OpenAI's chat completions; the other protocols have nothing of the kind. */
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
function withIds(parts: readonly HeardPart[], ids: ReadonlyMap<number, string>): readonly HeardPart[] {
  if (ids.size !== parts.filter(({ kind }) => kind === 'call').length) return parts
  const inOrder = [...ids].sort(([a], [b]) => a - b).map(([, id]) => id)
  let position = 0
  return parts.map((part) => (part.kind === 'call' ? { ...part, id: inOrder[position++] ?? part.id } : part))
}

export async function hearBody(
  chat: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  guard: Watch,
  onText: OnText,
): Promise<Heard> {
  const { content, finishReason, usage } = await chat.doGenerate(call)
  const parts = content.flatMap((part): HeardPart[] => {
    if (part.type === 'tool-call') return [callPart({ ...part, input: guard.grow(part.input) })]
    if (part.type !== 'text' && part.type !== 'reasoning') return []
    return [{ kind: part.type, text: guard.grow(part.text), notes: part.providerMetadata }]
  })
  for (const part of parts) if (part.kind === 'text') tell(onText, part.text)
  return { parts, spoke: true, finish: finishReason, usage }
}

interface SdkCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
  readonly providerMetadata?: SharedV4ProviderMetadata
}

const callPart = ({ toolCallId, toolName, input, providerMetadata }: SdkCall): HeardPart => ({
  kind: 'call',
  id: toolCallId,
  tool: toolName,
  args: input,
  notes: providerMetadata,
})

function tell(onText: OnText, text: string): void {
  try {
    if (text !== '') onText?.(text)
  } catch {
    // I9: telling cannot fail the teller.
  }
}
