/**
 * Host: the lifecycle of plugins. First `use`, then `start`, which sets all plugins up in order of their dependencies,
 * seals the services and starts all plugins; then `stop`, in reverse order (K1).
 * Must not know: any specific plugin or service.
 * Invariants: I10 (every plugin that was set up is stopped, in reverse order; a failed start rolls back).
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import { describeValue } from '../domain/json.ts'
import type { Clock } from '../ports/clock.ts'
import { withDeadline } from '../ports/deadline.ts'
import { runAsOwner } from '../ports/fault-owner.ts'
import type { Plugin, PluginHost, ServiceName, Services } from '../ports/plugin.ts'
import { sortByDependency } from './plugin-order.ts'

const STOP_WITHIN_MS = 10_000
/** One day. */
const MAX_STOP_WITHIN_MS = 86_400_000

export interface Host {
  /**
   * Contract: adds plugins; each plugin name may be used once. Allowed only until all plugins are set up; what a plugin
   * adds in its set-up comes right after it.
   */
  use(...plugins: readonly Plugin[]): Host
  /** Contract: may be called once. If it rejects, every plugin that was set up has been stopped. */
  start(): Promise<void>
  /** Contract: idempotent; stops every plugin even if some fail, then rejects with all failures. */
  stop(): Promise<void>
  /** Contract: a service that a plugin provides. Allowed only after `start`. */
  service<K extends ServiceName>(name: K): Services[K]
}

export function createHost(clock: Clock): Host {
  const registered: Plugin[] = []
  const services = new Map<ServiceName, unknown>()
  const active: Plugin[] = []
  let sealed = false
  /** The position of the next plugin that is added during set-up. */
  let nextPosition: number | undefined
  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined

  async function start(): Promise<void> {
    try {
      await setUpAll()
      sealed = true
      for (const plugin of [...active])
        await callPlugin(plugin, 'start', () => plugin.start?.(hostFor(plugin, services, () => true)))
    } catch (thrown) {
      sealed = true
      await stopAll(active, clock).catch((inRollback) => {
        asTirelessError(thrown).message += `\n(while rolling back: ${asTirelessError(inRollback).message})`
      })
      throw thrown
    }
  }

  async function setUpAll(): Promise<void> {
    for (let plugin = nextPlugin(registered, active); plugin; plugin = nextPlugin(registered, active)) {
      const own = hostFor(plugin, services, () => sealed)
      nextPosition = registered.indexOf(plugin) + 1
      await callPlugin(plugin, 'setup', () => plugin?.setup?.(own))
      active.push(plugin)
      checkProvidedServices(plugin, services)
    }
  }

  return {
    use(...plugins) {
      if (sealed) throw usedTooLate(plugins)
      for (const plugin of plugins) {
        checkPlugin(plugin, registered)
        if (nextPosition === undefined) registered.push(plugin)
        else registered.splice(nextPosition++, 0, plugin)
      }
      return this
    },
    start() {
      if (starting) return Promise.reject(invalidPlugin('the host has already started', 'create a new host'))
      starting = start()
      return starting
    },
    stop() {
      stopping ??= (async () => {
        await starting?.catch(() => {})
        await stopAll(active, clock)
      })()
      return stopping
    },
    service: (name) => requireService(services, name, 'the application'),
  }
}

/** Plugins can be added during set-up, so the order is found anew each time. */
const nextPlugin = (registered: readonly Plugin[], active: readonly Plugin[]): Plugin | undefined =>
  sortByDependency(registered).find((plugin) => !active.includes(plugin))

const usedTooLate = (plugins: readonly Plugin[]): TirelessError =>
  invalidPlugin(
    `the host has started: it cannot use ${plugins.map(({ name }) => name).join(', ')}`,
    'use it before the start',
  )

