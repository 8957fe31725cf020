/**
 * Run: one claimed dispatch on its session. Holds what a step needs, and the only way it writes: record, then flush.
 * Must not know: who claimed it and why, which store, model or env is behind the ports.
 * Invariants: I1 (no run without a claimed dispatch), I3 (every write carries the fence), I9 (telling cannot fail the teller).
 */

import type { Call, CallResult } from '../domain/decision.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import type { Delta } from '../domain/event.ts'
import type { Recalled } from '../domain/fact.ts'
import { deepFreeze } from '../domain/json.ts'
import type { JournalRecord, RecordBody } from '../domain/record.ts'
import { redacted } from '../domain/redacted.ts'
import type { Budget, Wishes } from '../domain/task.ts'
import type { Behaviour, Behaviours, Critic } from '../ports/behaviour.ts'
import type { Clock } from '../ports/clock.ts'
import type { Env, Envs } from '../ports/env.ts'
import type { Gate } from '../ports/gate.ts'
import type { Hook, HookedPhase, HookFailure } from '../ports/hook.ts'
import type { Ids } from '../ports/ids.ts'
import type { Memory, MemoryKind } from '../ports/memory.ts'
import type { Model, Models, ToolSpec } from '../ports/model.ts'
import type { Parser } from '../ports/parser.ts'
import type { Secrets } from '../ports/secrets.ts'
import { type RunRef, type Sink, tell } from '../ports/sink.ts'
import type { Skills } from '../ports/skills.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import { commitOne, type Fence, type Op, type ResultsOf, type Store } from '../ports/store.ts'
import type { AnyTool } from '../ports/tool.ts'
import type { Breaker } from './chain.ts'
import type { Worth } from './labels.ts'
import type { Leaving } from './leaving.ts'
import type { Purse } from './money.ts'
import type { Place } from './place.ts'
import type { Policy } from './ruled.ts'
import { emptyThread, fold, type Intended, type Thread } from './thread.ts'

/** Failures that are recovered from before a run is given up: in a row, and in all. */
export interface Patience {
  readonly inARow: number
  readonly inAll: number
}

export interface Engine {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly models: Models
  /** What was heard of each model so far. */
  readonly breaker: Breaker
  readonly envs: Envs
  readonly behaviours: Behaviours
  readonly tools: ReadonlyMap<string, AnyTool>
  /** Contract: a tool of that name is among them once it resolves, where a server has one that nobody has looked at yet; never rejects. */
  readonly meet?: (tool: string) => Promise<void>
  /** Text protocols by name; `native` is none of them. */
  readonly parsers: ReadonlyMap<string, Parser>
  readonly memories: ReadonlyMap<string, MemoryKind>
  readonly critics: () => readonly Critic[]
  readonly gates: () => readonly Gate[]
  readonly hooks: () => readonly Hook[]
  /** Told of a hook that breaks when the journal of its run is closed. */
  readonly hookFailed?: (failure: HookFailure) => void
  readonly sink: Sink
  readonly secrets: Secrets
  readonly skills: Skills
  readonly snapshots: Snapshots
  /** What a run may use, where its task says nothing else. */
  readonly budget: Budget
  readonly purse: Purse
  readonly policy: Policy
  readonly patience: Patience
  /** Whoever lives a recorded run again. */
  readonly replaying?: Replaying
}

export interface Replaying {
  /** Told of every record as it is made, before it is on disk. */
  made(record: JournalRecord): void
  /** What became of a call that was interrupted, where that is known. */
  recovered(intended: Intended): CallResult | undefined
  /** What the call was told instead of being run, where a gate held it back. */
  held(index: number): CallResult | undefined
  /** What was recalled for the turn that comes. */
  recalled(): Recalled | undefined
  /** Contract: the model that was asked next; throws what was thrown where none was. */
  asked(): string
  /** US dollars that were set aside for the answer, and what it cost, where that is known. */
  reserved(): number | undefined
  cost(): number | undefined
  /** Whether another model stood in for one that failed. */
  standIn(): 'now' | 'later' | undefined
  /** The calls of the turn under way that a person had allowed. */
  approved(): readonly Call[]
  /** What was found to be needed, where that was asked for next. */
  intent(): RecordBody | undefined
  /** What the result of a call was worth. */
  worth(index: number): Worth
}

