/** A language model, one call at a time. Retries, budgets and memory are the engine's, never the adapter's. */

import type { Json } from '../domain/json.ts'
import type { Answer, Usage } from '../domain/record.ts'

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, Json>>
}

export type Message =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly { readonly id: string; readonly tool: string; readonly args: Json }[]
      readonly reasoning?: Json
    }
  | {
      readonly role: 'tool'
      readonly call_id: string
      readonly tool: string
      readonly text: string
      readonly ok: boolean
    }

export interface ModelRequest {
  readonly system: string
  /** Contract: append-only between cuts; an adapter must not change or keep it. */
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
}

export interface Model {
  /** `provider/model`, as the configuration and the journal name it. */
  readonly id: string
  /** Contract: pure; US dollars. Absent where the price is not known. */
  cost?(usage: Usage): number
  /**
   * Contract: exactly one request to the provider. Resolves only with a whole answer: either a finish reason that says the
   * model stopped by itself, or `length`. Everything else throws a TirelessError with a `model_*` code: a stream that was cut,
   * an error part, an answer with neither text nor calls, a body that is not the protocol. Aborts with `signal` (code `aborted`).
   * `onText` may be called with pieces of text as they arrive; what it does is no concern of the adapter.
   */
  call(
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly onText?: (text: string) => void },
  ): Promise<Answer>
}

export interface Models {
  /** The id of the configured default. */
  readonly defaultId: string
  /** Contract: the model of that name, or of the configured default; throws `model_unknown` with the names there are. */
  get(id?: string): Model
}
