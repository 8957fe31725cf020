/** Tool: a hand of the agent. It declares what it does to the world; the engine records before it acts. */

import type { z } from 'zod'
import type { CallResult } from '../domain/decision.ts'
import type { Effect } from '../domain/effect.ts'
import type { Origin } from '../domain/fact.ts'
import type { Json } from '../domain/json.ts'
import type { Given, Label } from '../domain/trust.ts'
import type { Clock } from './clock.ts'
import type { Env, OpsGroup, OpsGroups } from './env.ts'

export interface ToolContext {
  readonly env: Env
  /** Contract: the env's ops of that group; throws `tool_failed` where it has none. */
  readonly ops: <G extends OpsGroup>(group: G) => OpsGroups[G]
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Stable over crashes: names this very call (session, turn, index). Use it as idempotency key. */
  readonly call: string
  /** Whose call it is, and where it stands. */
  readonly origin: Origin
  /** When the call was intended, epoch ms. */
  readonly intendedAt: number
  /** Digests of the files this session has read or written, by path. */
  readonly seen: ReadonlyMap<string, string>
  /** The lowest label of what the session has read: what it writes is worth no more. */
  readonly label: Label
  /** The folder of the workspace that the session stands in; empty for the workspace itself. */
  readonly cwd: string
  /** Contract: shows a piece of what it writes while it runs, and keeps it nowhere; never throws. */
  say(text: string): void
}

export type Probe =
  | { readonly kind: 'happened'; readonly result: CallResult }
  | { readonly kind: 'not' }
  | { readonly kind: 'unclear' }

export interface Tool<Args = never> {
  /** Contract: letters, digits, `_` and `-`, at most 64 of them: what every provider takes. A namespace stands before `__`. */
  readonly name: string
  readonly description: string
  readonly args: z.ZodType<Args>
  /** Contract: the JSON schema that the model is shown, where it is not the one of `args`. */
  readonly parameters?: Readonly<Record<string, Json>>
  /** Contract: not offered by itself. An agent whose tools name it has it like any other; else it is reached through a tool that has `meant`. */
  readonly lazy?: true
  /** Contract: whoever wrote its name, description and schema is not trusted: a session that is shown them has read from outside. */
  readonly foreign?: true
  /** Contract: the ops groups it may ask its context for; no run begins with an env that lacks one. */
  readonly needs?: readonly OpsGroup[]
  /** Contract: after so long `signal` aborts and the call counts as `timed_out`; a call's own timeout beats it. */
  readonly timeoutMs?: number
  /** Contract: how often a failed call is run again, under the same key; heeded only where its effect is pure or idempotent. */
  readonly maxRetries?: number
  /**
   * Contract: names of arguments in whose texts `secret:NAME` stands for a secret that the owner has allowed for where the call goes. Filled
   * in just before `run`, and for `run` alone: whatever is judged, journalled or shown says `secret:NAME`.
   */
  readonly secrets?: readonly string[]
  /** Contract: names of arguments that do not count when two calls are compared. */
  readonly volatile?: readonly string[]
  /** Contract: pure. */
  effect(args: Args): Effect
  /** Contract: pure; what its result is worth: text from outside is untrusted. A tool that says nothing gives untrusted text. */
  gives?(args: Args): Given
  /**
   * Contract: pure; where the call goes, each as a whole: address, host, channel, account. A tool with outside reach that says nothing goes wherever
   * its arguments say.
   */
  destinations?(args: Args): readonly string[]
  /**
   * Contract: pure; texts that have to be made of the owner's words once something from outside was read, or somebody is asked. Of a tool that says
   * nothing these are amounts, switches, attachments, and who may see it. Links in what is said count with every tool.
   */
  content?(args: Args): readonly string[]
  /** Contract: changes nothing; why this call comes to nothing, whoever allows it, so that nobody need be asked; or nothing. */
  refuses?(args: Args): string | undefined
  /** Contract: pure; why a person has to allow this call first, or nothing. One that throws has asked. */
  asks?(args: Args): string | undefined
  /** Contract: pure; the call of a lazy tool that this one stands for. That one is checked, judged, journalled, run and recovered; this one never is. */
  meant?(args: Args): { readonly tool: string; readonly args: Json }
  /** Contract: called when a run is opened, before its first call; a throw keeps the run from beginning. */
  setup?(context: { readonly env: Env }): Promise<void>
  /** Contract: changes nothing; what it returns is journalled with the intent and handed to `probe`. */
  before?(args: Args, context: ToolContext): Promise<Json>
  /**
   * Contract: an error that the model can act on is a result with status `error`, not a throw; `facts.seen` is `{path: digest}`, `facts.cwd` where
   * the session stands from here on. With status `unknown` nobody knows whether it took effect: it is recovered as after a crash.
   */
  run(args: Args, context: ToolContext): Promise<CallResult>
  /** Contract: changes nothing; asks the world whether an interrupted call happened. Needed for `reconcilable`. */
  probe?(args: Args, before: Json, context: ToolContext): Promise<Probe>
  /** Contract: for `once` tools, what can be told of an interrupted call (after killing what is left of it). */
  remains?(args: Args, context: ToolContext): Promise<string>
  /** Contract: called after the result is durable; never throws. */
  settled?(context: ToolContext): Promise<void>
  /** Contract: called once for each `setup` that came through, later ones first, however the run went. */
  teardown?(context: { readonly env: Env }): Promise<void>
}

export type AnyTool = Tool<never>

export const TOOL_NAME = /^[\w-]{1,64}$/
