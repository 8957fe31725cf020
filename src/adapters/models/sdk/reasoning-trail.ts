/**
 * Data that a provider expects back verbatim: its signed or encrypted reasoning and its metadata of each part, in
 * order. Stored with the provider's name, because no other provider may receive it. Pure.
 */

import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Json } from '../../../domain/json.ts'
import type { ResponsePart } from './parse-answer.ts'

/** One part of an answer. Text is in the answer itself, so only its length is kept here. */
export type TrailEntry = { readonly notes?: SharedV4ProviderMetadata } & (
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'text'; readonly length: number }
  | { readonly kind: 'call' }
)

interface Reasoning {
  readonly by: string
  readonly trail: readonly TrailEntry[]
}

/** Contract: undefined if there is nothing to keep. */
export function writeReasoning(by: string, parts: readonly ResponsePart[]): Json | undefined {
  const trail = parts.map(trailEntry)
  if (!trail.some(({ kind, notes }) => kind === 'reasoning' || notes)) return undefined
  // The SDK's types guarantee JSON; the cast only states it.
  return { by, trail } satisfies Reasoning as unknown as Json
}

function trailEntry(part: ResponsePart): TrailEntry {
  const notes = part.notes ? { notes: part.notes } : {}
  if (part.kind === 'call') return { kind: 'call', ...notes }
  if (part.kind === 'text') return { kind: 'text', length: part.text.length, ...notes }
  return { kind: 'reasoning', text: part.text, ...notes }
}

/** Contract: empty if the answer came from another provider. */
export function readReasoning(json: Json | undefined, by: string): readonly TrailEntry[] {
  const reasoning = json as unknown as Partial<Reasoning> | null | undefined
  return typeof reasoning === 'object' && reasoning?.by === by ? (reasoning.trail ?? []) : []
}
