/**
 * The order of plugins: providers of a service before plugins that need it; otherwise in order of `use`. Pure.
 * Must not know: what plugins do.
 */

import { TirelessError } from '../domain/error.ts'
import type { Plugin, ServiceName } from '../ports/plugin.ts'

export function sortByDependency(plugins: readonly Plugin[]): Plugin[] {
  const providers = providersOf(plugins)
  const ordered: Plugin[] = []
  const visiting: Plugin[] = []
  const visit = (plugin: Plugin): void => {
    if (ordered.includes(plugin)) return
    if (visiting.includes(plugin)) throw circularDependency([...visiting.slice(visiting.indexOf(plugin)), plugin])
    visiting.push(plugin)
    for (const need of plugin.needs ?? []) visit(providers.get(need) ?? throwMissing(plugin, need, providers))
    visiting.pop()
    ordered.push(plugin)
  }
  for (const plugin of plugins) visit(plugin)
  return ordered
}

function providersOf(plugins: readonly Plugin[]): ReadonlyMap<ServiceName, Plugin> {
  const providers = new Map<ServiceName, Plugin>()
  for (const plugin of plugins)
    for (const name of plugin.provides ?? []) {
      const other = providers.get(name)
      if (other)
        throw new TirelessError('plugin_invalid', {
          what: `the service ${name} is provided by two plugins`,
          got: `${other.name} and ${plugin.name}`,
          fix: 'use one of them',
        })
      providers.set(name, plugin)
    }
  return providers
}

function throwMissing(plugin: Plugin, need: ServiceName, providers: ReadonlyMap<ServiceName, Plugin>): never {
  throw new TirelessError('plugin_invalid', {
    what: `the plugin ${plugin.name} needs the service ${need}, which no plugin provides`,
    expected: `one of ${[...providers.keys()].join(', ') || 'none'}`,
    fix: `use a plugin that provides ${need}`,
  })
}

function circularDependency(plugins: readonly Plugin[]): TirelessError {
  return new TirelessError('plugin_invalid', {
    what: 'plugins depend on each other in a circle',
    got: plugins.map(({ name }) => name).join(' → '),
    fix: 'move the shared service into its own plugin',
  })
}
