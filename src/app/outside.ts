/** What commands can ask for without an open home. */

import { basename } from 'node:path'
import { makeBackup } from '../adapters/backup/backup.ts'
import { restoreBackup } from '../adapters/backup/restore.ts'
import { readLog } from '../adapters/log.ts'
import { diskOf, exposedOf, nodeVersion, programAt, shut } from '../adapters/machine.ts'
import { refuseOldSqlite } from '../adapters/stores/sqlite/connection.ts'
import { moveWorkspaces, refuseUnsound } from '../adapters/stores/sqlite/copy.ts'
import type { Backups, Machine, Outside } from '../commands/outside.ts'
import { environment, explain, jsonSchema, type LoadedConfig } from '../config.ts'
import type { Signals } from '../engine/advance.ts'
import { BEFORE_RESTORE, type HomePaths, homePaths, isLeftOut, privateParts, staysPut } from '../home.ts'
import { type Clock, iso } from '../ports/clock.ts'
import { traceReader } from '../trace/reader.ts'

export function neverStop(): Signals {
  return { drain: new AbortController().signal, abort: new AbortController().signal }
}

export function outsideOf(
  paths: HomePaths,
  readConfig: () => LoadedConfig,
  clock: Clock,
  signals: Signals = neverStop(),
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
    machine: machineOf(paths),
    log: readLog(paths.logs, clock),
    backups: backupsOf(paths, clock),
    traces: traceReader(paths.traces),
  }
}

function machineOf(paths: HomePaths): Machine {
  return {
    node: nodeVersion(),
    sqlite() {
      const { sqlite = 'none' } = process.versions
      refuseOldSqlite(sqlite)
      return sqlite
    },
    programAt: (name) => programAt(name, environment().PATH ?? ''),
    disk: () => diskOf(paths.root),
    exposed: () => exposedOf(privateParts(paths)),
    shut,
  }
}

function backupsOf(paths: HomePaths, clock: Clock): Backups {
  const { root } = paths
  const database = basename(paths.database)
  return {
    make: (dir, copyDatabase) =>
      makeBackup({ root, database, dir, created_at: iso(clock.now()), isLeftOut, copyDatabase }),
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
        adopt(file, home) {
          refuseUnsound(file)
          if (home !== root) moveWorkspaces(file, homePaths(home).workspaces, paths.workspaces)
        },
      }),
  }
}
