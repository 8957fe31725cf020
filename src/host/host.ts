/**
 * Host: plugins live here. `use`, then `start` (set-up in order of need, seal, start), then `stop` in reverse (K1).
 * Must not know: any plugin, any service.
 * Invariants: I10 (what was set up will be stopped, later ones first; a failed start rolls back).
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Clock } from '../ports/clock.ts'
import { runOwned } from '../ports/fault-owner.ts'
import type { Plugin, PluginHost, ServiceName, Services } from '../ports/plugin.ts'
import { inOrderOfNeed } from './order.ts'

const STOP_WITHIN_MS = 10_000

export interface Host {
  /** Contract: before the start only; a name is used once. */
  use(...plugins: readonly Plugin[]): Host
  /** Contract: once. When it rejects, everything that was set up has been stopped again. */
  start(): Promise<void>
  /** Contract: idempotent; stops everything, whatever goes wrong, then rejects if something did. */
  stop(): Promise<void>
  /** Contract: after the start. */
  service<K extends ServiceName>(name: K): Services[K]
}

export function createHost(clock: Clock): Host {
  const used: Plugin[] = []
  const services = new Map<ServiceName, unknown>()
  const alive: Plugin[] = []
  let sealed = false
  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined

  async function start(): Promise<void> {
    const plugins = inOrderOfNeed(used)
    try {
      for (const plugin of plugins) {
        await told(plugin, 'setup', () => plugin.setup?.(viewOf(plugin, services, () => sealed)))
        alive.push(plugin)
        refuseUnkeptPromises(plugin, services)
      }
      sealed = true
      for (const plugin of plugins)
        await told(plugin, 'start', () => plugin.start?.(viewOf(plugin, services, () => true)))
    } catch (thrown) {
      sealed = true
      await stopAll(alive, clock).catch((inRollback) => {
        asTirelessError(thrown).message += `\n(while rolling back: ${asTirelessError(inRollback).message})`
      })
      throw thrown
    }
  }

  return {
    use(...plugins) {
      if (starting)
        throw refused(`it is too late to use ${plugins.map(({ name }) => name).join(', ')}`, 'use it before the start')
      for (const plugin of plugins) {
        if (used.some(({ name }) => name === plugin.name))
          throw refused(`the plugin ${plugin.name} is used twice`, 'use it once')
        used.push(plugin)
      }
      return this
    },
    start() {
      if (starting) return Promise.reject(refused('the host was started already', 'make a new host'))
      starting = start()
      return starting
    },
    stop() {
      stopping ??= (async () => {
        await starting?.catch(() => {})
        await stopAll(alive, clock)
      })()
      return stopping
    },
    service: (name) => found(services, name, 'the application'),
  }
}

function viewOf(plugin: Plugin, services: Map<ServiceName, unknown>, sealed: () => boolean): PluginHost {
  return {
    get(name) {
      if (!plugin.needs?.includes(name) && !plugin.provides?.includes(name))
        throw refused(
          `the plugin ${plugin.name} asks for the service ${name}, which it did not declare`,
          `add '${name}' to its needs`,
        )
      return found(services, name, `the plugin ${plugin.name}`)
    },
    provide(name, service) {
      if (sealed())
        throw refused(`the plugin ${plugin.name} provides the service ${name} too late`, 'provide it in setup')
      if (!plugin.provides?.includes(name))
        throw refused(
          `the plugin ${plugin.name} provides the service ${name}, which it did not declare`,
          `add '${name}' to its provides`,
        )
      if (services.has(name))
        throw refused(`the plugin ${plugin.name} provides the service ${name} twice`, 'provide it once')
      services.set(name, service)
    },
  }
}

function found<K extends ServiceName>(services: ReadonlyMap<ServiceName, unknown>, name: K, who: string): Services[K] {
  if (!services.has(name))
    throw refused(`${who} asks for the service ${name}, which is not there`, 'use a plugin that provides it')
  return services.get(name) as Services[K]
}

function refuseUnkeptPromises(plugin: Plugin, services: ReadonlyMap<ServiceName, unknown>): void {
  const missing = plugin.provides?.find((name) => !services.has(name))
  if (missing !== undefined)
    throw refused(
      `the plugin ${plugin.name} declares the service ${missing} and did not provide it`,
      'call host.provide in its setup',
    )
}

/** A plugin's error says whose it is. One of ours says enough already. */
async function told(plugin: Plugin, what: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await runOwned({ who: `plugin ${plugin.name}` }, work)
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
    throw new TirelessError(
      'plugin_failed',
      { what: `the plugin ${plugin.name} failed in ${what}`, got: asTirelessError(thrown).message },
      { cause: thrown },
    )
  }
}

async function stopAll(alive: Plugin[], clock: Clock): Promise<void> {
  const problems: string[] = []
  for (let plugin = alive.pop(); plugin; plugin = alive.pop()) {
    const problem = await stopOne(plugin, clock)
    if (problem !== undefined) problems.push(`${plugin.name}: ${problem}`)
  }
  if (problems.length > 0)
    throw new TirelessError('plugin_failed', { what: 'not everything could be stopped', got: problems.join('; ') })
}

async function stopOne({ stop, stopWithinMs = STOP_WITHIN_MS }: Plugin, clock: Clock): Promise<string | undefined> {
  if (!stop) return undefined
  const over = new AbortController()
  const late = clock.sleep(stopWithinMs, over.signal).then(() => `did not stop within ${stopWithinMs} ms`)
  const stopped = (async () => stop())().then(
    () => undefined,
    (thrown: unknown) => asTirelessError(thrown).message,
  )
  try {
    return await Promise.race([stopped, late])
  } finally {
    over.abort()
  }
}

function refused(what: string, fix: string): TirelessError {
  return new TirelessError('plugin_invalid', { what, fix })
}
