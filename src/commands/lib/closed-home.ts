/** The services that a command can use without an open home: configuration, machine, log, backups. */

import type { Json } from '../../domain/json.ts'
import type { Price } from '../../domain/money.ts'
import type { NotIncluded } from '../../domain/not-included.ts'
import type { StopSignals } from '../../engine/advance.ts'
import type { KernelSettings } from '../../kernel/settings.ts'
import type { Clock } from '../../ports/clock.ts'
import type { TraceReader } from '../../trace/reader.ts'
import type { InstallationControl } from './installation.ts'

export interface ClosedHomeContext {
  readonly clock: Clock
  readonly signals: StopSignals
  /** Contract: throws `config_invalid` with all problems of the configuration. */
  checkConfig(): {
    readonly file: string | null
    readonly unused: readonly string[]
    /** Keys whose values are taken for ordinary words, not for secrets. */
    readonly unredacted: readonly string[]
  }
  /** Contract: all values with their sources, without secrets; throws `config_invalid` with all problems. */
  explainConfig(): { readonly file: string | null; readonly items: readonly ConfigValue[] }
  configSchema(): Readonly<Record<string, unknown>>
  readonly machine: Machine
  readonly log: LogView
  readonly backups: Backups
  /** Trace files of the home. */
  readonly traces: TraceReader
  readonly homeSetup: HomeSetup
  /**
   * Contract: moves all records of the home to another store, compares them, and switches to it; or changes nothing and
   * throws. `to`: as in the configuration. `check`: copies and compares, then takes everything back.
   */
  moveStore(to: string, check: boolean, tell: (phase: 'copying' | 'comparing') => void): Promise<StoreMove>
  readonly installation: InstallationControl
}

/** Addresses are without user and password. */
export interface StoreMove {
  /** `none`: the home uses this store already. */
  readonly action: 'moved' | 'check' | 'none'
  readonly from: string
  readonly to: string
  /** What was compared, record by record. `sha256`: of all records of a table. */
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly sha256: string }[]
  /** The database with the records from before, which is not used any more. */
  readonly kept: string | null
  readonly notes: readonly string[]
}

/** Creates a home, and forecasts its cost before it exists. */
export interface HomeSetup {
  readonly home: string
  /** Contract: writes missing files of a home and changes no existing one. `repository`: a git work tree to watch. */
  scaffold(repository: string | undefined): ScaffoldedFiles
  /** Contract: the kernel settings from the configuration file; throws `config_invalid` if the file is invalid. */
  settings(): KernelSettings
  /** Contract: the default model, and a well-known paid one to compare with. Sends no request to a provider. */
  modelPrices(): Promise<{ readonly own: PricedModel & { readonly why: string }; readonly paid: PricedModel }>
}

/** Paths relative to the home. */
export interface ScaffoldedFiles {
  readonly wrote: readonly string[]
  /** Files that existed before. */
  readonly kept: readonly string[]
}

export interface PricedModel {
  readonly id: string
  /** Null: the price is unknown. */
  readonly price: Price | null
}

export interface ConfigValue {
  readonly key: string
  readonly value: Json
  readonly source: string
}

