/** What commands can use; each command declares the members that it needs. */

import type { Dispatch, NewDispatch } from '../../domain/dispatch.ts'
import type { JournalRecord } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import type { PeopleText } from '../../domain/language.ts'
import type { Skill, SkillChange, SkillFileText, SkillFinding } from '../../domain/skill.ts'
import type { Policy } from '../../engine/calls/policy-check.ts'
import type { BudgetLimits } from '../../engine/request/budget-reservation.ts'
import type { Breaker } from '../../engine/request/model-fallback.ts'
import type { SentRequest } from '../../engine/sources.ts'
import type { ChannelConnections } from '../../kernel/channels/connections.ts'
import type { CycleOutcome } from '../../kernel/cycle/cycle.ts'
import type { Notifier } from '../../kernel/notify/notifier.ts'
import type { ProgressMessages } from '../../kernel/notify/progress-messages.ts'
import type { DrainOptions } from '../../kernel/queue/drain.ts'
import type { RunNotice } from '../../kernel/queue/run-controls.ts'
import type { WakeSignal } from '../../kernel/queue/wake-signal.ts'
import type { Residents } from '../../kernel/residents/residents.ts'
import type { KernelSettings } from '../../kernel/settings.ts'
import type { PastSources } from '../../past/past-sources.ts'
import type { AuditSeal } from '../../ports/audit.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Documents } from '../../ports/documents.ts'
import type { Ids } from '../../ports/ids.ts'
import type { McpServers } from '../../ports/mcp.ts'
import type { Models } from '../../ports/model.ts'
import type { ModelSetup } from '../../ports/model-setup.ts'
import type { ReceivedFiles } from '../../ports/received-files.ts'
import type { Snapshots } from '../../ports/snapshots.ts'
import type { Sources } from '../../ports/source.ts'
import type { Store } from '../../ports/store.ts'
import type { ListFolder } from '../../ports/workspace-folder.ts'
import type { WorkspaceFolders } from '../../ports/workspace-folders.ts'
import type { AgentDirectory, KnownTool } from './agent-directory.ts'
import type { ClosedHomeContext, ConfigValue } from './closed-home.ts'
import type { PluginApprovals } from './plugin-approvals.ts'
import type { Progress } from './progress.ts'
import type { SecretVault } from './secret-vault.ts'
import type { SharedWork } from './shared-work.ts'

/** The context of commands in an open home. */
export interface CommandContext
  extends ClosedHomeContext,
    StoredData,
    QueueWork,
    KernelState,
    AgentSetup,
    Contacts,
    OwnerSettings {}

/** The context of commands that need no home. */
export interface NoHomeContext extends ClosedHomeContext {
  /** Contract: serves the commands over MCP on stdin and stdout until the client disconnects. */
  serveMcp?(offers: readonly OfferedCommand[]): Promise<void>
  /** Contract: a script with which the shell completes the command line. Only the command line has it. */
  completionScript?(shell: 'bash' | 'zsh' | 'fish'): Promise<string>
}

/** The part of the context that a function needs. */
export type Needs<Member extends keyof CommandContext> = Pick<CommandContext, Member>

/** Whether the wall clock is believed (`domain/borne-out.ts`). */
interface ClockTrust {
  /** Contract: undefined if the wall clock is not in doubt. */
  doubt(): { readonly ahead_ms: number; readonly borne_out: number } | undefined
  /** Contract: from now on the wall clock is believed; on disk when it resolves. */
  accept(): Promise<void>
}

/** What the home stores. */
export interface StoredData {
  readonly store: Store
  readonly documents: Documents
  readonly snapshots: Snapshots
  readonly workspaceFolders: WorkspaceFolders
  readonly clockTrust: ClockTrust
  /** The records from which questions about the past are answered. */
  readonly past: PastSources
  readonly callFolders: CallFolders
  /**
   * Contract: the bytes of a regular file inside the workspace; undefined if there is none. Throws `path_refused` as
   * the tools do: paths and links out of the workspace, other kinds of files, files over the size limit.
   */
  readWorkspaceFile(workspace: string, path: string): Promise<Buffer | undefined>
  readonly listWorkspaceFolder: ListFolder
  readonly auditSeal: AuditSeal
}

