/**
 * The run: one claimed dispatch with its session. Holds everything a step needs, and the only write path: record, then
 * flush.
 * Must not know: which worker claimed the dispatch and why; which store, model or environment is behind the ports.
 * Invariants: I1 (no run without a claimed dispatch), I3 (every write carries the fence), I9 (a failing listener cannot
 * fail the run).
 */

import type { Issue } from '../domain/decision.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import type { Delta } from '../domain/event.ts'
import type { JournalRecord, RecordBody } from '../domain/journal-record.ts'
import { deepFreeze } from '../domain/json.ts'
import { redactValue } from '../domain/redact.ts'
import type { Budget, TaskOverrides } from '../domain/task.ts'
import type { Behaviour, Behaviours, Critic } from '../ports/behaviour.ts'
import type { Clock } from '../ports/clock.ts'
import type { Env, Envs } from '../ports/env.ts'
import type { Gate } from '../ports/gate.ts'
import type { Hook, HookedPhase, HookFailure } from '../ports/hook.ts'
import type { Ids } from '../ports/ids.ts'
import type { Memory, MemoryKind } from '../ports/memory.ts'
import type { Model, Models, ToolSpec } from '../ports/model.ts'
import type { Parser } from '../ports/parser.ts'
import type { RecoveryRule } from '../ports/recovery-rule.ts'
import { notifySafely, type RunRef, type RunSink } from '../ports/run-sink.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Skills } from '../ports/skills.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import type { StopRule } from '../ports/stop-rule.ts'
import { commitOne, type Fence, type Op, type ResultsOf, type Store } from '../ports/store.ts'
import type { AnyTool } from '../ports/tool.ts'
import type { Policy } from './calls/policy-check.ts'
import type { SharedWorkspace } from './calls/shared-workspace.ts'
import type { GracePeriod } from './grace-period.ts'
import type { BudgetLimits } from './request/budget-reservation.ts'
import type { Breaker } from './request/model-fallback.ts'
import { foldRecord } from './session/fold-record.ts'
import { emptyThread, type SessionThread } from './session/session-thread.ts'
import type { RunSources } from './sources.ts'

/** How many failures a run survives: in a row, and in total. */
export interface FailureLimits {
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
  /** Contract: why this worker cannot run the agent; empty if it can. */
  readonly agentIssues: (agentId: string) => readonly Issue[]
  /** Contract: tools that the agent may use, but is not shown, to save tokens; its sub-agents may be shown them. */
  readonly unshownTools?: (agentId: string) => readonly string[]
  readonly tools: ReadonlyMap<string, AnyTool>
  readonly discoverTool?: DiscoverTool
  /** Text protocols by name. `native` has no parser. */
  readonly parsers: ReadonlyMap<string, Parser>
  readonly memories: ReadonlyMap<string, MemoryKind>
  readonly critics: () => readonly Critic[]
  readonly gates: () => readonly Gate[]
  readonly hooks: () => readonly Hook[]
  readonly recoveryRules: () => readonly RecoveryRule[]
  readonly stopRules: () => readonly StopRule[]
  /** Called for a hook that fails after the run's journal is closed. */
  readonly hookFailed?: (failure: HookFailure) => void
  readonly sink: RunSink
  readonly secrets: Secrets
  readonly skills: Skills
  readonly snapshots: Snapshots
  /** The default budget of a run; a task can override it. */
  readonly budget: Budget
  readonly budgetLimits: BudgetLimits
  readonly policy: Policy
  readonly failureLimits: FailureLimits
  readonly sources: RunSources
}

/** A claimed dispatch and its session's journal. Enough to write records, even for a run that cannot be opened. */
export interface ClaimedRun {
  readonly engine: Engine
  readonly dispatch: Dispatch
  readonly fence: Fence
  readonly thread: SessionThread
  /** Records that are not on disk yet. */
  readonly pendingRecords: JournalRecord[]
  /** Operations that are committed together with `pendingRecords`. */
  readonly pendingOps: Op[]
  /** Work to do after the commit of `pendingRecords`. */
  readonly afterCommit: (() => Promise<void>)[]
}

/** A claimed dispatch with its hooks. */
export interface ObservedRun extends ClaimedRun {
  readonly hooks: readonly Hook[]
  /** Names of hooks that exceeded their time limit; the run no longer waits for them. */
  readonly slowHooks: Set<string>
}

