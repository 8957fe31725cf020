/** The plugins that hold the house up: time and identity, the home and its lock, the configuration, the store, events. */

import { openSqliteStore } from '../adapters/stores/sqlite/store.ts'
import type { Context, Progress } from '../commands/command.ts'
import { type LoadedConfig, loadConfig } from '../config.ts'
import { type HomePaths, holdHome, homeLocked } from '../home.ts'
import { createDoorbell, ringing } from '../kernel/doorbell.ts'
import { type Clock, iso } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import { definePlugin, type Plugin, type Services } from '../ports/plugin.ts'
import type { Store } from '../ports/store.ts'

export function base(clock: Clock, ids: Ids): Plugin {
  return definePlugin({
    name: 'base',
    provides: ['clock', 'ids', 'events'],
    setup(host) {
      host.provide('clock', clock)
      host.provide('ids', ids)
      host.provide('events', fanOut())
    },
  })
}

function fanOut(): Services['events'] {
  const listeners = new Set<(progress: Progress) => void>()
  const tell = (progress: Progress): void => {
    for (const listener of listeners) listener(progress)
  }
  return {
    sink: { event: (event) => tell({ kind: 'event', event }), delta: (delta) => tell({ kind: 'delta', delta }) },
    listen(listener: Parameters<Context['listen']>[0]) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** `name`: who holds the home, as others are told. */
export function home(paths: HomePaths, name: string): Plugin {
  let release = (): void => {}
  return definePlugin({
    name: 'home',
    needs: ['clock'],
    provides: ['home'],
    setup(host) {
      const since = iso(host.get('clock').now())
      const lock = holdHome(paths, { pid: process.pid, command: name, since })
      if (!lock) throw homeLocked(paths)
      release = () => lock.release()
      host.provide('home', paths)
    },
    stop: () => release(),
  })
}

export function readConfig(paths: HomePaths, file: string | undefined): LoadedConfig {
  return loadConfig({ file: file ?? paths.config, required: file !== undefined })
}

export function config(file: string | undefined): Plugin {
  return definePlugin({
    name: 'config',
    needs: ['home'],
    provides: ['config'],
    setup(host) {
      const paths = host.get('home')
      host.provide('config', { loaded: readConfig(paths, file), reload: () => readConfig(paths, file) })
    },
  })
}

export function store(): Plugin {
  let opened: Store | undefined
  return definePlugin({
    name: 'store',
    // The configuration first: on a bad one nothing is written.
    needs: ['home', 'config'],
    provides: ['store', 'bell'],
    async setup(host) {
      const bell = createDoorbell()
      opened = ringing(await openSqliteStore({ file: host.get('home').database }), bell)
      host.provide('bell', bell)
      host.provide('store', opened)
    },
    stop: () => opened?.close(),
  })
}
