/** What there is for a command without an open home: the configuration, the machine, the log, the backups. */

import type { Json } from '../domain/json.ts'
import type { Price } from '../domain/money.ts'
import type { Signals } from '../engine/advance.ts'
import type { Settings } from '../kernel/settings.ts'
import type { Clock } from '../ports/clock.ts'
import type { TraceReader } from '../trace/reader.ts'

export interface Outside {
  readonly clock: Clock
  readonly signals: Signals
  /** Contract: throws `config_invalid` naming every problem. */
  checkConfig(): { readonly file: string | null; readonly unused: readonly string[] }
  /** Contract: as checkConfig; secrets are not among the values. */
  explainConfig(): { readonly file: string | null; readonly items: readonly ConfigValue[] }
  configSchema(): Readonly<Record<string, unknown>>
  readonly machine: Machine
  readonly log: LogReader
  readonly backups: Backups
  /** The traces as they lie in the home. */
  readonly traces: TraceReader
  readonly starter: Starter
}

/** What is asked for before there is a home, and to say what it will be like. */
export interface Starter {
  readonly home: string
  /** Contract: writes what a fresh home has and this one has not, and changes nothing. `repository`: a git work tree to be watched. */
  furnish(repository: string | undefined): Furnished
  /** Contract: of the kernel, as they are in the file now; throws `config_invalid`. */
  settings(): Settings
  /** Contract: the model that is asked where nobody names one, and a well-known one that costs money. Asks no provider. */
  prospects(): Promise<{ readonly own: Prospect & { readonly why: string }; readonly paid: Prospect }>
}

/** Names within the home. */
export interface Furnished {
  readonly wrote: readonly string[]
  /** What was there before. */
  readonly kept: readonly string[]
}

export interface Prospect {
  readonly id: string
  /** Null: not known. */
  readonly price: Price | null
}

export interface ConfigValue {
  readonly key: string
  readonly value: Json
  readonly source: string
}

/** The machine, and the home as the machine sees it. */
export interface Machine {
  readonly node: { readonly got: string; readonly needed: string; readonly ok: boolean }
  /** Contract: the version; throws `store_unsupported` when it is not safe. */
  sqlite(): string
  /** Contract: the schema of the home's database; null where there is none that can be read. `copies`: files that upgrades of it have kept. */
  database(): { readonly schema: number | null; readonly copies: readonly string[] }
  /** Contract: where the program is; undefined where it is not on the PATH. */
  programAt(name: string): string | undefined
  /** Of the disk that the home is on. `network`: the kind of file system, where it is one that is shared over a network. */
  disk(): Promise<{ readonly freeBytes: number; readonly network: string | undefined }>
  /** Contract: what commands of agents run in, tried; `off`: the owner wants none. Never throws. */
  sandbox(): Promise<'off' | SandboxTrial>
  /** Contract: what all commands together may take of the machine, and how that is held here. */
  limits(): string
  /** Contract: the parts of the home that others could reach, or that are another's. */
  exposed(): Promise<readonly Exposed[]>
  /** Contract: takes away what others may do with it. */
  shut(part: Exposed): Promise<void>
  /** Contract: pure; what people call `~/x` or `x` from `base` on. */
  fullPath(path: string, base?: string): string
  /** Contract: the top of the git work tree that the folder is in; undefined where it is in none. */
  workTreeAt(folder: string): Promise<string | undefined>
}

export type SandboxTrial =
  | { readonly holds: true; readonly what: string }
  | { readonly holds: false; readonly why: string; readonly remedy: string }

export interface Exposed {
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

export interface LogReader {
  /** Contract: the last so many, oldest first. */
  last(count: number): Promise<readonly LogEntry[]>
  /** Contract: those, then whatever is written, until the signal. */
  follow(count: number, signal: AbortSignal, hear: (entry: LogEntry) => void): Promise<void>
}

export interface Backups {
  /** `database`: writes a copy of the database into that file. `secrets`: with the file of secrets. */
  make(
    dir: string,
    database: (file: string) => Promise<{ readonly schema: number }>,
    secrets: boolean,
  ): Promise<MadeBackup>
  /** Contract: nothing of the home is touched before the whole backup is found good; then what is there is set aside, never deleted. */
  restore(dir: string): Promise<RestoredBackup>
}

export interface MadeBackup {
  readonly dir: string
  readonly created_at: string
  readonly files: number
  readonly bytes: number
  /** What could not be part of it: neither file, folder nor link, or not readable. */
  readonly skipped: readonly string[]
}

export interface RestoredBackup {
  readonly from: string
  readonly created_at: string
  readonly files: number
  /** Where what was there before is now; null where there was nothing. */
  readonly before: string | null
}
