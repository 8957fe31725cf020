/**
 * The run: one claimed dispatch with its session. Holds everything a step needs, and the only write path: record, then
 * flush.
 * Must not know: which worker claimed the dispatch and why; which store, model or environment is behind the ports.
 * Invariants: I1 (no run without a claimed dispatch), I3 (every write carries the fence), I9 (a failing listener cannot
 * fail the run).
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

/** How many failures a run survives: in a row, and in total. */
export interface Patience {
  readonly inARow: number
  readonly inAll: number
}

/** Contract: adds the tool to `Engine.tools` if an MCP server offers it and has not been queried yet; never rejects. */
export type DiscoverTool = (tool: string) => Promise<void>

export interface Engine {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly models: Models
  /** Outcomes of recent model calls, shared by all runs of the process. */
  readonly breaker: Breaker
  readonly envs: Envs
  readonly behaviours: Behaviours
  readonly tools: ReadonlyMap<string, AnyTool>
  readonly meet?: DiscoverTool
  /** Text protocols by name. `native` has no parser. */
  readonly parsers: ReadonlyMap<string, Parser>
  readonly memories: ReadonlyMap<string, MemoryKind>
  readonly critics: () => readonly Critic[]
  readonly gates: () => readonly Gate[]
  readonly hooks: () => readonly Hook[]
  /** Called for a hook that fails after the run's journal is closed. */
  readonly hookFailed?: (failure: HookFailure) => void
  readonly sink: Sink
  readonly secrets: Secrets
  readonly skills: Skills
  readonly snapshots: Snapshots
  /** The default budget of a run; a task can override it. */
  readonly budget: Budget
  readonly purse: Purse
  readonly policy: Policy
  readonly patience: Patience
  /** Set while a recorded run is replayed. */
  readonly replaying?: Replaying
}

export interface Replaying {
  /** Called with every new record, before it is on disk. */
  made(record: JournalRecord): void
  /** The recorded result of an interrupted call, if there is one. */
  recovered(intended: Intended): CallResult | undefined
  /** The recorded result of a call that a gate held back. */
  held(index: number): CallResult | undefined
  /** The facts that were recalled for the next turn. */
  recalled(): Recalled | undefined
  /** Contract: the id of the model that was called next; throws the recorded error if no model was called. */
  asked(): string
  /** US dollars reserved for the answer. */
  reserved(): number | undefined
  cost(): number | undefined
  /** Whether a fallback model replaced one that failed. */
  standIn(): 'now' | 'later' | undefined
  /** Calls of the current turn that a person had allowed. */
  approved(): readonly Call[]
  /** The intent record, if it is the next record. */
  intent(): RecordBody | undefined
  /** The recorded label of a call's result. */
  worth(index: number): Worth
}

/** A claimed dispatch and its session's journal. Enough to write records, even for a run that cannot be opened. */
export interface Claimed {
  readonly engine: Engine
  readonly dispatch: Dispatch
  readonly fence: Fence
  readonly thread: Thread
  /** Records that are not on disk yet. */
  readonly unwritten: JournalRecord[]
  /** Operations for the same commit as those records. */
  readonly alongside: Op[]
  /** Work to do after that commit. */
  readonly afterwards: (() => Promise<void>)[]
}

/** A claimed dispatch with its hooks. */
export interface Watched extends Claimed {
  readonly hooks: readonly Hook[]
  /** Names of hooks that exceeded their time limit; they are no longer awaited. */
  readonly slow: Set<string>
}

export interface Run extends Watched {
  readonly behaviour: Behaviour
  readonly wishes: Wishes
  /** The models that may be called, in order of preference. */
  readonly chain: readonly Model[]
  /** The model of the current or last request. */
  model: Model
  readonly parser: Parser | undefined
  readonly memory: Memory
  readonly env: Env
  readonly toolbox: ReadonlyMap<string, AnyTool>
  readonly critics: readonly Critic[]
  readonly workspace: Place
  /** Aborts when the run is interrupted. The abort reason is an Interruption. */
  readonly signal: AbortSignal
  readonly leaving: Leaving
  /** System prompt and tools with their digest; built for the first request and then unchanged. */
  prefix?: Prefix
  /** The current phase of the step. */
  phase: HookedPhase
}

export interface Prefix {
  readonly system: string
  /** The system prompt without tool descriptions. */
  readonly own: string
  readonly tools: readonly ToolSpec[]
  readonly digest: string
  readonly bytes: number
  /** Estimated tokens by section. */
  readonly sections: Readonly<Record<string, number>>
}

/** Records folded between two yields to the event loop: a few milliseconds. A session can have tens of thousands. */
const FOLDED_AT_ONCE = 500

export async function claimed(engine: Engine, dispatch: Dispatch, records: readonly JournalRecord[]): Promise<Claimed> {
  const thread = emptyThread()
  for (const [i, record] of records.entries()) {
    if (i % FOLDED_AT_ONCE === FOLDED_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve))
    fold(thread, record)
  }
  const { input, observation, decided } = thread.open ?? {}
  // Behaviours and critics receive these values, so they must be frozen like new records.
  for (const value of [input, observation, decided]) deepFreeze(value)
  const fence = { dispatch_id: dispatch.dispatch_id, token: dispatch.token }
  // Behaviours receive the metadata.
  deepFreeze(dispatch.metadata)
  return { engine, dispatch, fence, thread, unwritten: [], alongside: [], afterwards: [] }
}

export const refOf = ({ dispatch }: Claimed): RunRef => ({
  run_id: dispatch.dispatch_id,
  session_id: dispatch.session_id,
})

/**
 * Records of which no plugin is handed a part, in most steps three of five. They are not frozen, to save time: V8 copies
 * and writes frozen objects slowly. Sinks of plugins receive them frozen (see app/event-fanout.ts).
 */
const UNSHARED_RECORDS: ReadonlySet<RecordBody['kind']> = new Set([
  'model_requested',
  'model_answered',
  'step_committed',
])

/** Redacts the body and freezes what plugins see: the live run, the listeners and a recovery see the same record. */
export function record(run: Claimed, body: RecordBody, ts: number = run.engine.clock.now()): JournalRecord {
  const newRecord: JournalRecord = { ...redacted(body, run.engine.secrets.hide), seq: run.thread.head + 1, ts }
  if (!UNSHARED_RECORDS.has(newRecord.kind)) deepFreeze(newRecord)
  fold(run.thread, newRecord)
  run.unwritten.push(newRecord)
  run.engine.replaying?.made(newRecord)
  return newRecord
}

/** Contract: writes all new records and `ops` in one commit; resolves when it is on disk. */
export async function flush<const Ops extends readonly Op[]>(run: Claimed, ops: Ops): Promise<ResultsOf<Ops>> {
  const { store } = run.engine
  const records = run.unwritten.splice(0)
  if (records.length === 0) return commitOne(store, ops, run.fence)
  const append = { op: 'append', session_id: run.dispatch.session_id, records } as const
  const first: readonly Op[] = [append, ...run.alongside.splice(0)]
  const results = await commitOne<readonly Op[]>(store, [...first, ...ops], run.fence)
  for (const newRecord of records) tell(() => run.engine.sink.recorded(refOf(run), newRecord))
  for (const work of run.afterwards.splice(0)) await work()
  return results.slice(first.length) as unknown as ResultsOf<Ops>
}

type DeltaBody = Delta extends infer D ? (D extends Delta ? Omit<D, keyof RunRef> : never) : never

export function say(run: Claimed, body: DeltaBody): void {
  tell(() => run.engine.sink.delta({ ...refOf(run), ...body } as Delta))
}
