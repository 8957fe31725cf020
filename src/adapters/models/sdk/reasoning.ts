/**
 * What a provider wants back verbatim: its reasoning, signed or encrypted, and its notes on each part of the answer, in the order in which the
 * parts came. Marked with the provider's name: another one is shown nothing of it. Pure.
 */

import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Json } from '../../../domain/json.ts'
import type { HeardPart } from './answer.ts'

/** Text stands in the answer itself: here is only how much of it this part was. */
export type Trail = { readonly notes?: SharedV4ProviderMetadata } & (
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'text'; readonly length: number }
  | { readonly kind: 'call' }
)

interface Reasoning {
  readonly by: string
  readonly trail: readonly Trail[]
}

/** Contract: undefined where there is nothing to keep. */
export function writeReasoning(by: string, parts: readonly HeardPart[]): Json | undefined {
  const trail = parts.map(trailOf)
  if (!trail.some(({ kind, notes }) => kind === 'reasoning' || notes)) return undefined
  // JSON by the SDK's own types; the cast only says so.
  return { by, trail } satisfies Reasoning as unknown as Json
}

function trailOf(part: HeardPart): Trail {
  const notes = part.notes ? { notes: part.notes } : {}
  if (part.kind === 'call') return { kind: 'call', ...notes }
  if (part.kind === 'text') return { kind: 'text', length: part.text.length, ...notes }
  return { kind: 'reasoning', text: part.text, ...notes }
}

/** Contract: empty where the answer was not this provider's. */
export function readReasoning(json: Json | undefined, by: string): readonly Trail[] {
  const reasoning = json as unknown as Partial<Reasoning> | null | undefined
  return typeof reasoning === 'object' && reasoning?.by === by ? (reasoning.trail ?? []) : []
}
