/** Plugin: a part of the program that is set up, started and stopped with it, and may give services to the others. */

/** Services by name. A plugin adds its own: `declare module 'tireless' { interface Services { weather: Weather } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by declaration merging.
export interface Services {}

export type ServiceName = keyof Services

export interface PluginHost {
  /** Contract: throws unless the plugin has declared that it needs it. */
  get<K extends ServiceName>(name: K): Services[K]
  /** Contract: in `setup` only, once per name, and only what the plugin has declared that it provides. */
  provide<K extends ServiceName>(name: K, service: Services[K]): void
}

export interface Plugin {
  readonly name: string
  /** It is set up and started after whoever provides these, and stopped before them. */
  readonly needs?: readonly ServiceName[]
  readonly provides?: readonly ServiceName[]
  /** Contract: registers; runs nothing by itself yet. */
  setup?(host: PluginHost): void | Promise<void>
  start?(host: PluginHost): void | Promise<void>
  /** Contract: called once if `setup` came through, also where a later start failed; copes with not having been started. */
  stop?(): void | Promise<void>
  /** How long `stop` may take, in milliseconds, before the others are stopped without it. */
  readonly stopWithinMs?: number
}

export function definePlugin(plugin: Plugin): Plugin {
  return plugin
}
