/** The built-in services of an app, by name. */

import type { GitSandbox } from '../adapters/envs/git.ts'
import type { CommandLimits } from '../adapters/envs/host/resource-limits.ts'
import type { Sandbox } from '../adapters/envs/sandbox/sandbox.ts'
import type { SandboxTestResult } from '../adapters/envs/sandbox/self-test.ts'
import type { Log } from '../adapters/log/log.ts'
import type { PluginLibrary } from '../adapters/plugins/plugin-library.ts'
import type { ManagedSkills } from '../adapters/skills/skills.ts'
import type { AgentDirectory } from '../commands/lib/agent-directory.ts'
import type { CommandContext, ConfigChange, ServerAddress } from '../commands/lib/context.ts'
import type { Progress } from '../commands/lib/progress.ts'
import type { SecretVault } from '../commands/lib/secret-vault.ts'
import type { LoadedConfig } from '../config.ts'
import type { Redact } from '../domain/redact.ts'
import type { Engine } from '../engine/run.ts'
import type { HomePaths } from '../home.ts'
import type { ChannelConnections } from '../kernel/channels/connections.ts'
import type { Notifier } from '../kernel/notify/notifier.ts'
import type { ProgressMessages } from '../kernel/notify/progress-messages.ts'
import type { HeldDispatches } from '../kernel/queue/held-dispatches.ts'
import type { Leadership } from '../kernel/queue/leadership.ts'
import type { WakeSignal } from '../kernel/queue/wake-signal.ts'
import type { Residents } from '../kernel/residents/residents.ts'
import type { PastSources } from '../past/past-sources.ts'
import type { Ai, FactMemory, Runtime } from '../ports/agent-services.ts'
import type { Behaviour, Critic } from '../ports/behaviour.ts'
import type { Bus } from '../ports/bus.ts'
import type { Channel } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import type { Documents } from '../ports/documents.ts'
import type { Egress } from '../ports/egress.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { EnvKind, Envs } from '../ports/env.ts'
import type { Gate } from '../ports/gate.ts'
import type { Hook } from '../ports/hook.ts'
import type { Ids } from '../ports/ids.ts'
import type { McpServers } from '../ports/mcp.ts'
import type { MemoryKind } from '../ports/memory.ts'
import type { ModelProvider, Models } from '../ports/model.ts'
import type { OwnerNeeds } from '../ports/needs.ts'
import type { Parser } from '../ports/parser.ts'
import type { RecoveryRule } from '../ports/recovery-rule.ts'
import type { RunSink } from '../ports/run-sink.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Source, Sources } from '../ports/source.ts'
import type { StopRule } from '../ports/stop-rule.ts'
import type { Store } from '../ports/store.ts'
import type { StoredPaths } from '../ports/stored-paths.ts'
import type { AnyTool } from '../ports/tool.ts'
import type { RedactingStream } from '../secrets/redactor.ts'
import type { RedactedRecords } from '../trace/redacted-records.ts'
import type { AllRuns } from './all-runs.ts'
import type { StoreClock } from './store-clock.ts'
import type { UnhandledErrors } from './unhandled-errors.ts'

interface ConfigService {
  /** The configuration in use. */
  readonly loaded: LoadedConfig
  /** Contract: reads the configuration file without applying it. */
  read(): LoadedConfig
  /**
   * Contract: applies the file if it changed. An invalid file is refused, and the last valid configuration stays in
   * use.
   */
  refresh(): 'same' | 'taken' | 'refused'
  /** Why the current file was refused; null if it was not. */
  refused(): string | null
  /** Path of the file, whether or not it exists. */
  readonly file: string
  /** Contract: changes the file and applies it; on `config_invalid` nothing changes. Returns the copy of it before. */
  change(changes: readonly ConfigChange[]): string | null
  readonly roster: AgentDirectory
}

export interface SecretService extends Secrets {
  /** Contract: as `hide`, and removes texts that look like a secret; only for texts that people read. */
  readonly redact: Redact
  /** Contract: redacts the text and shortens it to `most` characters. */
  readonly cut: (text: string, most: number) => string
  /** Contract: as `hide`, for text that comes in pieces. */
  readonly stream: () => RedactingStream
  /** Contract: redacts this value from now on. */
  readonly know: (name: string, value: string) => void
  /** Contract: replaces every `secret:NAME` in a configuration text by its value; `config_invalid` if unknown. */
  readonly filled: (text: string) => string
  /** Number of changes to the secrets so far. */
  changes(): number
  readonly keeper: SecretVault
}

/** A list that plugins add to during set-up. */
export interface Registry<T> {
  add(...items: readonly T[]): void
  /** Contract: may be called at any time; replaces an item that was put before, never one that was added. */
  put(item: T): void
  readonly all: ReadonlyMap<string, T>
}

