/** Parser: how a model without native tool calls writes its decisions, and how they are read. Format and reader belong together. */

import type { AskedCall } from '../domain/record.ts'
import type { ToolSpec } from './model.ts'

/** What a text says. `text` is the answer where there are no calls; `notes` is what the model said about its reasons (thought, reflection). */
export type Parsed =
  | {
      readonly kind: 'said'
      readonly text: string
      readonly calls: readonly AskedCall[]
      readonly notes?: Readonly<Record<string, string>>
    }
  /** Told back to the model; nothing of it is acted on. */
  | { readonly kind: 'fault'; readonly reason: string }

export interface Parser {
  readonly name: string
  /** Contract: byte-stable; goes behind the system prompt. Says how to call these tools and how to answer. */
  instructions(tools: readonly ToolSpec[]): string
  /** Contract: pure, never throws, and never makes a call of anything that is not exactly the format (case 22). */
  parse(text: string): Parsed
}