/** The machine, and the home's files on it. */
export interface Machine {
  readonly node: { readonly got: string; readonly needed: string; readonly ok: boolean }
  /** Contract: the version of SQLite; throws `store_unsupported` if this version can lose data. */
  sqlite(): string
  /**
   * Contract: schema version of the home's database; null if there is no database or it cannot be read.
   * `copies`: files in which upgrades have kept the database as it was before.
   */
  database(): { readonly schema: number | null; readonly copies: readonly string[] }
  /** Contract: the program's path; undefined if it is not on the PATH. */
  programAt(name: string): string | undefined
  /** The disk that holds the home. `network`: the kind of network file system; undefined if the disk is local. */
  disk(): Promise<{ readonly freeBytes: number; readonly network: string | undefined }>
  /** Contract: tries the sandbox for agents' commands; `off`: the owner disabled it. Never throws. */
  sandbox(): Promise<'off' | SandboxTrial>
  /** Contract: a text about the limits that agents' commands share, and how this machine enforces them. */
  limits(): string
  /** Contract: the files and folders of the home that other users own or can access. */
  findExposed(): Promise<readonly ExposedPart[]>
  /** Contract: removes the access of other users to this part. */
  restrictAccess(part: ExposedPart): Promise<void>
  /** Contract: pure; the absolute path of `~/x`, or of `x` relative to `base`. */
  fullPath(path: string, base?: string): string
  /** Contract: whether a file or folder is at this path. */
  pathExists(path: string): boolean
  /** Contract: the top folder of the git work tree around `folder`; undefined if there is none. */
  workTreeAt(folder: string): Promise<string | undefined>
}

type SandboxTrial =
  | { readonly holds: true; readonly what: string }
  | { readonly holds: false; readonly why: string; readonly remedy: string }

export interface ExposedPart {
  readonly path: string
  readonly mode: number
  readonly wanted: number
  readonly foreign: boolean
}

export interface LogEntry {
  readonly ts: string
  readonly level: string
  readonly event: string
  readonly [detail: string]: Json
}

/** Part of the log. `level`: the least important one; `text`: in any part of an entry, whatever its case. */
interface LogQuery {
  readonly limit: number
  readonly level?: 'info' | 'warn' | 'error' | undefined
  readonly text?: string | undefined
  /** Only older or newer entries than the one with this id. */
  readonly before?: string | undefined
  readonly after?: string | undefined
}

interface LogView {
  /**
   * Contract: the newest matching entries, oldest first, each with an `id` that stays the same when the file is
   * rotated. `more`: whether there may be older ones.
   */
  search(query: LogQuery): Promise<{ readonly items: readonly LogEntry[]; readonly more: boolean }>
  /** Contract: the last `count` entries, oldest first. */
  last(count: number): Promise<readonly LogEntry[]>
  /** Contract: the last `count` entries, then new ones, until `signal` aborts. */
  follow(count: number, signal: AbortSignal, onEntry: (entry: LogEntry) => void): Promise<void>
}

export interface Backups {
  /** Where backups are put by default: beside the home. */
  readonly folder: string
  /** Contract: the backups in a folder, newest first; folders that are no backups are left out. */
  list(folder: string): Promise<readonly ListedBackup[]>
  /** `database`: a function that writes a copy of the database to a file. */
  make(
    dir: string,
    database: (file: string) => Promise<{ readonly schema: number }>,
    options: BackupWishes,
  ): Promise<MadeBackup>
  /** Contract: verifies the whole backup before it changes the home; moves existing files aside, deletes none. */
  restore(dir: string): Promise<RestoredBackup>
}

interface BackupWishes {
  /** Also copy the file of secrets. */
  readonly secrets: boolean
  /** Copy what links of the owner lead to, instead of the links. */
  readonly followLinks: boolean
  /** The folders in which sessions work. */
  readonly workspaces: readonly string[]
}

interface ListedBackup {
  readonly dir: string
  readonly created_at: string
  /** The home that was copied. */
  readonly home: string
  readonly files: number
  readonly bytes: number
  /** Whether it contains the values of secrets. */
  readonly secrets: boolean
}

interface MadeBackup {
  readonly dir: string
  readonly created_at: string
  readonly files: number
  readonly bytes: number
  /** Its files by the first name of their paths. */
  readonly parts: readonly { readonly name: string; readonly files: number; readonly bytes: number }[]
  readonly not_included: readonly NotIncluded[]
}

interface RestoredBackup {
  readonly from: string
  readonly created_at: string
  readonly files: number
  /** Folder with the files of the previous home; null if there was none. */
  readonly before: string | null
  readonly notes: readonly string[]
  /** What the backup says that it lacks. */
  readonly not_included: readonly NotIncluded[]
}
