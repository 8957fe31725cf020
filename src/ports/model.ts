/** Model: a language model, one call at a time. Retries, budgets and memory belong to the engine, not to an adapter. */

import type { ModelAnswer } from '../domain/journal-record.ts'
import type { Json } from '../domain/json.ts'
import type { Price } from '../domain/money.ts'

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, Json>>
}

export interface Image {
  /** For example `image/png`. */
  readonly media_type: string
  /** Base64. */
  readonly data: string
}

export type ModelMessage =
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
  /** Contract: only grows between cuts; an adapter must not modify or keep it. */
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolSpec[]
}

export interface Model {
  /** `provider/model`, as in the configuration and the journal. */
  readonly id: string
  /**
   * null: the price is unknown, so the model is not called while a money limit is set. Absent: calls are not priced.
   */
  readonly price?: Price | null
  /**
   * Contract: sends exactly one request. Resolves with a complete answer, or with one that the provider cut at its
   * length limit (`finish: 'length'`). Throws a TirelessError with a `model_*` code for anything else: an interrupted
   * stream, an error inside the stream, an answer without text and calls, a response outside the protocol. Throws
   * `aborted` after `signal` aborts. May call `onText` with pieces of text as they arrive.
   */
  call(
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly onText?: (text: string) => void },
  ): Promise<ModelAnswer>
  /**
   * Contract: whether the model does what the task says; `tools`: the names of the tools that it may call. Absent: the
   * model understands language, so only its answer shows it.
   */
  canDo?(task: string, tools: readonly string[]): boolean
}

/** Adds models of a user's own; a configuration names them like any others (`mine/fast`). */
export interface ModelProvider {
  /** The part of a model's id before the slash. Contract: letters, digits, `_` and `-`; no built-in provider. */
  readonly name: string
  /** The parts after the slash. */
  readonly models: readonly string[]
  /**
   * Contract: called when the model is first used. Without a price, here or in the configuration (`models.prices`,
   * which takes precedence), the model is not called while a money limit is set. A call that is silent for longer than
   * `models.timeout` has failed. An error that is no TirelessError counts as `model_cut`: it may have cost money.
   */
  open(model: string): Pick<Model, 'price' | 'call'>
}

/** A model object of an AI SDK provider package, as `anthropic('…')` returns it. */
export interface ProviderModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(options: never): PromiseLike<unknown>
}

/** Wherever a program gives a model. `price`: without it, the model is not called while a money limit is set. */
export type GivenModel = Model | ProviderModel | { readonly model: ProviderModel; readonly price?: Price }

/** A model, and why it was chosen. */
export interface ModelChoice {
  readonly id: string
  readonly why: string
  /** A program that uses the library supplied the model itself. */
  readonly isSupplied?: true
}

/** The built-in model without a network is a stand-in: it follows rules and understands no language. */
export const isOfflineModel = (id: string): boolean => id.startsWith('offline/')

/** The environment variable of a provider's key, and whether this process has it. */
export interface KeyVariable {
  readonly provider: string
  readonly variable: string
  readonly is_set: boolean
}

/** Criteria for choosing a model. */
export interface ModelQuery {
  /** The exact id: this model or none. */
  readonly model?: string | undefined
  readonly agent?: string | undefined
  readonly phase?: 'planner' | undefined
  /** The model selected for the chat or channel of the work. */
  readonly selected?: string | undefined
}

/** An entry of `models list`. `problem`: why the model cannot be used. */
export interface ModelEntry {
  readonly id: string
  readonly provider: string
  readonly source: 'configured' | 'found' | 'built in' | 'plugin'
  readonly key: 'set' | 'missing' | 'none'
  readonly is_default: boolean
  readonly why: string | null
  /** null: unknown. */
  readonly price: Price | null
  readonly problem: string | null
}

export interface Models {
  /** Id of the default model; the offline model, if the default is not configured and not detected yet. */
  readonly defaultId: string
  /** Contract: returns the default model; detects it once if none is configured; never rejects. */
  choice(): Promise<ModelChoice>
  /**
   * Contract: returns the model with this id, or the default model; throws `model_unknown` and lists the known names.
   */
  get(id?: string): Model
  /** Contract: returns the ids to try in order: the chosen model, then its fallbacks. */
  fallbackChain(wanted?: ModelQuery): Promise<readonly string[]>
  /** Contract: contacts no provider. */
  list(): Promise<readonly ModelEntry[]>
  /** Contract: one entry for each known provider with a key. */
  keys(): readonly KeyVariable[]
}

/** Contract: offers this model only; every request uses it. */
export function singleModel(model: Model): Models {
  const why = 'the only model'
  return {
    defaultId: model.id,
    choice: async () => ({ id: model.id, why, isSupplied: true }),
    get: () => model,
    fallbackChain: async () => [model.id],
    keys: () => [],
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
