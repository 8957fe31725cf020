/** The plugins that hold the house up: time and identity, the home and its lock, the configuration, the store, events. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Log, openLog } from '../adapters/log.ts'
import type { HomeLock } from '../adapters/stores/sqlite/lock.ts'
import { openSqliteStore } from '../adapters/stores/sqlite/store.ts'
import type { ConfigChange } from '../commands/command.ts'
import { changeFile, type LoadedConfig, loadConfig } from '../config.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { describeLoss, LOST_COMMITS, type LostCommits } from '../domain/lost-commits.ts'
import { type Redact, redacted } from '../domain/redacted.ts'
import { type HomePaths, holdHome, homeLocked, refuseHalfRestored } from '../home.ts'
import { createDoorbell, ringing } from '../kernel/doorbell.ts'
import { semanticRecall } from '../memory/semantic.ts'
import { type Clock, iso } from '../ports/clock.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Ids } from '../ports/ids.ts'
import { definePlugin, type Plugin, type Services } from '../ports/plugin.ts'
import { type Batch, type Op, type Store, unlessUnreadable } from '../ports/store.ts'
import { refuseBadSchedules } from './check-schedules.ts'
import { fanOut } from './event-fanout.ts'
import { refuseUnbuilt } from './refuse-unbuilt.ts'
import { rosterIn } from './roster.ts'
import type { StrayFaults } from './stray-faults.ts'

export function base(clock: Clock, ids: Ids, strays: StrayFaults): Plugin {
  return definePlugin({
    name: 'base',
    provides: ['clock', 'ids', 'embedders', 'strays'],
    setup(host) {
      host.provide('clock', clock)
      host.provide('ids', ids)
      host.provide('embedders', [])
      host.provide('strays', strays)
    },
  })
}

/** What runs do, to whoever listens. */
export function events(): Plugin {
  return definePlugin({
    name: 'events',
    needs: ['secrets'],
    provides: ['events'],
    setup(host) {
      host.provide('events', fanOut(host.get('secrets').stream))
    },
  })
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

/** `instead`: drafts that are read in place of the files they are for. */
export function readConfig(
  paths: HomePaths,
  file: string | undefined,
  instead: Readonly<Record<string, string>> = {},
): LoadedConfig {
  const required = file !== undefined
  const loaded = loadConfig({ file: file ?? paths.config, required, agents: paths.agents, instead })
  refuseBadSchedules(loaded)
  return loaded
}

/** Another one whenever the configuration's file, or that of an agent, is another. */
function stampOf(file: string, agents: string): string {
  const folders = existsSync(agents) ? readdirSync(agents).toSorted() : []
  return [file, ...folders.flatMap((name) => ['agent.yaml', 'role.md'].map((part) => join(agents, name, part)))]
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false })
      return found ? `${path} ${found.ino} ${found.size} ${found.mtimeMs}` : 'none'
    })
    .join('\n')
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
      const read = (): LoadedConfig => {
        const loaded = readConfig(paths, file)
        refuseUnbuilt(loaded)
        return loaded
      }
      const target = file ?? paths.config
      const stampNow = (): string => stampOf(target, paths.agents)
      let stamp = stampNow()
      let current = read()
      let refused: string | null = null
      const change = (changed: string, changes: readonly ConfigChange[]): void => {
        changeFile(changed, changes, (draft) => readConfig(paths, file, { [changed]: draft }))
        current = read()
        stamp = stampNow()
        refused = null
      }
      host.provide('config', {
        get loaded() {
          return current
        },
        read,
        file: target,
        refused: () => refused,
        refresh() {
          if (stampNow() === stamp) return 'same'
          stamp = stampNow()
          try {
            if (current.file !== null) refuseEmpty(target)
            current = read()
            refused = null
            return 'taken'
          } catch (thrown) {
            refused = asTirelessError(thrown).message
            return 'refused'
          }
        },
        change: (changes) => change(target, changes),
        roster: rosterIn(paths.agents, target, () => current, change),
      })
    },
  })
}

/** A file that is gone, or empty, is about to be written: until then nobody has said anything new. */
function refuseEmpty(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && found.size > 0) return
  throw new TirelessError('config_invalid', {
    ...{ what: `the configuration is ${found ? 'empty' : 'gone'}`, where: file },
    fix: 'write it anew; for the defaults alone, a comment is enough',
  })
}

/** What happens, written down in passing; see `logs`. */
export function log(): Plugin {
  let opened: Log | undefined
  let stopListening = (): void => {}
  return definePlugin({
    name: 'log',
    needs: ['home', 'clock', 'events', 'secrets', 'strays'],
    provides: ['log'],
    setup(host) {
      const { cut } = host.get('secrets')
      const made = openLog({ folder: host.get('home').logs, clock: host.get('clock'), cut })
      stopListening = host.get('events').watch((progress) => {
        if (progress.kind === 'event') made.event(progress.event)
      })
      opened = made
      host.get('strays').logTo(made)
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
    needs: ['home', 'config', 'clock', 'log', 'secrets', 'embedders'],
    provides: ['store', 'bell'],
    async setup(host) {
      const bell = createDoorbell()
      const sqlite = await openSqliteStore({ file: host.get('home').database, clock: host.get('clock') })
      const lost = (await unlessUnreadable(sqlite.setting(LOST_COMMITS), null)) as LostCommits | null
      if (lost !== null) host.get('log').write('error', 'acknowledged commits missing', { message: describeLoss(lost) })
      const hidden = hiding(remindedBy(sqlite, host.get('embedders')), host.get('secrets').hide)
      opened = ringing(overheard(hidden, host.get('log')), bell)
      host.provide('bell', bell)
      host.provide('store', opened)
    },
    stop: () => opened?.close(),
  })
}

/** Their own text: what is to be left out of it is left out by whoever writes it, because its digest is known by then. */
const DOCUMENTS: ReadonlySet<Op['op']> = new Set(['document', 'project'])

/** Whoever writes, and whatever it is: no secret comes to lie in the database. */
function hiding(store: Store, hide: Redact): Store {
  // What a run records was hidden when it was made.
  const isHidden = ({ op }: Op, fence: unknown): boolean =>
    DOCUMENTS.has(op) || (op === 'append' && fence !== undefined)
  const hidden = (batch: Batch): Batch => ({
    ...batch,
    ops: batch.ops.map((op) => (isHidden(op, batch.fence) ? op : redacted(op, hide))),
  })
  return { ...store, commit: (batches) => store.commit(batches.map(hidden)) }
}

/** With an embedder, what is remembered is found by its meaning, too. Looked for when it is asked: plugins bring them. */
function remindedBy(store: Store, embedders: readonly Embedder[]): Store {
  let [recall, of]: [Store['recallFacts'], Embedder | undefined] = [store.recallFacts, undefined]
  return {
    ...store,
    recallFacts(query) {
      const embedder = embedders.at(-1)
      if (embedder !== of) [recall, of] = [embedder ? semanticRecall(store, embedder) : store.recallFacts, embedder]
      return recall(query)
    },
  }
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
