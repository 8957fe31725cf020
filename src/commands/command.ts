/** What a person can ask: one function with an input and an output schema per verb. Command line, socket, HTTP and chat are made from it. */

import type { z } from 'zod'
import type { Agent } from '../domain/agent.ts'
import type { Cancel, Dispatch, NewDispatch } from '../domain/dispatch.ts'
import type { TirelessError } from '../domain/error.ts'
import type { Delta, Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Finding, Skill } from '../domain/skill.ts'
import type { Breaker } from '../engine/chain.ts'
import type { Purse } from '../engine/money.ts'
import type { Policy } from '../engine/ruled.ts'
import type { Cycled } from '../kernel/cycle.ts'
import type { Doorbell } from '../kernel/doorbell.ts'
import type { DrainOptions } from '../kernel/drain.ts'
import type { Notifier } from '../kernel/notifier.ts'
import type { Settings } from '../kernel/settings.ts'
import type { AuditSeal } from '../ports/audit.ts'
import type { Channel } from '../ports/channel.ts'
import type { Documents } from '../ports/documents.ts'
import type { Ids } from '../ports/ids.ts'
import type { McpServers } from '../ports/mcp.ts'
import type { Models } from '../ports/model.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import type { Store } from '../ports/store.ts'
import type { Outside } from './outside.ts'

/** Progress while a command runs. */
export type Progress =
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'delta'; readonly delta: Delta }
  | { readonly kind: 'note'; readonly text: string }
  /** A part of the output, told before its end. */
  | { readonly kind: 'item'; readonly item: Json }

export interface Context extends Outside {
  readonly store: Store
  readonly documents: Documents
  readonly ids: Ids
  readonly bell: Doorbell
  readonly kernelId: string
  /** Whom work can be given to, by name, as it is now. */
  agents(): readonly string[]
  /** Of the kernel, as the configuration has them now. */
  settings(): Settings
  /** Milliseconds that a dispatch may take where nothing else is said; null: for ever. */
  timeLimit(): number | null
  /** What a person should know before anything runs. */
  notices(): Promise<readonly string[]>
  /** Contract: what the owner should know of what commands run in, once that is known. */
  sandboxNotices(): Promise<readonly string[]>
  /** Contract: throws `sandbox_missing` where the owner insists on a sandbox, and there is none that holds. */
  refuseWithoutSandbox(): Promise<void>
  /** Contract: the folder of a session's deliverables, made ready; refuses what it would be wrong to work in. `wanted`: a folder, or an agent's own place. */
  workspace(
    sessionId: string,
    wanted?: string | { readonly agent: string },
  ): Promise<{ readonly path: string; readonly note?: string }>
  /** Contract: runs the queue in this process; a second call while one is under way does nothing but wait for its own condition. */
  drain(options: Omit<DrainOptions, 'signals'>): Promise<void>
  /** Contract: what was committed for a dispatch is heard by its run, if that is in this process. */
  tellRun(dispatchId: string, what: Cancel | 'pause'): void
  /** Contract: the records that the engine makes of a recorded run, with nothing outside it; see engine/replay.ts. */
  replay(
    dispatch: Dispatch,
    past: readonly JournalRecord[],
    records: readonly JournalRecord[],
  ): Promise<readonly JournalRecord[]>
  readonly snapshots: Pick<Snapshots, 'copyTo'>
  /** Whether this process is already draining the whole queue. */
  draining(): boolean
  /** The epoch of this process's worker, once it has drained. */
  epoch(): number | undefined
  /** Contract: events as they are committed; call the result to stop listening. */
  listen(listener: (progress: Progress) => void): () => void
  health(): Promise<{
    readonly ok: boolean
    readonly reasons: readonly string[]
    readonly degraded: readonly string[]
  }>
  readonly kernel: Living
  readonly notifier: Pick<Notifier, 'run' | 'once' | 'deliver' | 'target' | 'unpairedTarget' | 'language'>
  readonly channels: ReadonlyMap<string, Channel>
  /** Contract: this process comes to its end: what runs comes to the end of its step, and is interrupted after so long. */
  stop(withinMs: number): void
  readonly models: Models
  readonly mcp: McpServers
  readonly purse: Purse
  readonly policy: Pick<Policy, 'grants'>
  /** Contract: changes the configuration's file and takes it over, or throws `config_invalid` and leaves it as it was. */
  configure(changes: readonly ConfigChange[]): void
  readonly roster: Roster
  /** What was heard of each model so far. */
  readonly breaker: Pick<Breaker, 'heard'>
  /** Contract: asks no provider; the default model's name, or throws why it cannot be used. */
  defaultModel(): string
  readonly calls: Calls
  readonly auditSeal: AuditSeal
  /** Contract: these commands, to whoever speaks MCP on stdin and stdout, until that one goes away. Only with place `anywhere`, on the command line. */
  offer?(offers: readonly Offer[]): Promise<void>
  /** Contract: HTTP on the configured address, until the app is closed; the same answer every time. To be called before the queue is worked. */
  /** `expose`: also where others can reach it. */
  serve(how?: { readonly expose?: boolean }): Promise<Served>
  /** Contract: the text without what is secret, or looks it. */
  redact(text: string): string
  /** Contract: the text without the secrets that are known. */
  hide(text: string): string
  readonly secrets: SecretKeeper
  readonly skills: SkillKeeper
}

