/**
 * The sources of a run: where it gets what neither its journal nor its components determine. A live run asks the store,
 * the owner's policy and the plugins (live-sources.ts); a replay reads its recording (replay/replay-sources.ts).
 * Must not know: which of the two answers.
 */

import type { Call, CallResult, Issue } from '../domain/decision.ts'
import type { Dispatch, DispatchStatus } from '../domain/dispatch.ts'
import type { ErrorCode } from '../domain/error.ts'
import type { RecalledFacts } from '../domain/fact.ts'
import type { JournalRecord, ModelAnswer, RunSetup } from '../domain/journal-record.ts'
import type { Observation } from '../domain/observation.ts'
import type { StopReason } from '../domain/stop-reason.ts'
import type { ChildReport } from '../domain/sub-agent.ts'
import type { Budget } from '../domain/task.ts'
import type { Resolution } from '../domain/unknown-outcome.ts'
import type { Model, ModelRequest } from '../ports/model.ts'
import type { StopQuestion } from '../ports/stop-rule.ts'
import type { AnyTool } from '../ports/tool.ts'
import type { FilledArguments } from './calls/fill-placeholders.ts'
import type { HeldCalls } from './calls/gate.ts'
import type { RecordedLabel } from './calls/result-labels.ts'
import type { RuledEnding } from './phases/end-by-plugin.ts'
import type { RecoveryQuestion, RuledRecovery } from './recovery-rules.ts'
import type { ClaimedRun, ObservedRun, PromptPrefix, Run } from './run.ts'
import type { IntendedCall, OpenTurn } from './session/session-thread.ts'

export interface RunSources {
  readonly start: StartSource
  readonly requests: RequestSource
  readonly calls: CallSource
  readonly recovery: RecoverySource
  readonly rules: RuleSource
  readonly journal: JournalSource
}

/** Whether a run can start, and what it knows at its start. */
export interface StartSource {
  /** Whether a resumed run whose behaviour is missing waits until it is installed. If not, the run is refused. */
  readonly waitsForBehaviour: boolean
  /** Contract: the issues of the task and of its agent; empty if it can start. */
  findTaskIssues(run: ClaimedRun, budget: Budget): readonly Issue[]
  /** Contract: the files without which the run cannot end as done; undefined: no result is expected of it. */
  findOutputs(dispatch: Dispatch, setup: RunSetup): readonly string[] | undefined
  /** Contract: the issues for which the run is refused, after all checks have found `found`. */
  confirmIssues(found: readonly Issue[]): readonly Issue[]
  /** Contract: the facts of the agent that match the run's first input; undefined if there are none. */
  recallFacts(run: Run, input: readonly Observation[]): Promise<RecalledFacts | undefined>
}

/** A request with the sections of its system prompt; `digest` as in its record. */
export interface SentRequest extends ModelRequest {
  readonly model: string
  readonly sections: PromptPrefix['parts']
  readonly digest: string
}

/** The model of a request, and its costs. */
export interface RequestSource {
  /** Contract: the id of the model to call; undefined if none can be called now. May throw a failure of the step. */
  nextModelId(run: Run, tried: readonly string[]): string | undefined
  /**
   * Contract: after a model failed with `code`, whether another one can be called: `now` if it is untried in this turn,
   * `later` (after a backoff) if all were tried.
   */
  findFallback(run: Run, open: OpenTurn, code: ErrorCode): 'now' | 'later' | undefined
  /**
   * Contract: the maximum cost of a request in US dollars; undefined for an unmetered model. Throws `budget_*` if the
   * cost could exceed a limit of the run.
   */
  maxCostUsd(run: Run, bytes: number): number | undefined
  /** Contract: called with every request before it is sent; must not throw. */
  onRequest(request: SentRequest): void
  /** Contract: resolves to the answer of `call` if it is valid; rejects otherwise. */
  checkAnswer(model: Model, call: () => Promise<ModelAnswer>): Promise<ModelAnswer>
  /** Contract: the cost of an answer in US dollars; undefined for an unmetered model. */
  costUsd(model: Model, answer: ModelAnswer): number | undefined
}

/** Which calls may run, and how far their results can be trusted. */
export interface CallSource {
  /** Contract: the calls that a person allowed and that the turn has to run. */
  findApprovedCalls(run: Run, open: OpenTurn): Promise<readonly Call[]>
  /** Contract: the calls that must not run. Approvals and audit entries are committed with the next records. */
  findHeldCalls(run: Run, open: OpenTurn, calls: readonly Call[]): Promise<HeldCalls>
  /**
   * Contract: the arguments with which the call runs; throws `tool_failed` if it must not run, because a placeholder of
   * a hidden text cannot be filled in.
   */
  fillPlaceholders(
    run: Run,
    tool: AnyTool,
    index: number,
    call: Pick<Call, 'args' | 'effect'>,
  ): Promise<FilledArguments>
  labelResult(run: Run, open: OpenTurn, index: number, result: CallResult): RecordedLabel
  /** Contract: lowers the label of the workspace that the call is about to write to, in the commit of its intent. */
  taintWorkspace(run: Run, intended: IntendedCall): void
}

/** Results of calls that started but have no result. */
export interface RecoverySource {
  /** Contract: the call's result; throws `Suspended` if the run has to wait for it. */
  recoverCall(run: Run, intended: IntendedCall, toolMessage: string): Promise<CallResult>
  /** Contract: the result of a call whose run ends before it recovers the call. */
  unrecoveredResult(intended: IntendedCall, resolution: Resolution | null): CallResult
}

/** What the rules of plugins say. */
export interface RuleSource {
  /** Contract: the rule that decides what follows a failed step; undefined: the retry policy decides. */
  askRecoveryRules(run: Run, question: RecoveryQuestion): Promise<RuledRecovery | undefined>
  /** Contract: the rule that ends the run after a step; undefined: it goes on. */
  askStopRules(run: Run, question: () => StopQuestion): Promise<RuledEnding | undefined>
}

/** What accompanies the records of a run. */
export interface JournalSource {
  /** Contract: called with every new record, before it is on disk; must not throw. */
  onRecord(record: JournalRecord): void
  /** Contract: what a sub-agent reports with its result; undefined for other runs. Merges its files. */
  reportToParent(run: ClaimedRun, status: DispatchStatus): Promise<ChildReport | undefined>
  /** Contract: calls `commit`, which writes the end of the run, once; and the run's hooks, before or after it. */
  commitRunEnd(run: ObservedRun, stop_reason: StopReason, commit: () => Promise<void>): Promise<void>
}
