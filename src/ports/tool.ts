/** Tool: an action that an agent can take. It declares its effect; the engine records each call before running it. */

import type { z } from 'zod'
import type { CallResult } from '../domain/decision.ts'
import type { Effect } from '../domain/effect.ts'
import type { FactOrigin } from '../domain/fact.ts'
import type { Json } from '../domain/json.ts'
import type { Label, ResultLabel } from '../domain/label.ts'
import type { Clock } from './clock.ts'
import type { Env, OpsGroup, OpsGroups } from './env.ts'

export interface ToolContext {
  readonly env: Env
  /** Contract: returns the env's operations of that group; throws `tool_failed` if it has none. */
  readonly ops: <G extends OpsGroup>(group: G) => OpsGroups[G]
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Identifies this call (session, turn, index), also after a crash. Use it as idempotency key. */
  readonly call: string
  /** Agent, session and turn of the call. */
  readonly origin: FactOrigin
  /** When the intent was recorded, epoch milliseconds. */
  readonly intendedAt: number
  /** Digests of the files that this session has read or written, by path. */
  readonly seen: ReadonlyMap<string, string>
  /** Lowest label of everything the session has read; its output gets no better label. */
  readonly label: Label
  /** The session's current folder in the workspace; empty for the workspace itself. */
  readonly cwd: string
  /** Contract: shows progress text to viewers without storing it; never throws. */
  say(text: string): void
}

export type ProbeResult =
  | { readonly kind: 'happened'; readonly result: CallResult }
  | { readonly kind: 'not' }
  | { readonly kind: 'unclear' }

export interface Tool<Args = never> {
  /** Contract: letters, digits, `_` and `-`, at most 64, as all providers require. A namespace ends with `__`. */
  readonly name: string
  readonly description: string
  readonly args: z.ZodType<Args>
  /** Contract: descriptions of arguments by name; they replace those of `args`. Unknown names are ignored. */
  readonly argumentDescriptions?: Readonly<Record<string, string>>
  /** Contract: the JSON Schema shown to the model, if it differs from that of `args`. */
  readonly parameters?: Readonly<Record<string, Json>>
  /**
   * Contract: not offered by default. Agents that list it in their tools get it directly; others call it through a
   * tool with `meant`.
   */
  readonly lazy?: true
  /** Contract: its name, description and schema are untrusted text: showing them to a session taints it. */
  readonly foreign?: true
  /** Contract: groups of operations that it uses; a run does not start in an env without them. */
  readonly needs?: readonly OpsGroup[]
  /** Contract: time limit; then `signal` aborts and the call is `timed_out`. A timeout of the call takes precedence. */
  readonly timeoutMs?: number
  /** Contract: retries of a failed call under the same key; only for pure and idempotent effects. */
  readonly maxRetries?: number
  /**
   * Contract: arguments in which `secret:NAME` is replaced by a secret that the owner allowed for the destination.
   * Replaced just before `run` and only for it: policy, journal and viewers see `secret:NAME`.
   */
  readonly secrets?: readonly string[]
  /** Contract: arguments ignored when two calls are compared. */
  readonly volatile?: readonly string[]
  /** Contract: pure. */
  effect(args: Args): Effect
  /** Contract: pure; the label of its result. Default: untrusted. */
  gives?(args: Args): ResultLabel
  /**
   * Contract: pure; all destinations of the call: addresses, hosts, channels, accounts. Default for a tool with outside
   * reach: whatever its arguments contain.
   */
  destinations?(args: Args): readonly string[]
  /**
   * Contract: pure; texts that, after untrusted input, must consist of the owner's words or need approval. Default:
   * amounts, switches, attachments, and who may see it. Links in outgoing text are checked for every tool.
   */
  content?(args: Args): readonly string[]
  /** Contract: changes nothing; why this call cannot succeed, so that no approval is requested; undefined if it can. */
  refuses?(args: Args): string | undefined
  /** Contract: pure; why a person has to approve this call first; undefined if not. A throw counts as a reason. */
  asks?(args: Args): string | undefined
  /** Contract: pure; the call of a lazy tool that this call stands for. Only that one is checked, recorded and run. */
  meant?(args: Args): { readonly tool: string; readonly args: Json }
  /** Contract: called when a run is opened, before its first call; a throw prevents the run. */
  setup?(context: { readonly env: Env }): Promise<void>
  /** Contract: changes nothing; its result is journalled with the intent and passed to `probe`. */
  before?(args: Args, context: ToolContext): Promise<Json>
  /**
   * Contract: an error that the model can act on is a result with status `error`, not a throw. `facts.seen` is
   * `{path: digest}`, `facts.cwd` the session's new folder. Status `unknown` (the outcome is not known) is recovered
   * as after a crash.
   */
  run(args: Args, context: ToolContext): Promise<CallResult>
  /** Contract: changes nothing; finds out whether an interrupted call took effect. Required for `reconcilable`. */
  probe?(args: Args, before: Json, context: ToolContext): Promise<ProbeResult>
  /** Contract: for `once` tools; kills leftovers of an interrupted call, then describes its state. */
  remains?(args: Args, context: ToolContext): Promise<string>
  /** Contract: called after the result is on disk; never throws. */
  settled?(context: ToolContext): Promise<void>
  /** Contract: called once per successful `setup`, in reverse order, whatever the outcome of the run. */
  teardown?(context: { readonly env: Env }): Promise<void>
}

export type AnyTool = Tool<never>

export const TOOL_NAME = /^[\w-]{1,64}$/
