/** The services every app has, by name. */

import type { GitHost } from '../adapters/envs/git.ts'
import type { Sandbox } from '../adapters/envs/sandbox/sandbox.ts'
import type { Trial } from '../adapters/envs/sandbox/self-test.ts'
import type { Log } from '../adapters/log.ts'
import type { OwnSkills } from '../adapters/skills/skills.ts'
import type { ConfigChange, Context, Roster, SecretKeeper, Served } from '../commands/command.ts'
import type { LoadedConfig } from '../config.ts'
import type { Redact } from '../domain/redacted.ts'
import type { Engine } from '../engine/run.ts'
import type { HomePaths } from '../home.ts'
import type { Doorbell } from '../kernel/doorbell.ts'
import type { HeldDispatches } from '../kernel/held.ts'
import type { Notifier } from '../kernel/notifier.ts'
import type { Behaviour, Critic } from '../ports/behaviour.ts'
import type { Channel } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import type { Documents } from '../ports/documents.ts'
import type { Egress } from '../ports/egress.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { Envs } from '../ports/env.ts'
import type { Gate } from '../ports/gate.ts'
import type { Hook } from '../ports/hook.ts'
import type { Ids } from '../ports/ids.ts'
import type { McpServers } from '../ports/mcp.ts'
import type { MemoryKind } from '../ports/memory.ts'
import type { Models } from '../ports/model.ts'
import type { Parser } from '../ports/parser.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Sink } from '../ports/sink.ts'
import type { Store } from '../ports/store.ts'
import type { AnyTool } from '../ports/tool.ts'
import type { HidingStream } from '../secrets/redactor.ts'
import type { StrayFaults } from './stray-faults.ts'

export interface ConfigService {
  /** As it is now. */
  readonly loaded: LoadedConfig
  /** Contract: reads the file without taking it over. */
  read(): LoadedConfig
  /** Contract: where the file has changed, what it says counts from here on; a bad one is refused, and the last good one stays. */
  refresh(): 'same' | 'taken' | 'refused'
  /** Why the file, as it is now, was refused. */
  refused(): string | null
  /** The file, whether or not it is there. */
  readonly file: string
  /** Contract: changes the file and takes it over, or throws `config_invalid` and leaves it as it was. */
  change(changes: readonly ConfigChange[]): void
  readonly roster: Roster
}

export interface SecretService extends Secrets {
  /** Contract: as `hide`, and without what looks like a secret: for what only people read. */
  readonly redact: Redact
  /** Contract: at most so many characters of the redacted text. */
  readonly cut: (text: string, most: number) => string
  /** As `hide`, for a text that comes in pieces. */
  readonly stream: () => HidingStream
  /** Contract: that value is hidden from now on. */
  readonly know: (name: string, value: string) => void
  /** Contract: a text of the configuration with the value of every `secret:NAME` in it; throws `config_invalid` where there is none. */
  readonly filled: (text: string) => string
  /** How often the secrets have changed. */
  changes(): number
  readonly keeper: SecretKeeper
}

/** A list that plugins add to in their set-up. */
export interface Registry<T> {
  add(...items: readonly T[]): void
  /** Contract: at any time, in place of one of the same name that was put before; never of one that was added. */
  put(item: T): void
  readonly all: ReadonlyMap<string, T>
}

declare module '../ports/plugin.ts' {
  interface Services {
    readonly clock: Clock
    readonly ids: Ids
    readonly home: HomePaths
    readonly config: ConfigService
    readonly secrets: SecretService
    readonly log: Pick<Log, 'write'>
    readonly skills: OwnSkills
    readonly store: Store
    readonly bell: Doorbell
    readonly models: Models
    readonly egress: Egress
    readonly envs: Envs
    /** Whether commands can be run, and in what. */
    readonly sandbox: {
      isOn(): boolean
      /** Contract: tries it once; undefined where the owner wants none. */
      trial(): Promise<Trial | undefined>
      known(): Trial | undefined
      /** What servers run in, also where commands run in containers; undefined where the owner wants no sandbox. */
      readonly servers: Sandbox | undefined
      /** How git of our own is confined. */
      readonly git: GitHost
      /** What was taken away because a crash had cut commands short, a line each. */
      readonly swept: readonly string[]
    }
    /** Add one in a plugin's set-up: the last one counts. */
    readonly embedders: Embedder[]
    readonly strays: StrayFaults
    readonly tools: Registry<AnyTool>
    readonly critics: Registry<Critic>
    readonly gates: Registry<Gate>
    readonly behaviours: Registry<Behaviour>
    readonly hooks: Registry<Hook>
    readonly parsers: Registry<Parser>
    readonly memories: Registry<MemoryKind>
    readonly events: {
      readonly sink: Sink
      readonly listen: Context['listen']
      /** As `listen`, for what is built in and changes nothing: it is not frozen yet, which takes time; whoever passes it on freezes it. */
      readonly watch: Context['listen']
      /** Told to whoever listens, and kept nowhere. */
      readonly note: (text: string) => void
      readonly add: (sink: Sink) => void
      /** How many runs are being followed. */
      readonly following: () => number
    }
    readonly engine: Engine
    readonly queue: Pick<Context, 'drain' | 'draining' | 'epoch' | 'signals' | 'stop' | 'tellRun'> & {
      readonly hold: HeldDispatches['hold']
      readonly damage: () => readonly string[]
    }
    readonly mcp: McpServers
    readonly documents: Documents
    readonly channels: Registry<Channel>
    readonly notifier: Notifier
    readonly kernel: Context['kernel']
    /** Contract: listens from the first call on, for the commands of that context. */
    readonly server: { serve(context: Context, how?: { readonly expose?: boolean }): Promise<Served> }
    readonly commands: Context
  }
}
