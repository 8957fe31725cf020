/** What a person can ask: one function with an input and an output schema per verb. Command line, socket, HTTP and chat are made from it. */

import type { z } from 'zod'
import type { Cancel, Dispatch } from '../domain/dispatch.ts'
import type { TirelessError } from '../domain/error.ts'
import type { Delta, Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Breaker } from '../engine/chain.ts'
import type { Doorbell } from '../kernel/doorbell.ts'
import type { DrainOptions } from '../kernel/drain.ts'
import type { Ids } from '../ports/ids.ts'
import type { Models } from '../ports/model.ts'
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
  readonly ids: Ids
  readonly bell: Doorbell
  readonly kernelId: string
  readonly agents: readonly string[]
  /** What a person should know before anything runs. */
  notices(): Promise<readonly string[]>
  /** Contract: the folder of a session's deliverables, made ready; refuses what it would be wrong to work in. */
  workspace(sessionId: string, wanted?: string): Promise<{ readonly path: string; readonly note?: string }>
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
  /** Contract: the folder and what is in it, into one that is not there yet; nothing where there is no such folder. */
  copyFolder(from: string, to: string): Promise<void>
  /** Whether this process is already draining the whole queue. */
  draining(): boolean
  /** The epoch of this process's worker, once it has drained. */
  epoch(): number | undefined
  /** Contract: events as they are committed; call the result to stop listening. */
  listen(listener: (progress: Progress) => void): () => void
  readonly health: () => {
    readonly ok: boolean
    readonly reasons: readonly string[]
    readonly degraded: readonly string[]
  }
  readonly models: Models
  /** What was heard of each model so far. */
  readonly breaker: Pick<Breaker, 'heard'>
  /** Contract: asks no provider; the default model's name, or throws why it cannot be used. */
  defaultModel(): string
  readonly calls: Calls
  /** Contract: the text without what is secret, or looks it. */
  redact(text: string): string
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
 * Where a command may run: without a home at all; in whichever process holds the home; only as its holder; or as the holder of a
 * home that stays closed, so that even the database may be replaced.
 */
export type Place = 'anywhere' | 'home' | 'holder' | 'closed'

export interface Command<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly summary: string
  readonly place: Place
  readonly input: I
  /** Input keys that the command line takes by position. */
  readonly positional?: readonly string[]
  readonly output: O
  /** Contract: with place `anywhere` or `closed` only what Outside has is there. */
  run(context: Context, input: z.output<I>, tell: (progress: Progress) => void): Promise<z.input<O>>
  /** What can be done where the home cannot be opened. Without it, why it cannot is thrown. */
  shut?(outside: Outside, input: z.output<I>, why: TirelessError): Promise<z.input<O>>
  /** Contract: pure; 0 unless said otherwise. */
  exit?(output: z.output<O>): number
}

export function command<I extends z.ZodObject, O extends z.ZodType>(made: Command<I, O>): Command<I, O> {
  return made
}
