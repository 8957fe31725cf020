/** A language model, one call at a time. Retries, budgets and memory are the engine's, never the adapter's. */

import type { Json } from '../domain/json.ts'
import type { Price } from '../domain/money.ts'
import type { Answer } from '../domain/record.ts'

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, Json>>
}

export interface Image {
  /** Such as `image/png`. */
  readonly media_type: string
  /** In base64. */
  readonly data: string
}

export type Message =
  | { readonly role: 'user'; readonly text: string; readonly images?: readonly Image[] }
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
      readonly images?: readonly Image[]
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
  /** null: nobody has said what it costs, so it is not asked while money is limited. Absent: whoever made it answers for its cost. */
  readonly price?: Price | null
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

/** A model, and why it is the one. */
export interface Choice {
  readonly id: string
  readonly why: string
}

/** For whom, or for what, a model is wanted. */
export interface Wanted {
  /** By name: then it is that one or none. */
  readonly model?: string | undefined
  readonly agent?: string | undefined
  readonly phase?: 'planner' | undefined
  /** What was chosen for the chat, or the channel, that it is done for. */
  readonly selected?: string | undefined
}

/** A model that can be asked, or why it cannot. */
export interface ModelEntry {
  readonly id: string
  readonly provider: string
  readonly source: 'configured' | 'found' | 'built in'
  readonly key: 'set' | 'missing' | 'none'
  readonly is_default: boolean
  readonly why: string | null
  /** null: not known. */
  readonly price: Price | null
  readonly problem: string | null
}

export interface Models {
  /** The id of the default, as far as is known without looking for it. */
  readonly defaultId: string
  /** Contract: the default, looked for once where nobody named one; never rejects. */
  choice(): Promise<Choice>
  /** Contract: the model of that name, or of the default; throws `model_unknown` with the names there are. */
  get(id?: string): Model
  /** Contract: the ids to ask, in order: the one that is wanted, then those that may stand in for it. */
  chain(wanted?: Wanted): Promise<readonly string[]>
  /** Contract: asks no provider. */
  list(): Promise<readonly ModelEntry[]>
}

/** Contract: one model for everything. */
export function onlyModel(model: Model): Models {
  const why = 'it is the only one'
  return {
    defaultId: model.id,
    choice: async () => ({ id: model.id, why }),
    get: () => model,
    chain: async () => [model.id],
    list: async () => [
      {
        id: model.id,
        provider: model.id.slice(0, Math.max(0, model.id.indexOf('/'))),
        source: 'configured',
        key: 'none',
        is_default: true,
        why,
        price: model.price ?? null,
        problem: null,
      },
    ],
  }
}
