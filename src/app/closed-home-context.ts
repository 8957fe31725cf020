/** Builds the context of commands that run without an open home. */

import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { makeBackup } from '../adapters/backup/backup.ts'
import { listBackups } from '../adapters/backup/manifest.ts'
import { restoreBackup } from '../adapters/backup/restore.ts'
import { createCommandLimits } from '../adapters/envs/host/resource-limits.ts'
import { trySandbox } from '../adapters/envs/sandbox/sandbox.ts'
import { defaultBackupFolder } from '../adapters/installation/upgrade.ts'
import { openLogReader } from '../adapters/log/log.ts'
import { referencePrice } from '../adapters/models/prices.ts'
import { checkSqliteVersion, describeDatabase } from '../adapters/stores/sqlite/connection.ts'
import {
  checkNodeVersion,
  expandPath,
  findExposedPaths,
  findProgram,
  findWorkTree,
  readDisk,
  restrictMode,
} from '../adapters/system/machine.ts'
import type { Backups, ClosedHomeContext, HomeSetup, Machine } from '../commands/lib/closed-home.ts'
import {
  type Config,
  environment,
  explainConfig,
  jsonSchema,
  type LoadedConfig,
  loadConfig,
  userFolder,
} from '../config.ts'
import type { NotIncluded } from '../domain/not-included.ts'
import type { StopSignals } from '../engine/advance.ts'
import {
  BEFORE_RESTORE_PREFIX,
  backupRule,
  type HomePaths,
  homePaths,
  isKeptUnlessReplaced,
  isMachineLocal,
  isSecretsFile,
  linkRule,
  privatePaths,
} from '../home.ts'
import { type Clock, iso } from '../ports/clock.ts'
import type { Models } from '../ports/model.ts'
import { pathBelow } from '../ports/stored-paths.ts'
import { traceReader } from '../trace/reader.ts'
import { adoptBackup, describeSharedStore } from './adopt-backup.ts'
import { createConfiguredSandbox, readLimits } from './choose-sandbox.ts'
import { createInstallationControl } from './installation-control.ts'
import { buildModels, type KeySource } from './model-service.ts'
import { moveStore } from './move-store.ts'
import { scaffoldHome } from './scaffold-home.ts'
import { unredactedKeys } from './secret-service.ts'

export function neverAborted(): StopSignals {
  return { drain: new AbortController().signal, abort: new AbortController().signal }
}

export function createClosedHomeContext(
  paths: HomePaths,
  readConfig: () => LoadedConfig,
  clock: Clock,
  signals: StopSignals = neverAborted(),
  /** Models of an open home, if there is one. */
  models?: Models,
): ClosedHomeContext {
  return {
    clock,
    signals,
    checkConfig() {
      const loaded = readConfig()
      return { file: loaded.file, unused: loaded.unused, unredacted: unredactedKeys(loaded) }
    },
    explainConfig() {
      const loaded = readConfig()
      return { file: loaded.file, items: explainConfig(loaded) }
    },
    configSchema: jsonSchema,
    machine: machineOf(paths, readConfig, clock),
    log: openLogReader(paths.logs, clock),
    backups: backupsOf(paths, readConfig, clock),
    traces: traceReader(paths.traces),
    homeSetup: starterOf(paths, readConfig, clock, models),
    moveStore: async (to, check, tell) => moveStore(paths, readConfig(), clock, to, { check, tell }),
    installation: createInstallationControl({ paths, readConfig, clock, signals }),
  }
}

function starterOf(paths: HomePaths, readConfig: () => LoadedConfig, clock: Clock, opened?: Models): HomeSetup {
  return {
    home: paths.root,
    scaffold: (repository) => scaffoldHome(paths, repository),
    settings: () => readConfig().config.kernel,
    async modelPrices() {
      const loaded = readConfig()
      const models = opened ?? buildModels(loaded, clock, NO_KEYS)
      const { id, why } = await models.choice()
      const price = (await models.list()).find((entry) => entry.id === id)?.price ?? null
      return { own: { id, why, price }, paid: referencePrice(loaded.config.models.max_output) }
    },
  }
}

/** Commands in this context ask no provider, so they need no key. */
const NO_KEYS: KeySource = { filled: (text) => text, know: () => {} }

function machineOf(paths: HomePaths, readConfig: () => LoadedConfig, clock: Clock): Machine {
  return {
    node: checkNodeVersion(),
    sqlite() {
      const { sqlite = 'none' } = process.versions
      checkSqliteVersion(sqlite)
      return sqlite
    },
    database: () => describeDatabase(paths.database),
    programAt: (name) => findProgram(name, environment().PATH ?? ''),
    limits() {
      const limits = createCommandLimits(readLimits(readOrDefaults(readConfig)))
      try {
        return limits.describe()
      } finally {
        limits.close()
      }
    },
    async sandbox() {
      const config = readOrDefaults(readConfig)
      return trySandbox((folder) =>
        createConfiguredSandbox(config, { folder, hidden: [paths.root], env: environment(), clock }),
      )
    },
    disk: () => readDisk(paths.root),
    findExposed: () => findExposedPaths(privatePaths(paths)),
    restrictAccess: restrictMode,
    fullPath: (path, base = '.') => expandPath(path, base, userFolder()),
    pathExists: existsSync,
    workTreeAt: findWorkTree,
  }
}

/** The configuration, or the defaults if the configuration is invalid. */
function readOrDefaults(readConfig: () => LoadedConfig): Config {
  try {
    return readConfig().config
  } catch {
    return loadConfig({ env: {} }).config
  }
}

function backupsOf(paths: HomePaths, readConfig: () => LoadedConfig, clock: Clock): Backups {
  const { root } = paths
  const database = basename(paths.database)
  return {
    folder: defaultBackupFolder(paths.named),
    list: (folder) => listBackups(folder, isSecretsFile),
    make: (dir, copyDatabase, { secrets, followLinks, workspaces }) =>
      makeBackup({
        ...{ root, database, dir, created_at: iso(clock.now()), copyDatabase },
        ruleOf: (path) => backupRule(path, secrets),
        linkRule: (path, target) => linkRule(path, target, followLinks),
        outside: outsideOf(paths, readConfig, workspaces),
      }),
    async restore(dir) {
      const notes = describeSharedStore(paths, readConfig)
      return restoreBackup({
        ...{ root, database, dir, now: iso(clock.now()).replaceAll(':', '-') },
        ...{ staging: paths.restoreStaging, noteFile: paths.restoreNote, asidePrefix: BEFORE_RESTORE_PREFIX },
        isUntouched: isMachineLocal,
        isKeptUnlessReplaced,
        adopt: (staging, home) => [...notes, ...adoptBackup(paths, homePaths(staging), home)],
      })
    },
  }
}

/** What belongs to the home and is outside of it: folders in which agents work, and a configuration file. */
function outsideOf(
  { root, config }: HomePaths,
  readConfig: () => LoadedConfig,
  workspaces: readonly string[],
): readonly Pick<NotIncluded, 'kind' | 'path'>[] {
  const file = fileOf(readConfig) ?? config
  const isOutside = (path: string): boolean => pathBelow(root, path) === undefined
  return [
    ...[file].filter(isOutside).map((path) => ({ kind: 'configuration' as const, path })),
    ...workspaces.filter(isOutside).map((path) => ({ kind: 'workspace' as const, path })),
  ]
}

/** A home whose configuration is invalid now can be backed up. */
function fileOf(readConfig: () => LoadedConfig): string | null {
  try {
    return readConfig().file
  } catch {
    return null
  }
}
