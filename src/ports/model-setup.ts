/** ModelSetup: which models the owner has chosen, and trials of providers before they are configured. */

import type { ProviderType } from '../domain/provider-type.ts'
import type { Model } from './model.ts'

/** A provider as the owner enters it. `name`: the part of a model's id before the slash. */
export interface TrialProvider {
  readonly name: string
  readonly type: ProviderType
  readonly base_url?: string | undefined
  /** Undefined: the provider needs none, or has one already. */
  readonly api_key?: string | undefined
}

export interface TrialModel {
  readonly model: string
  /** US dollars per million tokens; undefined: as the configuration or the list of prices says. */
  readonly price?: { readonly input: number; readonly output: number } | undefined
}

/** What the configuration says about models. */
export interface ChosenModels {
  /** Null: the default model is detected. */
  readonly default: string | null
  readonly planner: string | null
  readonly fallback: readonly string[]
  readonly providers: readonly { readonly name: string; readonly type: ProviderType; readonly base_url: string }[]
  /** Providers that need no address. `model`: a good first choice; null: the first model that the server lists. */
  readonly known: readonly { readonly type: ProviderType; readonly needs_key: boolean; readonly model: string | null }[]
}

export interface ModelSetup {
  /** Contract: contacts no provider. */
  describe(): ChosenModels
  /**
   * Contract: a model of a provider that need not be configured; nothing is stored, and the key is redacted from now
   * on. Throws `usage` for a text that cannot be a key, `config_invalid` for a wrong address.
   */
  openTrial(provider: TrialProvider, wanted: TrialModel): Model
  /** Contract: names of the models that the provider offers, without cost; rejects as a call of a model does. */
  listOffered(provider: TrialProvider, signal: AbortSignal): Promise<readonly string[]>
}
