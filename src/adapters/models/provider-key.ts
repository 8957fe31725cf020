/** Finds the key of a provider: in the configuration, or else in the environment variable of a known provider. */

import { asTirelessError, type TirelessError } from '../../domain/error.ts'
import { findKeyVariable, findKnownProvider, isTokenVariable, type ProviderEnvironment } from './providers.ts'

/** A provider as configured. */
export interface ConfiguredProvider {
  readonly type: string
  readonly base_url?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly stream?: boolean
  readonly timeout?: number | null | undefined
  readonly api_key?: string | undefined
  readonly api_key_env?: string | undefined
  readonly api_key_file?: string | undefined
}

export interface KeyLookup {
  readonly providers: Readonly<Record<string, ConfiguredProvider>>
  readonly env: ProviderEnvironment
  /** Contract: undefined if the provider names no key; throws if the named key is missing. */
  apiKeyOf(provider: ConfiguredProvider): string | undefined
}

export interface ProviderKey {
  readonly state: 'set' | 'missing' | 'none'
  readonly value?: string | undefined
  /** True if the value is sent as `Authorization: Bearer`. */
  readonly isToken: boolean
  /** Why there is no value, if the key is missing. */
  readonly problem?: TirelessError
}

export const configuredProvider = (
  { providers }: Pick<KeyLookup, 'providers'>,
  name: string,
): ConfiguredProvider | undefined => (Object.hasOwn(providers, name) ? providers[name] : undefined)

export function findKey(lookup: KeyLookup, name: string): ProviderKey {
  const provider = keySource(lookup, name)
  if (!provider) return { state: 'none', isToken: false }
  const isToken = isTokenVariable(provider.api_key_env)
  try {
    return { state: 'set', value: lookup.apiKeyOf(provider), isToken }
  } catch (thrown) {
    return { state: 'missing', isToken, problem: asTirelessError(thrown) }
  }
}

/** Contract: a provider that says where its key is; undefined if it needs none. */
function keySource({ providers, env }: KeyLookup, name: string): ConfiguredProvider | undefined {
  const provider = configuredProvider({ providers }, name)
  if (provider && (provider.api_key ?? provider.api_key_env ?? provider.api_key_file) !== undefined) return provider
  const known = findKnownProvider(provider?.type ?? name, env)
  if (!known?.variable) return undefined
  return { type: name, api_key_env: findKeyVariable(known, env) ?? known.variable }
}
