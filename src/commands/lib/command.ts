/** A command: one function with an input and an output schema. Command line, socket, HTTP and chat are built on it. */

import type { z } from 'zod'
import type { TirelessError } from '../../domain/error.ts'
import type { PeopleText } from '../../domain/language.ts'
import type { ClosedHomeContext } from './closed-home.ts'
import type { CommandContext, NoHomeContext } from './context.ts'
import type { Progress } from './progress.ts'

/**
 * Where a command runs:
 * - `no_home`: in this process; needs no home.
 * - `any_process`: in the kernel that holds the home; without one, in this process.
 * - `own_process`: in this process, which must hold the home.
 * - `kernel`: only in a running kernel, until the caller disconnects.
 * - `closed_home`: in this process, with the home locked but not opened, so that even the database can be replaced.
 */
type RunsIn = 'no_home' | 'any_process' | 'own_process' | 'kernel' | 'closed_home'

/** A question for an input. `when`: values of the input `name` for which it is asked. */
interface InputPrompt {
  readonly key: string
  readonly when: readonly string[]
  readonly question: PeopleText
  /** Shown before the question. */
  readonly before?: PeopleText
  /** What an empty answer means. */
  readonly fallback?: string
}

export interface Command<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly name: string
  /** One line for help texts, the OpenAPI document and MCP tools. */
  readonly summary: string
  /** Arguments of a typical use, for `--help`; start with the name. */
  readonly example: string
  readonly runsIn: RunsIn
  readonly input: I
  /** Question that a person on a terminal has to confirm first; the input `yes` skips it. */
  readonly confirmation?: PeopleText
  /** What the command line asks for if it was not given. */
  readonly prompts?: readonly InputPrompt[]
  /** Input keys that are positional arguments on the command line. */
  readonly positional?: readonly string[]
  readonly output: O
  /** The members of the context that `run` uses. */
  readonly needs: readonly (keyof CommandContext | keyof NoHomeContext)[]
  run(context: CommandContext, input: z.output<I>, tell: (progress: Progress) => void): Promise<z.input<O>>
  /** Runs instead of `run` if the home cannot be opened (`why`). Without this method, `why` is thrown. */
  runClosed?(outside: ClosedHomeContext, input: z.output<I>, why: TirelessError): Promise<z.input<O>>
  /** If loading the plugins of the home fails, the command runs without them. */
  readonly toleratesBrokenPlugins?: true
  /** The command ends the process that holds the home; the command line waits for its exit. */
  readonly stopsKernel?: true
  /** The command needs no home and only reads; it is offered over HTTP, too. */
  readonly isServed?: true
  /** The output has a `login_url`, which the command line opens in a browser. */
  readonly opensPage?: true
  /** Contract: pure; the exit code of the command line, by default 0. */
  exitCode?(output: z.output<O>): number
}

type ContextIn<Place extends RunsIn> = Place extends 'no_home'
  ? NoHomeContext
  : Place extends 'closed_home'
    ? ClosedHomeContext
    : CommandContext

/** A command as its file writes it: `run` gets the members that `needs` lists, of those that exist where it runs. */
interface CommandDefinition<
  I extends z.ZodObject,
  O extends z.ZodType,
  Place extends RunsIn,
  Member extends keyof ContextIn<Place>,
> extends Omit<Command<I, O>, 'runsIn' | 'needs' | 'run'> {
  readonly runsIn: Place
  readonly needs: readonly Member[]
  run(
    context: Pick<ContextIn<Place>, Member>,
    input: z.output<I>,
    tell: (progress: Progress) => void,
  ): Promise<z.input<O>>
}

export function defineCommand<
  I extends z.ZodObject,
  O extends z.ZodType,
  Place extends RunsIn,
  Member extends keyof ContextIn<Place> = never,
>(definition: CommandDefinition<I, O, Place, Member>): Command<I, O> {
  return definition as unknown as Command<I, O>
}
