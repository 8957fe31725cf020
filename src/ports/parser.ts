/** Parser: a text format for tool calls, for models without native ones: the instructions and the reader. */

import type { RequestedCall } from '../domain/journal-record.ts'
import type { ToolSpec } from './model.ts'

/** `text` is the answer if there are no calls; `notes` are the model's reasons (thought, reflection). */
export type ParsedAnswer =
  | {
      readonly kind: 'said'
      readonly text: string
      readonly calls: readonly RequestedCall[]
      readonly notes?: Readonly<Record<string, string>>
    }
  /** Reported back to the model; no call of this text runs. */
  | { readonly kind: 'fault'; readonly reason: string }

export interface Parser {
  readonly name: string
  /** Contract: byte-stable text for the end of the system prompt: how to call these tools and how to answer. */
  instructions(tools: readonly ToolSpec[]): string
  /** Contract: pure, never throws; reads a call only from text that matches the format exactly (case 22). */
  parse(text: string): ParsedAnswer
}