declare module '../ports/plugin.ts' {
  interface Services {
    readonly clock: Clock
    readonly storeClock: StoreClock
    readonly ids: Ids
    readonly home: HomePaths
    /** How records name paths of the home. */
    readonly storedPaths: StoredPaths
    readonly config: ConfigService
    readonly secrets: SecretService
    readonly log: Pick<Log, 'write'>
    readonly skills: ManagedSkills
    readonly store: Store
    readonly needs: OwnerNeeds
    readonly bell: WakeSignal
    /** Whether this process leads the kernel on a shared store. */
    readonly leadership: Leadership
    readonly models: Models
    readonly egress: Egress
    readonly envs: Envs
    /** Whether commands can run, and their sandbox. */
    readonly sandbox: {
      isOn(): boolean
      /** Contract: tests once whether the sandbox works; undefined if the owner disabled the sandbox. */
      trial(): Promise<SandboxTestResult | undefined>
      known(): SandboxTestResult | undefined
      /** Sandbox of MCP servers, even if commands run in containers; undefined if the owner disabled the sandbox. */
      readonly servers: Sandbox | undefined
      /** Total limits of commands and servers. */
      readonly limits: CommandLimits
      /** Confinement of the git processes that Tireless starts. */
      readonly git: GitSandbox
      /** One line per file removed at start because a crash interrupted commands. */
      readonly swept: readonly string[]
    }
    /** A plugin may add an embedder during set-up; the last one is used. */
    readonly embedders: Embedder[]
    readonly unhandledErrors: UnhandledErrors
    readonly tools: Registry<AnyTool>
    readonly critics: Registry<Critic>
    readonly gates: Registry<Gate>
    readonly behaviours: Registry<Behaviour>
    readonly hooks: Registry<Hook>
    readonly parsers: Registry<Parser>
    readonly memories: Registry<MemoryKind>
    readonly envKinds: Registry<EnvKind>
    readonly modelProviders: Registry<ModelProvider>
    readonly recoveryRules: Registry<RecoveryRule>
    readonly stopRules: Registry<StopRule>
    readonly events: {
      readonly sink: RunSink
      readonly listen: CommandContext['listen']
      /**
       * As `listen`, for built-in listeners. Progress is not frozen for them, to save time, so they must not change it.
       */
      readonly watch: (listener: (progress: Progress) => void) => () => void
      /** Sends a text to listeners; it is not stored. */
      readonly note: (text: string) => void
      readonly add: (sink: RunSink) => void
      /** As `add`, for built-in sinks. Records are not frozen for them, so they must not change records. */
      readonly addBuiltin: (sink: RunSink) => void
      /** For sinks that write or send records. */
      readonly redactedRecords: RedactedRecords
      /** For built-in viewers of the runs of all processes. */
      readonly allRuns: AllRuns
      /** Number of runs that are open, so that their records are passed on. */
      readonly following: () => number
    }
    readonly engine: Engine
    readonly queue: Pick<
      CommandContext,
      | 'drain'
      | 'draining'
      | 'epoch'
      | 'isQueueWorked'
      | 'isShared'
      | 'joinAs'
      | 'role'
      | 'runThroughOutages'
      | 'signals'
      | 'stop'
      | 'tellRun'
      | 'whileLeading'
      | 'withoutClaims'
    > & {
      readonly hold: HeldDispatches['hold']
      readonly damage: () => readonly string[]
      /** Contract: on a shared store, throws `conflict` unless this process leads the kernel, or can from now on. */
      readonly requireLead: () => Promise<void>
      /** Takes `requireLead` back. Contract: gives the lead up if no other part needs it; never rejects. */
      readonly releaseLead: () => Promise<void>
    }
    readonly past: PastSources
    readonly mcp: McpServers
    readonly documents: Documents
    readonly channels: Registry<Channel>
    /** A plugin may add sources during set-up. */
    readonly sources: Sources & { add(...sources: readonly Source[]): void }
    readonly connections: ChannelConnections
    readonly notifier: Notifier
    readonly progressMessages: ProgressMessages
    readonly bus: Bus
    readonly residents: Residents
    readonly kernel: CommandContext['kernel']
    /** Contract: starts the HTTP server at the first call, and runs commands in the context of that call. */
    readonly server: {
      serve(context: CommandContext, how?: { readonly expose?: boolean }): Promise<ServerAddress>
      /** Undefined while the server is not open. */
      address(): string | undefined
    }
    readonly commands: CommandContext
    /** The agent domain's services, besides `bus`. */
    readonly ai: Ai
    readonly memory: FactMemory
    readonly runtime: Runtime
    /** The plugins that the configuration names. */
    readonly plugins: PluginLibrary
  }
}