/** The skills there are, and their owner's word on them. */
export interface SkillKeeper {
  /** `workspaces`: where an AGENTS.md is looked for. */
  list(workspaces: readonly string[]): Promise<readonly Skill[]>
  /** Contract: throws `not_found`, or `usage` where several are meant. */
  find(wanted: WantedSkill): Promise<ScannedSkill>
  /** Contract: it may be used for as long as it stays as it is; throws `conflict` where it is not what `digest` names. */
  approve(wanted: WantedSkill, digest: string | undefined): Promise<ScannedSkill>
}

interface WantedSkill {
  readonly name?: string | undefined
  readonly agent?: string | undefined
  readonly workspace?: string | undefined
}

interface ScannedSkill {
  readonly skill: Skill
  readonly findings: readonly Finding[]
}

/** The owner's secrets. Nobody is ever told a value. */
export interface SecretKeeper {
  list(): readonly SecretEntry[]
  /** Contract: kept when it returns, and hidden everywhere from then on; throws `usage` where it cannot be one. */
  set(name: string, value: string, to: readonly string[] | undefined): SecretEntry & { readonly replaced: boolean }
  /** Contract: throws `not_found` where there is none of that name. */
  remove(name: string): SecretEntry
}

export interface SecretEntry {
  readonly name: string
  readonly set_at: string
  /** Where tools may send it. */
  readonly to: readonly string[]
  /** Keys of the configuration that name it. */
  readonly used_by: readonly string[]
}

/** A command that others than people may ask for. `fixed`: input that is not theirs to give. */
export interface Offer {
  readonly name: string
  readonly fixed?: Readonly<Record<string, Json>>
}

/** The kernel, as far as people can ask something of it. */
export interface Living {
  running(): boolean
  /** Of any schedule, while it runs. */
  nextBeat(): number | undefined
  /** Contract: when that agent's turn comes, by its own schedule or the kernel's; undefined where it never does. */
  nextFor(agentId: string): number | undefined
  /** Contract: beats and cycles, until told to stop. */
  run(signal: AbortSignal): Promise<void>
  /** Contract: a cycle for each beat that was missed and is to be made up for. */
  catchUp(signal: AbortSignal): Promise<void>
  /** Contract: one cycle, worked by this process, where the kernel does not run. */
  once(signal: AbortSignal): Promise<Cycled>
  /** Contract: one cycle with everybody, where there never was one: else, and where nobody is enabled, nothing. */
  first(): Promise<Cycled | undefined>
  /** Contract: one cycle of the running kernel, after the one that runs. */
  now(): Promise<Cycled>
  /** Contract: what a beat would have those agents do, enqueued; `prompt` instead of their own. */
  byHand(
    agents: readonly string[],
    prompt: string | null,
    metadata: NewDispatch['metadata'],
  ): Promise<readonly Pick<NewDispatch, 'agent_id' | 'dispatch_id' | 'session_id'>[]>
  /** Schedules may have changed. */
  refresh(): void
  /** Why it is not well; empty where it is. */
  ailments(): Promise<readonly string[]>
}

/** Every agent there is, as its owner describes it. */
export interface Roster {
  /** As it is now. `file`: where it is described. */
  all(): readonly { readonly agent: Agent; readonly file: string }[]
  /** Contract: describes a new one in a file of its own, which it returns; or throws, and there is none. */
  add(agentId: string, keys: Readonly<Record<string, Json>>): string
  /** Contract: changes the file that describes it, and returns its name; or throws and leaves it as it was. Paths are those of its own keys. */
  change(agentId: string, changes: readonly ConfigChange[]): string
}

/** undefined: the key goes. */
export interface ConfigChange {
  readonly path: readonly (string | number)[]
  readonly value: Json | undefined
}

/** Where the page and the API are. */
export interface Served {
  readonly url: string
  /** The page, with a code in it that lets one browser in, once and soon. */
  readonly login_url: string
  readonly token_file: string
  /** Whether only this machine can reach it. */
  readonly loopback: boolean
}

/** What running calls keep in the home in case of a crash. */
export interface Calls {
  kept(): Promise<readonly KeptCall[]>
  /** Contract: only what no process uses any more. */
  remove(call: KeptCall): Promise<void>
}

export interface KeptCall {
  readonly name: string
  /** A process of it that still runs. */
  readonly pid: number | undefined
  isOf(sessionId: string): boolean
}

/**
 * - `no_home`: in this process; needs no home.
 * - `any_process`: in the kernel that holds the home; without one, in this process.
 * - `own_process`: in this process, which must hold the home.
 * - `kernel`: only in a running kernel, until the caller disconnects.
 * - `closed_home`: in this process, with the home locked but not opened, so that even the database can be replaced.
 */
export type RunsIn = 'no_home' | 'any_process' | 'own_process' | 'kernel' | 'closed_home'

export interface Command<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly summary: string
  readonly runsIn: RunsIn
  readonly input: I
  /** Asked on a terminal before it is run, unless `yes` is among its input. */
  readonly consent?: string
  /** Input keys that the command line takes by position. */
  readonly positional?: readonly string[]
  readonly output: O
  /** Contract: with `no_home` and `closed_home` the context has only the members of Outside; with `no_home` also `offer`. */
  run(context: Context, input: z.output<I>, tell: (progress: Progress) => void): Promise<z.input<O>>
  /** What can be done where the home cannot be opened. Without it, why it cannot is thrown. */
  shut?(outside: Outside, input: z.output<I>, why: TirelessError): Promise<z.input<O>>
  /** The holder of the home ends with it: the command line waits until that process is gone. */
  readonly endsHolder?: true
  /** Contract: pure; 0 unless said otherwise. */
  exit?(output: z.output<O>): number
}

export function command<I extends z.ZodObject, O extends z.ZodType>(made: Command<I, O>): Command<I, O> {
  return made
}
