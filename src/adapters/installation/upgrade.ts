/**
 * Replaces the running version of the program by another, so that a failure or a kill at any moment leaves one that
 * works with the home.
 *
 * Order: install the new version beside the old one; back up the home; let the new version restore that backup into a
 * copy and open the copy; only then select the new version, by one rename; then let it open the home. The old version
 * can not open a home that the new one has migrated, so the new one is selected before it opens the home.
 */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { PeopleText } from '../../domain/language.ts'
import { type InstalledPackage, readSelection, type Selection, writeSelection } from './installation.ts'
import { installPackage, type PackageSource } from './npm-package.ts'
import { createOtherVersion, type OtherVersion, type RunContext } from './other-version.ts'
import type { Service } from './service.ts'
import { UPGRADE_TEXTS } from './upgrade-texts.ts'

export interface UpgradeOptions extends RunContext {
  readonly installation: InstalledPackage
  /** The newest schema that the running version can open. */
  readonly schema: number
  /** Contract: the schema of the home's database file; null if there is none. */
  homeSchema(): number | null
  /** Whether the records of the home are in PostgreSQL, which only adds to its schema, so no version replaces them. */
  readonly isOnPostgres: boolean
  /** Whether a restore of the home was interrupted, so that nothing can open it. */
  isRestoring(): boolean
  /** Contract: the process that holds the home; undefined if none does. */
  holder(): number | undefined
  readonly service: Service
  /** Contract: the time now, as a part of file names. */
  stamp(): string
  tell(text: PeopleText): void
}

interface UpgradeResult {
  readonly from: string
  readonly to: string
  readonly backup: string | null
  /** What is left to do, in words. */
  readonly notes: readonly PeopleText[]
}

const STAGING = '.installing-'
const TRIAL = '.trial-'

