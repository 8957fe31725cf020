/** Tool: an action that an agent can take. It declares its effect; the engine records each call before running it. */

import type { z } from 'zod'
import type { CallResult } from '../domain/decision.ts'
import type { Effect } from '../domain/effect.ts'
import type { FactOrigin } from '../domain/fact.ts'
import type { Json } from '../domain/json.ts'
import type { Label, ResultLabel } from '../domain/label.ts'
import type { ReplyTo } from '../domain/reply-to.ts'
import type { ViewedPart } from '../domain/viewed-files.ts'
import type { Clock } from './clock.ts'
import type { Env, OpsGroup, OpsGroups } from './env.ts'
import type { Delegation } from './sub-agents.ts'

export interface ToolContext {
  readonly env: Env
  /** Contract: returns the env's operations of that group; throws `tool_failed` if the env has none. */
  readonly ops: <G extends OpsGroup>(group: G) => OpsGroups[G]
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Identifies this call (session, turn, index), also after a crash. Use it as idempotency key. */
  readonly call: string
  /** Agent, session and turn of the call. */
  readonly origin: FactOrigin
  /** The state of the behaviour before this step; a frozen copy. */
  readonly state: Json
  /** Name of the behaviour that made the call. */
  readonly behaviour: string
  /** The chat that talks with the run; absent: none. */
  readonly replyTo?: readonly ReplyTo[]
  /** When the intent of this call was recorded, epoch milliseconds. */
  readonly intendedAt: number
  /** Digests of the files that this session has read or written, by path. */
  readonly seen: ReadonlyMap<string, string>
  /** The lines of those of them that it has viewed only in part, by path; absent: none. */
  readonly viewedParts?: ReadonlyMap<string, readonly ViewedPart[]>
  /** Lowest label of everything the session has read; anything that the tool stores must get no better label. */
  readonly label: Label
  /** The session's current folder in the workspace; empty for the workspace itself. */
  readonly cwd: string
  /** What the run can hand on to a sub-agent; absent: it cannot have any. */
  readonly delegation?: () => Delegation
  /** Contract: shows progress text to viewers without storing it; never throws. */
  say(text: string): void
}

export type ProbeResult =
  | { readonly kind: 'happened'; readonly result: CallResult }
  | { readonly kind: 'not' }
  | { readonly kind: 'unclear' }

