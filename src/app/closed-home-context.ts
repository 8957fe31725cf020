/** Builds the context of commands that run without an open home. */

import { basename } from 'node:path'
import { makeBackup } from '../adapters/backup/backup.ts'
import { restoreBackup } from '../adapters/backup/restore.ts'
import { commandLimits } from '../adapters/envs/host/resource-limits.ts'
import { trySandbox } from '../adapters/envs/sandbox/sandbox.ts'
import { readLog } from '../adapters/log.ts'
import { diskOf, exposedOf, fullPath, nodeVersion, programAt, shut, workTreeAt } from '../adapters/machine.ts'
import { yardstick } from '../adapters/models/prices.ts'
import { describeDatabase, refuseOldSqlite } from '../adapters/stores/sqlite/connection.ts'
import { bringForward, moveWorkspaces, refuseUnsound } from '../adapters/stores/sqlite/copy.ts'
import type { Backups, Machine, Outside, Starter } from '../commands/outside.ts'
import { type Config, environment, explain, jsonSchema, type LoadedConfig, loadConfig, userFolder } from '../config.ts'
import type { Signals } from '../engine/advance.ts'
import { BEFORE_RESTORE, type HomePaths, homePaths, isLeftOut, isOfSecrets, privateParts, staysPut } from '../home.ts'
import { type Clock, iso } from '../ports/clock.ts'
import type { Models } from '../ports/model.ts'
import { traceReader } from '../trace/reader.ts'
import { limitsIn, sandboxFor } from './choose-sandbox.ts'
import { type KeySource, modelsIn } from './model-service.ts'
import { furnish } from './scaffold-home.ts'

export function neverStop(): Signals {
  return { drain: new AbortController().signal, abort: new AbortController().signal }
}

export function outsideOf(
  paths: HomePaths,
  readConfig: () => LoadedConfig,
  clock: Clock,
  signals: Signals = neverStop(),
  /** Models of an open home, if there is one. */
  models?: Models,
): Outside {
  return {
    clock,
    signals,
    checkConfig: readConfig,
    explainConfig() {
      const loaded = readConfig()
      return { file: loaded.file, items: explain(loaded) }
    },
    configSchema: jsonSchema,
    machine: machineOf(paths, readConfig, clock),
    log: readLog(paths.logs, clock),
    backups: backupsOf(paths, clock),
    traces: traceReader(paths.traces),
    starter: starterOf(paths, readConfig, clock, models),
  }
}

function starterOf(paths: HomePaths, readConfig: () => LoadedConfig, clock: Clock, opened?: Models): Starter {
  return {
    home: paths.root,
    furnish: (repository) => furnish(paths, repository),
    settings: () => readConfig().config.kernel,
    async prospects() {
      const loaded = readConfig()
      const models = opened ?? modelsIn(loaded, clock, NO_KEYS)
      const { id, why } = await models.choice()
      const price = (await models.list()).find((entry) => entry.id === id)?.price ?? null
      return { own: { id, why, price }, paid: yardstick(loaded.config.models.max_output) }
    },
  }
}

/** No provider is asked, so no key is needed. */
const NO_KEYS: KeySource = { filled: (text) => text, know: () => {} }

function machineOf(paths: HomePaths, readConfig: () => LoadedConfig, clock: Clock): Machine {
  return {
    node: nodeVersion(),
    sqlite() {
      const { sqlite = 'none' } = process.versions
      refuseOldSqlite(sqlite)
      return sqlite
    },
    database: () => describeDatabase(paths.database),
    programAt: (name) => programAt(name, environment().PATH ?? ''),
    limits() {
      const limits = commandLimits(limitsIn(readOrDefaults(readConfig)))
      try {
        return limits.describe()
      } finally {
        limits.close()
      }
    },
    async sandbox() {
      const config = readOrDefaults(readConfig)
      return trySandbox((folder) => sandboxFor(config, { folder, hidden: [paths.root], env: environment(), clock }))
    },
    disk: () => diskOf(paths.root),
    exposed: () => exposedOf(privateParts(paths)),
    shut,
    fullPath: (path, base = '.') => fullPath(path, base, userFolder()),
    workTreeAt,
  }
}

/** An invalid configuration counts as the defaults. */
function readOrDefaults(readConfig: () => LoadedConfig): Config {
  try {
    return readConfig().config
  } catch {
    return loadConfig({ env: {} }).config
  }
}

function backupsOf(paths: HomePaths, clock: Clock): Backups {
  const { root } = paths
  const database = basename(paths.database)
  return {
    make: (dir, copyDatabase, secrets) =>
      makeBackup({
        ...{ root, database, dir, created_at: iso(clock.now()), copyDatabase },
        isLeftOut: (name) => isLeftOut(name) || (!secrets && isOfSecrets(name)),
      }),
    restore: (dir) =>
      restoreBackup({
        root,
        database,
        dir,
        now: iso(clock.now()).replaceAll(':', '-'),
        staging: paths.restoreStaging,
        note: paths.restoreNote,
        aside: BEFORE_RESTORE,
        staysPut,
        staysUnlessReplaced: isOfSecrets,
        adopt(file, home) {
          refuseUnsound(file)
          bringForward(file)
          if (home !== root) moveWorkspaces(file, homePaths(home).workspaces, paths.workspaces)
        },
      }),
  }
}
