/**
 * Parser: a text format for tool calls, for models without native tool calls. It instructs the model and reads its
 * answers.
 */

import type { RequestedCall } from '../domain/journal-record.ts'
import type { ToolSpec } from './model.ts'

/**
 * `text` is the final answer if there are no calls; `notes`: the reasons that the model wrote down (thought,
 * reflection).
 */
export type ParsedAnswer =
  | {
      readonly kind: 'said'
      readonly text: string
      readonly calls: readonly RequestedCall[]
      readonly notes?: Readonly<Record<string, string>>
    }
  /** The text is invalid. The reason is reported back to the model; no call of this text runs. */
  | { readonly kind: 'fault'; readonly reason: string }

export interface Parser {
  readonly name: string
  /**
   * Contract: returns the end of the system prompt: how to call these tools and how to answer. The same tools give the
   * same bytes.
   */
  instructions(tools: readonly ToolSpec[]): string
  /** Contract: pure, never throws; reads a call only from text that matches the format exactly (case 22). */
  parse(text: string): ParsedAnswer
}