export interface Tool<Args = never> {
  /**
   * Contract: letters, digits, `_` and `-`, at most 64 characters, as all providers require. A namespace ends with
   * `__`.
   */
  readonly name: string
  readonly description: string
  readonly args: z.ZodType<Args>
  /** Contract: descriptions of arguments by name; they replace those of `args`. Unknown names are ignored. */
  readonly argumentDescriptions?: Readonly<Record<string, string>>
  /** Contract: the JSON Schema shown to the model, if it differs from that of `args`. */
  readonly parameters?: Readonly<Record<string, Json>>
  /**
   * Contract: not shown to the model by default. Agents that list the tool get it directly; others call it through a
   * tool with `meant`.
   */
  readonly lazy?: true
  /** Contract: name, description and schema are untrusted text: a session to which they are shown becomes untrusted. */
  readonly foreign?: true
  /**
   * Contract: runs in a program outside of the env, such as an MCP server, so the access of a behaviour to the
   * workspace does not limit it. A behaviour that may not write gets only its pure calls.
   */
  readonly outside?: true
  /** Contract: runs any command in the env; what it changes in the workspace is limited by the env alone. */
  readonly runsCommands?: true
  /** Contract: groups of operations that the tool uses; a run does not start in an env without them. */
  readonly needs?: readonly OpsGroup[]
  /**
   * Contract: time limit of a call; after it `signal` aborts and the call is `timed_out`. A timeout given in the call
   * itself takes precedence.
   */
  readonly timeoutMs?: number
  /**
   * Contract: how often a failed call is repeated under the same idempotency key; only for pure and idempotent effects.
   */
  readonly maxRetries?: number
  /**
   * Contract: names of the arguments in which `secret:NAME` is replaced by a secret that the owner allowed for the
   * destination. It is replaced just before `run` and only for it: policy, journal and viewers see `secret:NAME`.
   */
  readonly secrets?: readonly string[]
  /**
   * Contract: set if the tool writes texts of its arguments into files of the workspace, and nowhere else. Then
   * `before` and `run` get them with what the placeholders of hidden texts (`‹secret:NAME›`) stand for; policy, journal
   * and viewers see the placeholders. A call that writes the workspace is refused if a placeholder stands elsewhere.
   */
  readonly placeholders?: {
    /** Contract: pure; the file that the call writes, if it is only one. */
    file?(args: Args): string
    /**
     * Contract: pure; the arguments with each placeholder in what is written replaced by `textOf`. Throws `tool_failed`
     * if a text cannot be written as it is.
     */
    fill(args: Args, textOf: (placeholder: string) => string): Args
  }
  /** Contract: names of the arguments that do not count when two calls are compared to detect repetition. */
  readonly volatile?: readonly string[]
  /** Contract: pure. */
  effect(args: Args): Effect
  /** Contract: pure; the label of the result. Default: untrusted. */
  gives?(args: Args): ResultLabel
  /**
   * Contract: pure; all destinations of the call: addresses, hosts, channels, accounts. Default for a tool with outside
   * reach: every text in the arguments that may name a destination.
   */
  destinations?(args: Args): readonly string[]
  /**
   * Contract: pure; argument texts that must consist of the owner's words once the session has read untrusted text;
   * otherwise the call needs approval. Default: arguments for amounts, switches, attachments, and who may see or access
   * something. Links in outgoing text are checked for every tool.
   */
  content?(args: Args): readonly string[]
  /**
   * Contract: changes nothing; returns why this call cannot succeed, so that the owner is not asked to approve it;
   * undefined if it can succeed.
   */
  refuses?(args: Args): string | undefined
  /**
   * Contract: pure; returns why a person has to approve this call first; undefined if no approval is needed. An error
   * counts as a reason.
   */
  asks?(args: Args): string | undefined
  /**
   * Contract: pure; the call of a lazy tool that this call stands for. Only the call of the lazy tool is checked,
   * recorded and run.
   */
  meant?(args: Args): { readonly tool: string; readonly args: Json }
  /** Contract: called when a run is opened, before its first call; if it throws, the run does not start. */
  setup?(context: { readonly env: Env }): Promise<void>
  /** Contract: called before `run`; changes nothing. Its result is journalled with the intent and passed to `probe`. */
  before?(args: Args, context: ToolContext): Promise<Json>
  /**
   * Contract: an error that the model can act on is a result with status `error`, not a throw. In the result,
   * `facts.seen` holds `{path: digest}` of the files read or written, `facts.partly` the lines of those that were read
   * only in part, and `facts.cwd` the session's new folder. Status
   * `unknown` (the outcome is not known) is handled as after a crash.
   */
  run(args: Args, context: ToolContext): Promise<CallResult>
  /** Contract: changes nothing; finds out whether an interrupted call took effect. Required for `reconcilable`. */
  probe?(args: Args, before: Json, context: ToolContext): Promise<ProbeResult>
  /** Contract: for `once` tools; kills what an interrupted call left running, then describes the state of that call. */
  remains?(args: Args, context: ToolContext): Promise<string>
  /** Contract: called after the result of the call is on disk; never throws. */
  settled?(context: ToolContext): Promise<void>
  /** Contract: called once per successful `setup`, in reverse order, whatever the outcome of the run. */
  teardown?(context: { readonly env: Env }): Promise<void>
}

export type AnyTool = Tool<never>

export const TOOL_NAME = /^[\w-]{1,64}$/
