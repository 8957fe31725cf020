/** Plugin: a part of the program with set-up, start and stop that may provide services to other plugins. */

import type { Json } from '../domain/json.ts'

/** Services by name. A plugin adds its own: `declare module 'tireless' { interface Services { weather: Weather } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by declaration merging.
export interface Services {}

export type ServiceName = keyof Services

export interface PluginHost {
  /** Contract: throws unless the plugin lists the service in `needs`. */
  get<K extends ServiceName>(name: K): Services[K]
  /** Contract: may be called only in `setup`, once per name, and only for services listed in `provides`. */
  provide<K extends ServiceName>(name: K, service: Services[K]): void
}

export interface Plugin {
  readonly name: string
  /** The plugin is set up and started after the providers of these services, and stopped before them. */
  readonly needs?: readonly ServiceName[]
  readonly provides?: readonly ServiceName[]
  /** Contract: provides the services; starts no work. */
  setup?(host: PluginHost): void | Promise<void>
  start?(host: PluginHost): void | Promise<void>
  /** Contract: called once after a successful `setup`, even if `start` was never called or failed. */
  stop?(): void | Promise<void>
  /** Time limit of `stop` in milliseconds; when it has passed, the other plugins are stopped. */
  readonly stopWithinMs?: number
}

/** What a plugin of the configuration gets if its module exports a function. */
export interface PluginInput {
  /** `options` of its entry in the configuration. */
  readonly options: Readonly<Record<string, Json>>
  /** Values of the secrets that its manifest names, by name. */
  readonly secrets: Readonly<Record<string, string>>
}

export type PluginFactory = (input: PluginInput) => Plugin | Promise<Plugin>

export function definePlugin(plugin: Plugin): Plugin
export function definePlugin(plugin: PluginFactory): PluginFactory
export function definePlugin(plugin: Plugin | PluginFactory): Plugin | PluginFactory {
  return plugin
}
