/** Lets a plugin add only what its manifest lists, and names the plugin in every error of its set-up. */

import { asTirelessError, readSafely, TirelessError } from '../../domain/error.ts'
import { describeValue } from '../../domain/json.ts'
import { PLUGIN_KINDS, type PluginManifest, pluginLabel } from '../../domain/plugin-manifest.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { Plugin, PluginFactory, PluginHost, PluginInput, ServiceName } from '../../ports/plugin.ts'

/** Limit of each of import, set-up and start. */
const WITHIN_MS = 30_000

interface Guard {
  readonly manifest: Pick<PluginManifest, 'name' | 'provides'>
  readonly clock: Clock
  /** Called with what the plugin adds. */
  onAdded(kind: string, name: string): void
}

/** Contract: settles like `work`; every error names the plugin. Rejects with `plugin_failed` if the work hangs. */
export async function asPlugin<T>(name: string, clock: Clock, work: () => T | Promise<T>): Promise<T> {
  try {
    return await withDeadline(
      { clock, ms: WITHIN_MS },
      async () => work(),
      () => {
        throw new TirelessError('plugin_failed', { what: `did not finish within ${WITHIN_MS / 1000} seconds` })
      },
    )
  } catch (thrown) {
    throw namedError(name, thrown)
  }
}

const PLUGIN_CODES: readonly string[] = ['plugin_invalid', 'plugin_failed', 'plugin_unapproved']

function namedError(name: string, thrown: unknown): TirelessError {
  const { code, parts } = asTirelessError(thrown, 'plugin_failed')
  const label = pluginLabel(name)
  const where = parts.where === undefined ? label : `${label}: ${parts.where}`
  return new TirelessError(
    PLUGIN_CODES.includes(code) ? (code as 'plugin_failed') : 'plugin_failed',
    { ...parts, where: parts.where?.startsWith(label) ? parts.where : where },
    { cause: thrown },
  )
}

/** Contract: the plugin that the module exports as default; a function is called with `input`. */
export async function pluginFrom(exported: unknown, input: PluginInput): Promise<Plugin> {
  const made = typeof exported === 'function' ? await (exported as PluginFactory)(input) : exported
  const isPlugin = readSafely('default', () => typeof made === 'object' && made !== null && !Array.isArray(made))
  if (isPlugin) return made as Plugin
  throw new TirelessError('plugin_invalid', {
    ...{ what: 'the module exports no plugin', where: 'default', got: describeValue(made) },
    ...{ expected: 'an object of definePlugin, or a function that returns one', fix: 'export it as default' },
  })
}

/** Contract: a plugin of the manifest's name that does the same, as far as the manifest allows. */
export function guardPlugin(plugin: Plugin, guard: Guard): Plugin {
  const { manifest, clock } = guard
  const { needs, provides, stopWithinMs } = plugin
  const call = (method: 'setup' | 'start', host: PluginHost): Promise<void> => {
    if (plugin[method] !== undefined && typeof plugin[method] !== 'function')
      throw namedError(manifest.name, new TirelessError('plugin_invalid', `${method} is not a function`))
    return asPlugin(manifest.name, clock, () => plugin[method]?.(guardHost(host, guard)))
  }
  checkServices(manifest, provides ?? [])
  return {
    name: manifest.name,
    ...(needs && { needs }),
    ...(provides && { provides }),
    ...(stopWithinMs !== undefined && { stopWithinMs }),
    setup: (host) => call('setup', host),
    start: (host) => call('start', host),
    stop: () => plugin.stop?.(),
  }
}

function checkServices({ name, provides: listed }: Guard['manifest'], provided: readonly string[]): void {
  const extra = listed === null ? undefined : provided.find((service) => !listed.services?.includes(service))
  if (extra !== undefined) throw notListed(name, 'services', extra, listed?.services ?? [])
}

const guardHost = (host: PluginHost, guard: Guard): PluginHost => ({
  get<K extends ServiceName>(name: K) {
    const service = host.get(name)
    const isRegistry = (PLUGIN_KINDS as readonly string[]).includes(name)
    return isRegistry ? (guardRegistry(service as object, name, guard) as typeof service) : service
  },
  provide: (name, service) => host.provide(name, service),
})

/** The methods that add to a registry; a list of embedders is an array. */
const ADDING: readonly PropertyKey[] = ['add', 'put', 'push']

function guardRegistry(registry: object, kind: string, { manifest, onAdded }: Guard): object {
  const listed = manifest.provides === null ? undefined : (manifest.provides[kind] ?? [])
  return new Proxy(registry, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target)
      if (typeof member !== 'function') return member
      if (!ADDING.includes(key)) return member.bind(target)
      return (...items: readonly unknown[]) => {
        const names = items.map((item) => readSafely(kind, () => nameOf(item)))
        const extra = listed && names.find((name) => !listed.includes(name))
        if (extra !== undefined) throw notListed(manifest.name, kind, extra, listed ?? [])
        const added = member.apply(target, items)
        for (const name of names) onAdded(kind, name)
        return added
      }
    },
    set() {
      throw new TirelessError('plugin_invalid', `${kind} is changed without its methods`)
    },
  })
}

/** Models have an id in place of a name. */
function nameOf(item: unknown): string {
  const { name, id } = (item ?? {}) as { readonly name?: unknown; readonly id?: unknown }
  return String(name ?? id)
}

const notListed = (plugin: string, kind: string, name: string, listed: readonly string[]): TirelessError =>
  new TirelessError('plugin_invalid', {
    ...{ what: `the plugin adds to ${kind} what its manifest does not list`, where: pluginLabel(plugin), got: name },
    expected: listed.length === 0 ? `nothing, because the manifest lists no ${kind}` : `one of ${listed.join(', ')}`,
    fix: `list it under provides.${kind}, then run \`tireless plugins approve ${plugin}\``,
  })