function hostFor(plugin: Plugin, services: Map<ServiceName, unknown>, sealed: () => boolean): PluginHost {
  return {
    get(name) {
      if (!plugin.needs?.includes(name) && !plugin.provides?.includes(name))
        throw invalidPlugin(
          `the plugin ${plugin.name} asks for the service ${name}, which it did not declare`,
          `add '${name}' to its needs`,
        )
      return requireService(services, name, `the plugin ${plugin.name}`)
    },
    provide(name, service) {
      if (sealed())
        throw invalidPlugin(
          `the plugin ${plugin.name} provides the service ${name} after set-up`,
          'provide it in setup',
        )
      if (!plugin.provides?.includes(name))
        throw invalidPlugin(
          `the plugin ${plugin.name} provides the service ${name}, which it did not declare`,
          `add '${name}' to its provides`,
        )
      if (services.has(name))
        throw invalidPlugin(`the plugin ${plugin.name} provides the service ${name} twice`, 'provide it once')
      services.set(name, service)
    },
  }
}

function requireService<K extends ServiceName>(
  services: ReadonlyMap<ServiceName, unknown>,
  name: K,
  who: string,
): Services[K] {
  if (!services.has(name))
    throw invalidPlugin(`${who} asks for the service ${name}, which does not exist`, 'use a plugin that provides it')
  return services.get(name) as Services[K]
}

function checkProvidedServices(plugin: Plugin, services: ReadonlyMap<ServiceName, unknown>): void {
  const missing = plugin.provides?.find((name) => !services.has(name))
  if (missing !== undefined)
    throw invalidPlugin(
      `the plugin ${plugin.name} declares the service ${missing} but did not provide it`,
      'call host.provide in its setup',
    )
}

/** Adds the plugin's name to an error, unless it is a TirelessError, which already has a useful message. */
async function callPlugin(plugin: Plugin, what: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await runAsOwner({ who: `plugin ${plugin.name}` }, work)
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
    throw new TirelessError(
      'plugin_failed',
      { what: `the plugin ${plugin.name} failed in ${what}`, got: asTirelessError(thrown).message },
      { cause: thrown },
    )
  }
}

async function stopAll(active: Plugin[], clock: Clock): Promise<void> {
  const problems: string[] = []
  for (let plugin = active.pop(); plugin; plugin = active.pop()) {
    const problem = await stopOne(plugin, clock)
    if (problem !== undefined) problems.push(`${plugin.name}: ${problem}`)
  }
  if (problems.length > 0)
    throw new TirelessError('plugin_failed', { what: 'some plugins did not stop', got: problems.join('; ') })
}

async function stopOne(plugin: Plugin, clock: Clock): Promise<string | undefined> {
  if (!plugin.stop) return undefined
  const { stopWithinMs = STOP_WITHIN_MS } = plugin
  try {
    return await withDeadline(
      { clock, ms: stopWithinMs },
      async () => {
        await plugin.stop?.()
        return undefined
      },
      () => `did not stop within ${stopWithinMs} ms`,
    )
  } catch (thrown) {
    return asTirelessError(thrown).message
  }
}

function checkPlugin(plugin: Plugin, registered: readonly Plugin[]): void {
  if (typeof plugin?.name !== 'string' || plugin.name.trim() === '')
    throw invalidPlugin(`this is not a plugin: ${describeValue(plugin)}`, 'use an object with a name')
  if (registered.some(({ name }) => name === plugin.name))
    throw invalidPlugin(`the plugin ${plugin.name} is registered twice`, 'use it once')
  checkStopLimit(plugin)
}

function checkStopLimit({ name, stopWithinMs = 0 }: Plugin): void {
  if (stopWithinMs >= 0 && stopWithinMs <= MAX_STOP_WITHIN_MS) return
  throw invalidPlugin(
    `the plugin ${name} has an invalid stopWithinMs: ${describeValue(stopWithinMs)}`,
    `use milliseconds, from 0 to ${MAX_STOP_WITHIN_MS}`,
  )
}

function invalidPlugin(what: string, fix: string): TirelessError {
  return new TirelessError('plugin_invalid', { what, fix })
}