/** Runs the dispatches of the queue in this process. */
export interface QueueWork extends SharedWork {
  readonly wakeSignal: WakeSignal
  /** Contract: runs dispatches of the queue in this process as long as `options` say. Calls may overlap. */
  drain(options: Omit<DrainOptions, 'signals'>): Promise<void>
  /** Whether this process runs the dispatches of the whole queue, not only selected ones. */
  draining(): boolean
  /** Epoch of this process as a worker; undefined before its first `drain`. */
  epoch(): number | undefined
  /** Contract: no dispatch is claimed while `work` lasts; such calls run one after the other. */
  withoutClaims<T>(work: () => Promise<T>): Promise<T>
  /** Contract: passes a committed cancellation or pause on to the run, if the run is in this process. */
  tellRun(dispatchId: string, what: RunNotice): void
  /** Contract: until the result is called; `everywhere`: with the runs of other processes, without streamed text. */
  listen(listener: (progress: Progress) => void, how?: { readonly everywhere?: boolean }): () => void
  /**
   * Contract: creates the folder for a session's files, or checks an existing one; throws if the folder is unsafe.
   * `wanted`: the path of a folder, or an agent whose configured workspace is used.
   */
  prepareWorkspace(
    sessionId: string,
    wanted?: string | { readonly agent: string },
  ): Promise<{ readonly path: string; readonly note?: string }>
  /** Keeps the files that people send in workspaces. */
  readonly receivedFiles: ReceivedFiles
  /** Default time limit of a dispatch in milliseconds; null: no limit. */
  timeLimit(): number | null
  /**
   * Contract: repeats a recorded run without models and tools; returns the new records (engine/replay/replay.ts), and
   * calls `onRequest` with each request that was sent to a model.
   */
  replay(
    dispatch: Dispatch,
    past: readonly JournalRecord[],
    records: readonly JournalRecord[],
    onRequest?: (request: SentRequest) => void,
  ): Promise<readonly JournalRecord[]>
  /** Contract: stops this process: running steps may finish, but are interrupted after `withinMs` milliseconds. */
  stop(withinMs: number): void
}

/** The kernel, its settings and its health. */
export interface KernelState {
  readonly kernelId: string
  /** The id of this home, if several homes share the store. */
  readonly homeId: string | undefined
  readonly kernel: KernelControl
  /** Kernel settings from the current configuration. */
  settings(): KernelSettings
  health(): Promise<{
    readonly ok: boolean
    readonly reasons: readonly string[]
    readonly degraded: readonly string[]
  }>
  /** Warnings to show before any work starts. */
  startNotices(): Promise<readonly PeopleText[]>
  /** Contract: warnings about the sandbox of commands; resolves when the sandbox has been tried. */
  sandboxNotices(): Promise<readonly PeopleText[]>
  /** Contract: throws `sandbox_missing` if the configuration requires a sandbox and none works here. */
  requireSandbox(): Promise<void>
}

/** The agents, and what they may use. */
export interface AgentSetup {
  /** Names of the agents that accept work now. */
  agents(): readonly string[]
  readonly agentDirectory: AgentDirectory
  readonly models: Models
  readonly modelSetup: ModelSetup
  /** Contract: the name of the default model; throws if the model cannot be used. Sends no request to the provider. */
  defaultModel(): string
  /** Records which models and providers fail, so that a run skips them and uses a fallback. */
  readonly breaker: Breaker
  readonly budgetLimits: BudgetLimits
  readonly policy: Pick<Policy, 'grants'>
  readonly skills: SkillApprovals
  readonly plugins: PluginApprovals
  readonly mcp: McpServers
  /** Contract: every tool that exists, in the order of their registration. */
  tools(): readonly KnownTool[]
  /** Contract: the behaviours that files define for this agent, its own and those of the assistant. */
  behavioursOf(agentId: string): readonly { readonly name: string; readonly isOwn: boolean }[]
}

/** How people and programs are reached. */
interface Contacts {
  /** Agents that look at their input at a rate, and the bus that brings it. */
  readonly residents: Pick<
    Residents,
    'run' | 'lookNow' | 'describe' | 'isResident' | 'names' | 'publish' | 'setSlice' | 'listenersOf' | 'onAction'
  >
  readonly progressMessages: Pick<ProgressMessages, 'run'>
  readonly notifier: Pick<Notifier, 'run' | 'once' | 'deliver' | 'target' | 'unpairedTarget' | 'language' | 'post'>
  readonly channels: ReadonlyMap<string, Channel>
  /** The long connections of channels. `run` passes what they receive on to the conversation until `signal` aborts. */
  readonly connections: Pick<ChannelConnections, 'stateOf' | 'problems' | 'refresh'> & {
    run(signal: AbortSignal): Promise<void>
  }
  readonly sources: Sources
  /**
   * Contract: serves HTTP until the app closes; later calls return the same address. Call it before `drain`.
   * `expose`: allow an address that other machines can reach.
   */
  serveHttp(how?: { readonly expose?: boolean }): Promise<ServerAddress>
  /** Contract: the address of the page; undefined while this process does not serve it. */
  pageAddress(): string | undefined
}

/** The owner's configuration and secrets. */
export interface OwnerSettings {
  /**
   * Contract: writes the changes to the configuration file and applies them; `config_invalid`: nothing changed.
   * Returns the path of a copy of the file before; null if there was no file.
   */
  changeConfig(changes: readonly ConfigChange[]): string | null
  /** Contract: the values in use with their sources, without secrets; also while the file is invalid. */
  configInUse(): readonly ConfigValue[]
  readonly secrets: SecretVault
  /** Contract: hides every secret that the program knows, and text that looks like a secret. */
  redact(text: string): string
  /** Contract: hides every secret that the program knows, and nothing else. */
  redactKnownSecrets(text: string): string
  readonly ids: Ids
  /** Contract: runs another command in this process, as the owner would; checks its input, and returns its output. */
  runCommand(name: string, input: Readonly<Record<string, Json>>): Promise<unknown>
}