/** `backups`: the folder for the backup of the home. */
export async function upgradeProgram(
  options: UpgradeOptions,
  source: PackageSource,
  backups: string,
): Promise<UpgradeResult> {
  const { installation, tell } = options
  removeLeftovers(installation.versions, STAGING)
  removeLeftovers(backups, TRIAL)
  const staging = createStaging(installation.versions)
  let prepared: Prepared
  try {
    prepared = await prepare(options, source, staging, backups)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  const { version, backup, selection } = prepared
  const restarted = await openWithNewVersion(options, selection, backup)
  const holder = restarted ? undefined : options.holder()
  if (holder === undefined) removeUnused(installation, selection)
  tell(UPGRADE_TEXTS.switched(version))
  return {
    ...{ from: installation.version, to: version, backup },
    notes: [
      ...(restarted ? [UPGRADE_TEXTS.restarted] : []),
      ...(holder === undefined ? [] : [UPGRADE_TEXTS.stillRuns(holder, installation.version)]),
      ...(backup === null ? [] : [UPGRADE_TEXTS.backup(backup)]),
      UPGRADE_TEXTS.undo,
    ],
  }
}

interface Prepared {
  readonly version: string
  readonly backup: string | null
  readonly selection: Selection
}

/** Contract: does everything up to the switch, and the switch; a throw leaves nothing but the old version. */
async function prepare(
  options: UpgradeOptions,
  source: PackageSource,
  staging: string,
  backups: string,
): Promise<Prepared> {
  const { installation, tell, run, env, signal } = options
  tell(UPGRADE_TEXTS.installing(source.spec, installation.version))
  const version = await installPackage(source, staging, run, { env, signal })
  const stamp = options.stamp()
  const hasRecords = options.isOnPostgres || options.homeSchema() !== null
  const backup = hasRecords ? join(backups, `before-${version}-${stamp}`) : null
  const trial = join(backups, `${TRIAL}${process.pid}`)
  try {
    await tryOnCopy(options, { staging, version, backup, trial })
    tell(UPGRADE_TEXTS.switching(version))
    const folder = unusedFolder(installation.versions, version)
    renameSync(staging, join(installation.versions, folder))
    const { schema, home } = options
    const previous = { folder: installation.folder, version: installation.version, schema, home, backup }
    const selection = { folder, version, switched_at: stamp, previous }
    select(installation, selection)
    return { version, backup, selection }
  } catch (thrown) {
    if (backup !== null) rmSync(backup, { recursive: true, force: true })
    throw thrown
  } finally {
    rmSync(trial, { recursive: true, force: true })
    removeIfEmpty(backups)
  }
}

/** Contract: a throw leaves the old selection, and nothing of the new version. */
function select({ versions }: InstalledPackage, selection: Selection): void {
  try {
    writeSelection(versions, selection)
  } catch (thrown) {
    if (selection.folder !== null) rmSync(join(versions, selection.folder), { recursive: true, force: true })
    throw thrown
  }
}

interface Trial {
  readonly staging: string
  readonly version: string
  readonly backup: string | null
  readonly trial: string
}

/** The new version restores the backup into a copy (which checks and migrates it) and opens the copy. */
async function tryOnCopy(options: UpgradeOptions, { staging, version, backup, trial }: Trial): Promise<void> {
  const fresh = createOtherVersion(options, version, { staging })
  if (backup === null) return fresh.start()
  options.tell(UPGRADE_TEXTS.backingUp(options.home, backup))
  await ownVersion(options).backUp(backup)
  // A configuration outside the home would lead the copy to the records of the home.
  if (options.isOnPostgres && options.configFile !== undefined) return fresh.start()
  options.tell(UPGRADE_TEXTS.trying(version))
  await fresh.restore(backup, trial)
  await fresh.open(trial)
}

const ownVersion = (options: UpgradeOptions): OtherVersion =>
  createOtherVersion(options, options.installation.version, { folder: options.installation.folder })

/** Contract: true if a service was restarted; if the new version fails, the old one is back and the error is thrown. */
async function openWithNewVersion(
  options: UpgradeOptions,
  { folder, version }: Selection,
  backup: string | null,
): Promise<boolean> {
  const { service, home } = options
  const fresh = createOtherVersion(options, version, { folder })
  const { running } = await service.state()
  try {
    if (running) await service.stop()
    if (backup !== null) await fresh.open(home)
    if (running) await service.start()
    return running === true
  } catch (thrown) {
    options.tell(UPGRADE_TEXTS.goingBack(version, options.installation.version))
    // The owner's Ctrl-C must not interrupt the way back.
    await goBack({ ...options, signal: undefined }, backup)
    if (running) await service.start()
    throw new TirelessError('conflict', {
      what: `${version} could not open the home, so ${options.installation.version} is selected again`,
      got: asTirelessError(thrown).message,
    })
  }
}

/** The home comes first: if this is killed half-way, the new version opens the old home again. */
async function goBack(options: UpgradeOptions, backup: string | null): Promise<void> {
  const { installation, home, schema } = options
  const mustRestore = options.isRestoring() || (!options.isOnPostgres && (options.homeSchema() ?? 0) > schema)
  if (mustRestore && backup !== null) await ownVersion(options).restore(backup, home)
  const { folder, version } = installation
  writeSelection(installation.versions, { folder, version, switched_at: options.stamp(), previous: null })
}

interface UndoResult {
  readonly from: string
  readonly to: string
  /** The backup that replaced the home; null: the old version can open the home as it is. */
  readonly restored: string | null
  readonly notes: readonly PeopleText[]
}

/** Contract: selects the version before the last upgrade; a home that it cannot open is replaced by its backup. */
export async function undoUpgrade(options: UpgradeOptions): Promise<UndoResult> {
  const { installation, service, home, tell } = options
  const selection = readSelection(installation.versions)
  const previous = selection?.previous
  if (!selection || !previous)
    throw new TirelessError('not_found', {
      what: 'there is no upgrade to go back from',
      ...{ got: installation.version, fix: 'install another version: tireless upgrade --from VERSION' },
    })
  const older = createOtherVersion(options, previous.version, { folder: previous.folder })
  const isNewer = !options.isOnPostgres && (options.homeSchema() ?? 0) > previous.schema
  const mustRestore = options.isRestoring() || isNewer
  const backup = mustRestore ? backupOf(previous, home) : null
  const { running } = await service.state()
  if (running) await service.stop()
  try {
    if (backup !== null) {
      refuseWhileHeld(options.holder())
      tell(UPGRADE_TEXTS.restoring(backup))
      await older.restore(backup, home)
    }
    const { folder, version } = previous
    writeSelection(installation.versions, { folder, version, switched_at: options.stamp(), previous: null })
  } finally {
    if (running) await service.start()
  }
  const holder = running ? undefined : options.holder()
  return {
    ...{ from: selection.version, to: previous.version, restored: backup },
    notes: [
      ...(backup === null ? [] : [UPGRADE_TEXTS.keptBefore]),
      ...(holder === undefined ? [] : [UPGRADE_TEXTS.stillRuns(holder, selection.version)]),
    ],
  }
}

function backupOf({ home, backup, version }: NonNullable<Selection['previous']>, wanted: string): string {
  if (home === wanted && backup !== null && existsSync(backup)) return backup
  throw new TirelessError('conflict', {
    what: `${version} cannot open this home any more, and there is no backup of it from before the upgrade`,
    ...{ got: backup ?? 'no backup', fix: 'use the newer version, or restore a backup of your own' },
  })
}

function refuseWhileHeld(pid: number | undefined): void {
  if (pid === undefined) return
  throw new TirelessError('home_locked', {
    what: 'the home has to be restored, and a process holds it',
    ...{ got: `process ${pid}`, fix: 'run tireless stop, then tireless upgrade --undo again' },
  })
}

function createStaging(versions: string): string {
  const staging = join(versions, `${STAGING}${process.pid}`)
  try {
    mkdirSync(staging, { recursive: true })
    return staging
  } catch (cause) {
    const fix = 'upgrade it as it was installed (sudo npm install -g …), or install it in a folder of your own'
    const got = asTirelessError(cause).message
    throw new TirelessError('path_refused', { what: 'you may not write where the program is installed', got, fix })
  }
}

function unusedFolder(versions: string, version: string): string {
  for (let i = 1; ; i += 1) {
    const folder = i === 1 ? version : `${version}-${i}`
    if (!existsSync(join(versions, folder))) return folder
  }
}

/** Removes what a killed upgrade left behind; the name ends with the id of its process. */
function removeLeftovers(folder: string, prefix: string): void {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(prefix)) : []
  for (const name of names)
    if (!isAlive(Number(name.slice(prefix.length)))) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Keeps the selected version, the one before it, and the one that npm installed. */
function removeUnused({ versions }: InstalledPackage, { folder, previous }: Selection): void {
  for (const name of readdirSync(versions))
    if (![folder, previous?.folder, 'current.json'].includes(name) && !name.startsWith(STAGING))
      rmSync(join(versions, name), { recursive: true, force: true })
}

function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmSync(folder, { recursive: true, force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Contract: the folder for backups of a home: beside it, because a home cannot contain its own copy. */
export const defaultBackupFolder = (home: string): string => join(dirname(home), `${basename(home)}-backups`)
