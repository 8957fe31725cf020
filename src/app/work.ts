/** The plugins that do the work: hands, models, the engine, the queue. */

import { hostEnvs } from '../adapters/envs/host/host.ts'
import { configuredModels } from '../adapters/models/configured.ts'
import { builtinTools } from '../adapters/tools/tools.ts'
import { soloBehaviours } from '../behaviours/solo.ts'
import { apiKeyOf, type Config, environment, type ProviderConfig } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import type { Signals } from '../engine/advance.ts'
import type { Engine } from '../engine/run.ts'
import type { Doorbell } from '../kernel/doorbell.ts'
import { drain, joinHome, type Kernel, leaveHome } from '../kernel/drain.ts'
import type { Critic } from '../ports/behaviour.ts'
import type { Model } from '../ports/model.ts'
import { definePlugin, type Plugin, type Services } from '../ports/plugin.ts'
import type { AnyTool } from '../ports/tool.ts'
import type { Registry } from './services.ts'

export function hands(tools: readonly AnyTool[], critics: readonly Critic[]): Plugin {
  return definePlugin({
    name: 'hands',
    needs: ['clock', 'home'],
    provides: ['envs', 'tools', 'critics'],
    setup(host) {
      host.provide('envs', hostEnvs({ callsDir: host.get('home').calls, clock: host.get('clock'), env: environment() }))
      host.provide('tools', registry('tools', [...builtinTools(), ...tools]))
      host.provide('critics', registry('critics', critics))
    },
  })
}

function registry<T extends { readonly name: string }>(kind: string, first: readonly T[]): Registry<T> {
  const all = new Map<string, T>()
  const add = (...items: readonly T[]): void => {
    for (const item of items) {
      if (all.has(item.name))
        throw new TirelessError('plugin_invalid', {
          what: `two ${kind} have one name`,
          got: item.name,
          fix: 'rename one',
        })
      all.set(item.name, item)
    }
  }
  add(...first)
  return { all, add }
}

/** `model`: used instead of what the configuration names. */
export function models(model: Model | undefined): Plugin {
  return definePlugin({
    name: 'models',
    needs: ['clock', 'config', 'log'],
    provides: ['models'],
    setup(host) {
      const { config } = host.get('config').loaded
      const { hide } = host.get('log')
      const configured = configuredModels({
        ...config.models,
        clock: host.get('clock'),
        apiKeyOf(provider: ProviderConfig) {
          const key = apiKeyOf(provider)
          // One that came up only now.
          if (key !== undefined) hide(key)
          return key
        },
      })
      host.provide('models', model ? { defaultId: model.id, get: () => model } : configured)
    },
  })
}

/** Without a sandbox, bash is the owner's to allow. Known all the same: it can still say what is left of a call from before. */
export const bashIsOn = ({ sandbox }: Config): boolean => sandbox === 'off'

export function engine(): Plugin {
  return definePlugin({
    name: 'engine',
    needs: ['clock', 'ids', 'config', 'store', 'models', 'envs', 'tools', 'critics', 'events'],
    provides: ['engine'],
    setup(host) {
      const { config } = host.get('config').loaded
      const tools = host.get('tools').all
      const critics = host.get('critics').all
      host.provide('engine', {
        store: host.get('store'),
        clock: host.get('clock'),
        ids: host.get('ids'),
        models: host.get('models'),
        envs: host.get('envs'),
        // Read when a run begins: plugins may add to both until everything is set up.
        behaviours: soloBehaviours(() => [...tools.keys()].filter((name) => name !== 'bash' || bashIsOn(config))),
        tools,
        critics: () => [...critics.values()],
        sink: host.get('events').sink,
        maxSteps: config.budget.per_dispatch_calls,
      })
    },
  })
}

export function queue(signals: Signals): Plugin {
  let leave = async (): Promise<void> => {}
  return definePlugin({
    name: 'queue',
    needs: ['engine', 'bell', 'config', 'log'],
    provides: ['queue'],
    setup(host) {
      const { max_concurrent } = host.get('config').loaded.config.kernel
      const made = queueOf(host.get('engine'), host.get('bell'), host.get('log'), max_concurrent, signals)
      leave = made.leave
      host.provide('queue', made)
    },
    stop: () => leave(),
  })
}

/** Draining, and the worker's epoch, which begins with the first drain: looking at a home changes nothing in it. */
function queueOf(
  engine: Engine,
  bell: Doorbell,
  log: Services['log'],
  maxConcurrent: number,
  signals: Signals,
): Services['queue'] & { leave(): Promise<void> } {
  let kernel: Promise<Kernel> | undefined
  let whole = 0
  let damage: readonly string[] = []
  let own: number | undefined
  const joined = async (): Promise<Kernel> => {
    const { epoch, lost } = await joinHome(engine, `process ${process.pid}`)
    own = epoch
    log.write(lost > 0 ? 'warn' : 'info', 'worker joined', { epoch, pid: process.pid, lost })
    // After an unclean stop, in the background: nothing waits for it.
    if (lost > 0)
      void engine.store.verify().then(
        (found) => {
          damage = found
          for (const message of found) log.write('error', 'database damaged', { message })
        },
        () => {},
      )
    return { engine, bell, epoch, maxConcurrent }
  }
  return {
    signals,
    damage: () => damage,
    draining: () => whole > 0,
    epoch: () => own,
    async drain(wanted) {
      kernel ??= joined()
      const share = wanted.only === undefined ? 1 : 0
      whole += share
      try {
        await drain(await kernel, { ...wanted, signals })
      } finally {
        whole -= share
        // Whoever left its work to this drain has to look again.
        bell.ring()
      }
    },
    async leave() {
      if (kernel) await leaveHome(await kernel)
    },
  }
}
