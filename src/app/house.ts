/** The plugins that hold the house up: time and identity, the home and its lock, the configuration, the store, events. */

import { type Log, openLog, secretsIn } from '../adapters/log.ts'
import type { HomeLock } from '../adapters/stores/sqlite/lock.ts'
import { openSqliteStore } from '../adapters/stores/sqlite/store.ts'
import type { Context, Progress } from '../commands/command.ts'
import { environment, type LoadedConfig, loadConfig, secretsOf } from '../config.ts'
import { asTirelessError } from '../domain/error.ts'
import { type EventFold, eventFold } from '../domain/event.ts'
import type { JournalRecord } from '../domain/record.ts'
import { tell as unharmed } from '../engine/run.ts'
import { type HomePaths, holdHome, homeLocked, refuseHalfRestored } from '../home.ts'
import { createDoorbell, ringing } from '../kernel/doorbell.ts'
import { type Clock, iso } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import { definePlugin, type Plugin, type Services } from '../ports/plugin.ts'
import type { RunRef, Sink } from '../ports/sink.ts'
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

/** From records to whoever listens: one fold per run that is not over, kept while it is parked. */
function fanOut(): Services['events'] {
  const listeners = new Set<(progress: Progress) => void>()
  const sinks = new Set<Sink>()
  const folds = new Map<string, { readonly fold: EventFold; last: number }>()
  const tell = (progress: Progress): void => {
    for (const listener of listeners) unharmed(() => listener(progress))
  }
  const open = (run: RunRef, past: readonly JournalRecord[]): { readonly fold: EventFold; last: number } => {
    const made = { fold: eventFold(run), last: past.at(-1)?.seq ?? 0 }
    for (const record of past) made.fold.of(record)
    folds.set(run.run_id, made)
    return made
  }
  return {
    sink: {
      opened(run, past) {
        if (past.length > 0 && folds.get(run.run_id)?.last !== past.at(-1)?.seq) open(run, past)
        for (const sink of sinks) unharmed(() => sink.opened(run, past))
      },
      recorded(run, record) {
        // What comes before its start closes the run of somebody else.
        const known = folds.get(run.run_id) ?? (record.kind === 'run_started' ? open(run, []) : undefined)
        for (const event of known?.fold.of(record) ?? []) tell({ kind: 'event', event })
        if (known) known.last = record.seq
        if (record.kind === 'run_ended') folds.delete(run.run_id)
        for (const sink of sinks) unharmed(() => sink.recorded(run, record))
      },
      delta(delta) {
        tell({ kind: 'delta', delta })
        for (const sink of sinks) unharmed(() => sink.delta(delta))
      },
    },
    listen(listener: Parameters<Context['listen']>[0]) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    add: (sink) => sinks.add(sink),
  }
}

/** Contract: throws `home_locked` when another process holds it. `name`: who holds the home, as others are told. */
export function lockHome(paths: HomePaths, name: string, clock: Clock): HomeLock {
  const lock = holdHome(paths, { pid: process.pid, command: name, since: iso(clock.now()) })
  if (!lock) throw homeLocked(paths)
  return lock
}

export function home(paths: HomePaths, name: string): Plugin {
  let release = (): void => {}
  return definePlugin({
    name: 'home',
    needs: ['clock'],
    provides: ['home'],
    setup(host) {
      const lock = lockHome(paths, name, host.get('clock'))
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
      // Before anything in the home is read.
      refuseHalfRestored(paths)
      host.provide('config', { loaded: readConfig(paths, file), reload: () => readConfig(paths, file) })
    },
  })
}

/** What happens, written down in passing; see `logs`. */
export function log(): Plugin {
  let opened: Log | undefined
  let stopListening = (): void => {}
  return definePlugin({
    name: 'log',
    needs: ['home', 'config', 'clock', 'events'],
    provides: ['log'],
    setup(host) {
      const secrets = [...secretsOf(host.get('config').loaded), ...secretsIn(environment())]
      const made = openLog({ folder: host.get('home').logs, clock: host.get('clock'), secrets })
      stopListening = host.get('events').listen((progress) => {
        if (progress.kind === 'event') made.event(progress.event)
      })
      opened = made
      host.provide('log', made)
    },
    stop() {
      stopListening()
      opened?.close()
    },
  })
}

export function store(): Plugin {
  let opened: Store | undefined
  return definePlugin({
    name: 'store',
    // The configuration first: on a bad one nothing is written.
    needs: ['home', 'config', 'clock', 'log'],
    provides: ['store', 'bell'],
    async setup(host) {
      const bell = createDoorbell()
      const sqlite = await openSqliteStore({ file: host.get('home').database, clock: host.get('clock') })
      opened = ringing(overheard(sqlite, host.get('log')), bell)
      host.provide('bell', bell)
      host.provide('store', opened)
    },
    stop: () => opened?.close(),
  })
}

/** A run that lost its dispatch to another, and a store that cannot write, are told to nobody who would keep it. */
function overheard(store: Store, log: Services['log']): Store {
  return {
    ...store,
    async commit(batches) {
      try {
        const outcomes = await store.commit(batches)
        for (const [i, outcome] of outcomes.entries())
          if (!outcome.ok && outcome.code === 'store_fenced')
            log.write('warn', 'run fenced', {
              run_id: batches[i]?.fence?.dispatch_id ?? null,
              message: outcome.message,
            })
        return outcomes
      } catch (thrown) {
        const { code, message } = asTirelessError(thrown)
        log.write('error', 'commit failed', { code, message })
        throw thrown
      }
    },
  }
}