export interface Run extends ObservedRun {
  readonly behaviour: Behaviour
  readonly overrides: TaskOverrides
  /** The models that may be called, in order of preference. */
  readonly models: readonly Model[]
  /** The model of the current or last request. */
  model: Model
  readonly parser: Parser | undefined
  readonly memory: Memory
  /** Whether the memory is asked again at any time; else it is asked once per turn, and its view is recorded. */
  readonly isMemoryDeterministic: boolean
  readonly env: Env
  readonly toolbox: ReadonlyMap<string, AnyTool>
  readonly critics: readonly Critic[]
  readonly workspace: SharedWorkspace
  /** Aborts when the run is interrupted. The abort reason is an Interruption. */
  readonly signal: AbortSignal
  readonly grace: GracePeriod
  /** System prompt and tools with their digest; built for the first request and then unchanged. */
  prefix?: PromptPrefix
  /** Whether the files were saved before this opening of the run first wrote them. */
  isWorkspaceSaved?: true
  /** The current phase of the step. */
  phase: HookedPhase
}

export interface PromptPrefix {
  readonly system: string
  /** The system prompt without tool descriptions. */
  readonly ownSystem: string
  readonly tools: readonly ToolSpec[]
  readonly digest: string
  readonly bytes: number
  /** Estimated tokens by section. */
  readonly sections: Readonly<Record<string, number>>
  /** The sections of the system prompt, in order. */
  readonly parts: readonly { readonly name: string; readonly text: string; readonly tokens: number }[]
}

/**
 * Number of records that are folded in one go (a few milliseconds); then other work of the process gets its turn. A
 * session can have tens of thousands of records.
 */
const FOLDED_AT_ONCE = 500

export async function loadClaimedRun(
  engine: Engine,
  dispatch: Dispatch,
  records: readonly JournalRecord[],
): Promise<ClaimedRun> {
  const thread = emptyThread()
  for (const [i, record] of records.entries()) {
    if (i % FOLDED_AT_ONCE === FOLDED_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve))
    foldRecord(thread, record)
  }
  const { input, observation, decided } = thread.open ?? {}
  // Behaviours and critics receive these values, so they must be frozen like new records.
  for (const value of [input, observation, decided]) deepFreeze(value)
  const fence = { dispatch_id: dispatch.dispatch_id, token: dispatch.token }
  // Behaviours receive the metadata, so it must be frozen.
  deepFreeze(dispatch.metadata)
  return { engine, dispatch, fence, thread, pendingRecords: [], pendingOps: [], afterCommit: [] }
}

export const runRefOf = ({ dispatch }: ClaimedRun): RunRef => ({
  run_id: dispatch.dispatch_id,
  session_id: dispatch.session_id,
})

/**
 * Kinds of records, usually three of five in a step, that are not frozen here, to save time: behaviours, critics and
 * tools never receive them. app/event-fanout.ts freezes them for the sinks of plugins.
 */
const UNSHARED_RECORDS: ReadonlySet<RecordBody['kind']> = new Set([
  'model_requested',
  'model_answered',
  'step_committed',
])

/**
 * Redacts secrets in the body and freezes the record if plugins can see it. So the running step, all listeners and a
 * crash recovery see the same record.
 */
export function appendRecord(run: ClaimedRun, body: RecordBody, ts: number = run.engine.clock.now()): JournalRecord {
  const newRecord: JournalRecord = { ...redactValue(body, run.engine.secrets.hide), seq: run.thread.head + 1, ts }
  if (!UNSHARED_RECORDS.has(newRecord.kind)) deepFreeze(newRecord)
  foldRecord(run.thread, newRecord)
  run.pendingRecords.push(newRecord)
  run.engine.sources.journal.onRecord(newRecord)
  return newRecord
}

/** Contract: writes all new records and `ops` in one commit; resolves when the commit is on disk. */
export async function flushRecords<const Ops extends readonly Op[]>(
  run: ClaimedRun,
  ops: Ops,
): Promise<ResultsOf<Ops>> {
  const { store } = run.engine
  const records = run.pendingRecords.splice(0)
  if (records.length === 0) return commitOne(store, ops, run.fence)
  const append = { op: 'append', session_id: run.dispatch.session_id, records } as const
  const first: readonly Op[] = [append, ...run.pendingOps.splice(0)]
  const results = await commitOne<readonly Op[]>(store, [...first, ...ops], run.fence)
  for (const newRecord of records) notifySafely(() => run.engine.sink.onRecord(runRefOf(run), newRecord))
  for (const work of run.afterCommit.splice(0)) await work()
  return results.slice(first.length) as unknown as ResultsOf<Ops>
}

type DeltaBody = Delta extends infer D ? (D extends Delta ? Omit<D, keyof RunRef> : never) : never

export function sendDelta(run: ClaimedRun, body: DeltaBody): void {
  notifySafely(() => run.engine.sink.delta({ ...runRefOf(run), ...body } as Delta))
}
