/**
 * Moves the records of a home between its SQLite file and PostgreSQL.
 *
 * Order: copy and compare, in one transaction of PostgreSQL that leaves a mark; switch `store` in the configuration, by
 * one rename; set the old database aside; end the mark. A kill before the switch leaves the home as it was, and the
 * same command starts over. A kill after it leaves a home that has switched; its next start does the rest.
 */

import { existsSync, renameSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { noteSharedRecords } from '../adapters/stores/audit-seal.ts'
import { rowsOfHome } from '../adapters/stores/copy/convert-rows.ts'
import type { RecordMove } from '../adapters/stores/postgres/move-records.ts'
import { checkIntegrity, copyDatabase, lastAuditNumber, upgradeCopy } from '../adapters/stores/sqlite/copy-database.ts'
import { fsyncPath } from '../adapters/stores/sqlite/fsync.ts'
import { setDatabaseAside } from '../adapters/stores/sqlite/set-database-aside.ts'
import { openSqliteStore } from '../adapters/stores/sqlite/store.ts'
import { newSecret } from '../adapters/system/ids.ts'
import type { StoreMove } from '../commands/lib/closed-home.ts'
import { changeFile, environment, expandVariables, type LoadedConfig, tryFile } from '../config.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { assertReplaceable } from '../files/whole-files.ts'
import { BEFORE_MOVE_PREFIX, checkRestoreFinished, type HomePaths, versionsOf } from '../home.ts'
import { type Clock, iso } from '../ports/clock.ts'
import { placesOf } from '../ports/stored-paths.ts'
import { readConfig } from './config-service.ts'
import { homeId } from './home-id.ts'
import { noteRoot } from './home-roots.ts'

interface MoveContext {
  readonly paths: HomePaths
  readonly clock: Clock
  readonly loaded: LoadedConfig
  /** The address as it is to be written, with references to variables. */
  readonly written: string
  readonly isTrial: boolean
  tell(phase: 'copying' | 'comparing'): void
}

interface MoveOptions {
  /** True: copies and compares, then takes everything back. */
  readonly check: boolean
  tell(phase: 'copying' | 'comparing'): void
}

export async function moveStore(
  paths: HomePaths,
  loaded: LoadedConfig,
  clock: Clock,
  written: string,
  { check, tell }: MoveOptions,
): Promise<StoreMove> {
  checkRestoreFinished(paths)
  removeStaging(paths)
  const context: MoveContext = { paths, clock, loaded, written, isTrial: check, tell }
  const to = readTarget(context)
  const from = loaded.config.store
  const move = { from: showAddress(from), to: showAddress(to) }
  if (from === to) return { ...move, action: 'none', tables: [], ...(await finishEarlier(context, to)) }
  if (from !== 'sqlite' && to !== 'sqlite')
    throw new TirelessError('usage', {
      what: 'records cannot be moved from one PostgreSQL database to another',
      fix: 'use pg_dump and pg_restore; or move them to sqlite first',
    })
  tell('copying')
  const done = to === 'sqlite' ? await moveOut(context, from) : await moveIn(context, to)
  return { ...move, action: check ? 'check' : 'moved', ...done }
}

type Moved = Pick<StoreMove, 'tables' | 'kept' | 'notes'>

/** A move that was killed after the switch. */
async function finishEarlier({ paths, clock }: MoveContext, url: string): Promise<Omit<Moved, 'tables'>> {
  let kept: string | null = null
  if (url !== 'sqlite') {
    const { finishMove } = await import('../adapters/stores/postgres/move-records.ts')
    await finishMove(url, {
      id: homeId(paths.root),
      completeMoveIn() {
        kept = setDatabaseAside(paths.database, pathAside(paths, clock))
      },
    })
  }
  return { kept, notes: [] }
}

async function moveIn(context: MoveContext, url: string): Promise<Moved> {
  const { paths, clock, isTrial } = context
  const { completeMoveIn, moveIntoPostgres } = await import('../adapters/stores/postgres/move-records.ts')
  const copy = stagingFile(paths)
  const source = isTrial ? copy : paths.database
  const tables = await unchanged(async () => {
    try {
      await (isTrial ? copyForTrial(paths, copy) : migrateOwn(paths, clock))
      checkIntegrity(source)
      return await moveIntoPostgres(recordMove(context, url, source, 'into'))
    } finally {
      removeStaging(paths)
    }
  })
  if (isTrial) return { tables, kept: null, notes: [] }
  switchStore(context, url)
  const kept = setDatabaseAside(paths.database, pathAside(paths, clock))
  return { tables, kept, notes: await notesOfEnding(completeMoveIn(url)) }
}

/** Opening it migrates an older schema, and records lost commits. */
async function migrateOwn(paths: HomePaths, clock: Clock) {
  const { auditKey: keyFile, auditHead: headFile, database: file } = paths
  const roots = placesOf(noteRoot(paths))
  const opened = await openSqliteStore({ file, roots, clock, audit: { keyFile, headFile, newKey: newSecret } })
  await opened.close()
}

async function copyForTrial(paths: HomePaths, copy: string): Promise<void> {
  if (existsSync(paths.database)) await copyDatabase(paths.database, copy)
  upgradeCopy(copy, placesOf(noteRoot(paths)))
}

async function moveOut(context: MoveContext, url: string): Promise<Moved> {
  const { paths, clock, isTrial } = context
  const { completeMoveOut, moveOutOfPostgres } = await import('../adapters/stores/postgres/move-records.ts')
  const move = recordMove(context, url, stagingFile(paths), 'out')
  try {
    const { tables, elsewhere } = await unchanged(() => moveOutOfPostgres(move))
    const without = elsewhere.map(filesStay)
    if (isTrial) return { tables, kept: null, notes: without }
    noteSharedRecords(paths.auditKey, lastAuditNumber(stagingFile(paths)))
    const old = setDatabaseAside(paths.database, pathAside(paths, clock))
    renameSync(stagingFile(paths), paths.database)
    fsyncPath(paths.root)
    switchStore(context, 'sqlite')
    const found = old === null ? [] : [`a database file that the home did not use is now ${old}`]
    const notes = [...found, ...without, ...(await notesOfEnding(completeMoveOut(url, move.mark)))]
    return { tables, kept: showAddress(url), notes }
  } finally {
    removeStaging(paths)
  }
}

const filesStay = ({ host, sessions }: { readonly host: string; readonly sessions: number }): string =>
  `the files of ${sessions === 1 ? '1 session' : `${sessions} sessions`} are in another home on ${host}, and stay there`

/** The home has switched, so a database that is away now is no failure of the move. */
const notesOfEnding = (ending: Promise<unknown>): Promise<readonly string[]> =>
  ending.then(
    () => [],
    (thrown) => [`the mark of the move could not be removed from the database: ${asTirelessError(thrown).problem}`],
  )

const stagingFile = ({ database }: HomePaths): string => `${database}.moving`

function removeStaging(paths: HomePaths): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(stagingFile(paths) + suffix, { force: true })
}