/** A claimed dispatch and its session's journal: all it takes to write, also to end a run that cannot be opened. */
export interface Claimed {
  readonly engine: Engine
  readonly dispatch: Dispatch
  readonly fence: Fence
  readonly thread: Thread
  /** Records made and not yet on disk. */
  readonly unwritten: JournalRecord[]
  /** What belongs into the commit of those records. */
  readonly alongside: Op[]
  /** What is to be done once they are. */
  readonly afterwards: (() => Promise<void>)[]
}

/** A claimed dispatch and those who watch what becomes of it. */
export interface Watched extends Claimed {
  readonly hooks: readonly Hook[]
  /** Names of hooks that were too slow once. */
  readonly slow: Set<string>
}

export interface Run extends Watched {
  readonly behaviour: Behaviour
  readonly wishes: Wishes
  /** The models that may be asked, in order. */
  readonly chain: readonly Model[]
  /** The one that is asked, or was last. */
  model: Model
  readonly parser: Parser | undefined
  readonly memory: Memory
  readonly env: Env
  readonly toolbox: ReadonlyMap<string, AnyTool>
  readonly critics: readonly Critic[]
  readonly workspace: Place
  /** Aborts for whatever reason the run is to be interrupted; the reason is an Interruption. */
  readonly signal: AbortSignal
  readonly leaving: Leaving
  /** What every request of this behaviour begins with, and its digest; made with the first request. */
  prefix?: Prefix
  /** The phase that the step is in. */
  phase: HookedPhase
}

export interface Prefix {
  readonly system: string
  /** The same without what tools say of themselves. */
  readonly own: string
  readonly tools: readonly ToolSpec[]
  readonly digest: string
  readonly bytes: number
  /** Estimated tokens by section. */
  readonly sections: Readonly<Record<string, number>>
}

/** Records that are folded before the event loop has its turn: some milliseconds. A session may have tens of thousands. */
const FOLDED_AT_ONCE = 500

export async function claimed(engine: Engine, dispatch: Dispatch, records: readonly JournalRecord[]): Promise<Claimed> {
  const thread = emptyThread()
  for (const [i, record] of records.entries()) {
    if (i % FOLDED_AT_ONCE === FOLDED_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve))
    fold(thread, record)
  }
  const { input, observation, decided } = thread.open ?? {}
  // What was read of the turn under way goes to behaviours and critics, like what is recorded from here on.
  for (const shown of [input, observation, decided]) deepFreeze(shown)
  const fence = { dispatch_id: dispatch.dispatch_id, token: dispatch.token }
  // Behaviours are shown it.
  deepFreeze(dispatch.metadata)
  return { engine, dispatch, fence, thread, unwritten: [], alongside: [], afterwards: [] }
}

export const refOf = ({ dispatch }: Claimed): RunRef => ({
  run_id: dispatch.dispatch_id,
  session_id: dispatch.session_id,
})

/**
 * Without secrets before anything is made of it, and never to be changed from then on: what goes on from here, what watchers are shown and what is
 * read after a crash are the same.
 */
export function record(run: Claimed, body: RecordBody, ts: number = run.engine.clock.now()): JournalRecord {
  const made = deepFreeze<JournalRecord>({ ...redacted(body, run.engine.secrets.hide), seq: run.thread.head + 1, ts })
  fold(run.thread, made)
  run.unwritten.push(made)
  run.engine.replaying?.made(made)
  return made
}

/** Everything recorded so far, and `ops` with it, in one commit. When it returns, it is on disk. */
export async function flush<const Ops extends readonly Op[]>(run: Claimed, ops: Ops): Promise<ResultsOf<Ops>> {
  const { store } = run.engine
  const records = run.unwritten.splice(0)
  if (records.length === 0) return commitOne(store, ops, run.fence)
  const append = { op: 'append', session_id: run.dispatch.session_id, records } as const
  const first: readonly Op[] = [append, ...run.alongside.splice(0)]
  const results = await commitOne<readonly Op[]>(store, [...first, ...ops], run.fence)
  for (const made of records) tell(() => run.engine.sink.recorded(refOf(run), made))
  for (const then of run.afterwards.splice(0)) await then()
  return results.slice(first.length) as unknown as ResultsOf<Ops>
}

type Said = Delta extends infer D ? (D extends Delta ? Omit<D, keyof RunRef> : never) : never

export function say(run: Claimed, said: Said): void {
  tell(() => run.engine.sink.delta({ ...refOf(run), ...said } as Delta))
}
