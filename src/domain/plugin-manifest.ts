/** What a plugin of the owner says about itself, and what the owner approved. */

import type { Effect } from './effect.ts'
import type { Json } from './json.ts'

/** `trusted`: in this process, with its rights. `sandboxed`: in a process of its own, with the rights it declares. */
export const PLUGIN_TRUSTS = ['trusted', 'sandboxed'] as const
export type PluginTrust = (typeof PLUGIN_TRUSTS)[number]

/** Registries that a plugin can add to, by the name of their service. */
export const PLUGIN_KINDS = [
  ...['tools', 'behaviours', 'critics', 'gates', 'hooks', 'parsers', 'memories', 'channels', 'sources', 'embedders'],
  ...['envKinds', 'modelProviders', 'recoveryRules', 'stopRules'],
] as const

/** Kinds whose methods can be called in another process. */
export const SANDBOXED_KINDS = ['tools', 'modelProviders', 'channels', 'sources', 'gates', 'critics'] as const

/** Kinds that `plugins new` writes. */
export const PLUGIN_TEMPLATE_KINDS = ['tool', 'gate', 'critic', 'channel', 'source', 'model', 'behaviour'] as const
export type PluginTemplateKind = (typeof PLUGIN_TEMPLATE_KINDS)[number]

/** Names by kind. `services`: names of services that the plugin provides to others. */
export type PluginProvides = Readonly<Record<string, readonly string[]>>

interface PluginNeeds {
  /** Hosts that a sandboxed plugin may reach. */
  readonly network: readonly string[]
  /** Paths that a sandboxed plugin may write, and read, besides its own folder. */
  readonly folders: readonly string[]
  readonly reads: readonly string[]
  /** Names of secrets whose values the plugin gets. */
  readonly secrets: readonly string[]
}

export interface PluginManifest {
  readonly name: string
  readonly version: string | null
  /** Path of the module, relative to the plugin's folder. */
  readonly entry: string
  readonly trust: PluginTrust
  /** Null: a single file without a manifest; it may add anything. */
  readonly provides: PluginProvides | null
  readonly needs: PluginNeeds
  /** Effects of a sandboxed plugin's tools. A tool that is not listed has the strictest effect. */
  readonly effects: Readonly<Record<string, Pick<Effect, 'recovery' | 'reach'>>>
}

export const NO_NEEDS: PluginNeeds = { network: [], folders: [], reads: [], secrets: [] }

/** A plugin as the configuration names it. */
export type PluginEntry = {
  readonly path: string | null
  readonly package: string | null
  readonly trust: PluginTrust | null
  readonly options: Readonly<Record<string, Json>>
}

/** The owner's approval of a plugin. */
export type PluginPin = {
  readonly digest: string
  readonly trust: PluginTrust
  readonly approved_at: string
  /** Digests of the files, by path. */
  readonly files: Readonly<Record<string, string>>
  /** What a sandboxed plugin offered when it was approved. */
  readonly offers: Json
}

export const PLUGIN_STATES = ['loaded', 'approved', 'changed', 'unapproved', 'failed'] as const
type PluginStateName = (typeof PLUGIN_STATES)[number]

export interface PluginState {
  readonly name: string
  /** Path or package, as the configuration names it. */
  readonly source: string
  readonly version: string | null
  readonly trust: PluginTrust | null
  readonly state: PluginStateName
  /** Why it is not loaded; null if it is. */
  readonly why: string | null
  readonly provides: PluginProvides
  readonly needs: PluginNeeds
  readonly effects: PluginManifest['effects']
  readonly digest: string | null
  readonly approved_at: string | null
}

/** A text with a slash is a path, unless it is a package with a scope (`@scope/name`). */
export const isPluginPath = (text: string): boolean => /^[.~/]/.test(text) || (text.includes('/') && !/^@/.test(text))

/** Which plugin: its entry in the configuration, and what is known of it. */
export interface FoundPlugin {
  readonly entry: PluginEntry
  /** Position in the list of the configuration; undefined: not in the list. */
  readonly index: number | undefined
  readonly plugin: PluginState
}

export const sourceOf = ({ path, package: name }: Pick<PluginEntry, 'path' | 'package'>): string => path ?? name ?? ''

/** The position of a plugin in an error, by which the error is assigned to the plugin. */
export const pluginLabel = (name: string): string => `plugin ${name}`