/** Skills, and the owner's approval of them. */
interface SkillApprovals {
  /** `workspaces`: folders to search for an AGENTS.md. */
  list(workspaces: readonly string[]): Promise<readonly Skill[]>
  /** Contract: the skill that matches; throws `not_found` if none does, `usage` if several do. */
  find(wanted: SkillSelector): Promise<SkillWithFindings>
  /** Contract: approves the current content of the skill; throws `conflict` if its digest is not `digest`. */
  approve(wanted: SkillSelector, digest: string | undefined): Promise<SkillWithFindings>
  /** Contract: as `find`, with all files and what changed since the approval; null: what was approved is not known. */
  review(wanted: SkillSelector): Promise<SkillWithFindings & SkillContent>
  /** Contract: agents may no longer follow the skill; false if it was not approved. */
  revoke(wanted: SkillSelector): Promise<boolean>
}

interface SkillSelector {
  readonly name?: string | undefined
  readonly agent?: string | undefined
  readonly workspace?: string | undefined
}

interface SkillContent {
  readonly contents: readonly SkillFileText[]
  readonly changes: readonly SkillChange[] | null
}

type SkillWithFindings = { readonly skill: Skill; readonly findings: readonly SkillFinding[] }

/** A command offered to programs over MCP. `fixedInput`: input that the client cannot change. */
export interface OfferedCommand {
  readonly name: string
  readonly fixedInput?: Readonly<Record<string, Json>>
}

/** The functions by which commands control the kernel. */
export interface KernelControl {
  isRunning(): boolean
  /** Whether the kernel's work belongs to another process on a shared store. */
  isElsewhere(): boolean
  /** Contract: does `work` if the kernel's work belongs here; on a shared store it takes a free lead for so long. */
  asLeader(work: () => Promise<void>): Promise<void>
  /** The earliest next beat of all schedules; undefined while the kernel is stopped. */
  nextBeatAt(): number | undefined
  /** Contract: the agent's next beat, by its own schedule or the kernel's; undefined if there is none. */
  nextBeatOf(agentId: string): number | undefined
  /** Contract: runs beats and their cycles until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Contract: applies changes of the configuration's files until `signal` aborts. */
  watchConfig(signal: AbortSignal): Promise<void>
  /** Contract: runs a cycle for each missed beat that the policy for missed beats wants fired. */
  catchUp(signal: AbortSignal): Promise<void>
  /** Contract: runs one cycle in this process; the kernel must not be running. */
  runOneCycle(signal: AbortSignal): Promise<CycleOutcome>
  /** Contract: runs one cycle with all enabled agents if there has never been a cycle; otherwise undefined. */
  runFirstCycle(): Promise<CycleOutcome | undefined>
  /** Contract: runs one cycle in the running kernel, after its current cycle. */
  runCycleNow(): Promise<CycleOutcome>
  /** Contract: the process that leads the kernel runs one cycle; undefined if there is none. */
  runCycleElsewhere(signal: AbortSignal): Promise<Pick<CycleOutcome, 'result' | 'open'> | undefined>
  /** Contract: enqueues the work that a beat would give these agents; `prompt` replaces their own prompt. */
  enqueueAgents(
    agents: readonly string[],
    prompt: string | null,
    metadata: NewDispatch['metadata'],
  ): Promise<readonly Pick<NewDispatch, 'agent_id' | 'dispatch_id' | 'session_id'>[]>
  /** Makes the kernel read its schedules again; call it when they may have changed. */
  reloadSchedules(): void
  /** Problems of the kernel; empty if it is healthy. */
  healthProblems(): Promise<readonly string[]>
}

/** A change of one key of a configuration file; `value` undefined: the key is deleted. */
export interface ConfigChange {
  readonly path: readonly (string | number)[]
  readonly value: Json | undefined
}

/** Where the page and the HTTP API can be reached. */
export interface ServerAddress {
  readonly url: string
  /** Link with a single-use code that logs one browser in. */
  readonly login_url: string
  readonly token_file: string
  /** Whether only this machine can reach the server. */
  readonly loopback: boolean
}

/** Folders that running tool calls keep in the home for recovery after a crash. */
interface CallFolders {
  list(): Promise<readonly CallFolder[]>
  /** Contract: call it only if no process uses the folder any more. */
  remove(call: CallFolder): Promise<void>
}

interface CallFolder {
  readonly name: string
  /** Id of a process of the call that is still running; undefined if there is none. */
  readonly pid: number | undefined
  belongsTo(sessionId: string): boolean
}