function recordMove(context: MoveContext, url: string, file: string, way: 'into' | 'out'): RecordMove {
  const { paths, clock, isTrial, tell } = context
  const home = homeId(paths.root)
  return {
    ...{ url, file, isTrial, convert: rowsOfHome(home, noteRoot(paths), way), onCopied: () => tell('comparing') },
    mark: { home, folder: paths.root, host: hostname(), at: iso(clock.now()) },
  }
}

/** Contract: where a database file goes that the records have left. */
export const pathAside = ({ root }: HomePaths, clock: Clock): string =>
  join(root, `${BEFORE_MOVE_PREFIX}${iso(clock.now()).replaceAll(':', '-')}.db`)

/** Says with every error that the home is as it was. */
async function unchanged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const { code, parts } = asTirelessError(thrown)
    throw new TirelessError(
      code,
      { ...parts, what: `${parts.what}; the records were not moved, and the home works as before` },
      { cause: thrown },
    )
  }
}

const ADDRESS = /^(sqlite|postgres(ql)?:\/\/\S+)$/

/** Contract: the address that the configuration will name; throws `usage`, without a password. */
function readTarget({ paths, loaded, written }: MoveContext): string {
  const { text, faults } = expandVariables(written, environment())
  const missing = faults.flatMap((fault) => (fault.kind === 'missing' ? [fault.name] : []))
  if (missing.length > 0)
    throw new TirelessError('usage', {
      what: `the address names ${missing.join(', ')}, which is not set in the environment`,
      fix: 'set it for this command and for the process that runs the home',
    })
  if (!ADDRESS.test(text))
    throw new TirelessError('usage', {
      what: 'this is not an address of a store',
      expected: `sqlite, postgres://user:password@host:5432/database, or a variable such as '\${DATABASE_URL}'`,
    })
  // Found out before anything is copied: the file may be read-only, or name the store in a way that cannot be changed.
  assertReplaceable(configFile(paths, loaded))
  const changes = [{ path: ['store'], value: written }]
  tryFile({ file: configFile(paths, loaded), changes }, checkDraft(paths, loaded, text))
  return text
}

const configFile = (paths: HomePaths, { file }: LoadedConfig): string => file ?? paths.config

const checkDraft =
  (paths: HomePaths, loaded: LoadedConfig, expected: string) =>
  (text: string): void => {
    const file = configFile(paths, loaded)
    const { config } = readConfig(paths, file === paths.config ? undefined : file, { [file]: text })
    if (config.store !== expected) throw new TirelessError('internal', 'the changed configuration names another store')
  }

/** The switch: before it, the home uses the old database, after it the new one. */
function switchStore({ paths, loaded, written }: MoveContext, address: string): void {
  const file = configFile(paths, loaded)
  const changes = [{ path: ['store'], value: written }]
  changeFile({ file, changes, versions: versionsOf(paths, file) }, checkDraft(paths, loaded, address))
}

/** Contract: the address without user, password and options. */
export function showAddress(address: string): string {
  if (address === 'sqlite') return address
  const { host, pathname } = new URL(address)
  return `postgres://${host}${pathname}`
}
