/**
 * Ends a step with one commit of the last results, the acknowledged input and the new status of the dispatch (I3). If
 * the run continues and the step read no input, its records are written together with the next step's request.
 */

import type { Next } from '../domain/decision.ts'
import { assertNever, asTirelessError } from '../domain/error.ts'
import type { Patch } from '../domain/json-patch.ts'
import { type Language, languageOf } from '../domain/language.ts'
import { dispatchEndOf, type StopReason } from '../domain/stop-reason.ts'
import type { Wait } from '../domain/wait.ts'
import type { Op } from '../ports/store.ts'
import { createToolContext } from './calls/execute-call.ts'
import { settleInterruptedCalls } from './calls/unknown-outcome.ts'
import type { CriticVerdict } from './phases/critic.ts'
import { recordDiagnosis, runHooks } from './phases/phase.ts'
import { callPluginInTime } from './plugins/ask-in-time.ts'
import { replyOps } from './replies.ts'
import { appendRecord, type ClaimedRun, flushRecords, type ObservedRun, type Run } from './run.ts'
import { isFromInbox } from './session/bind-input.ts'
import { copyPastTurn } from './session/memory-view.ts'
import type { OpenTurn } from './session/session-thread.ts'

/** The run continues, parks, ends or is released. `no_input`: there was no input, so no step ran. */
export type StepOutcome = Next | { readonly kind: 'release' } | { readonly kind: 'no_input' }

export type RunEnd = Extract<Next, { kind: 'end' }>

interface StepCommit {
  readonly next: Next
  readonly patch: Patch | undefined
  readonly verdicts: readonly CriticVerdict[]
  /** Start of the step on the monotonic clock. */
  readonly began: number
}

export async function commitStep(
  run: Run,
  turn: OpenTurn,
  { next, patch, verdicts, began }: StepCommit,
  more: readonly Op[] = [],
): Promise<StepOutcome> {
  appendRecord(run, {
    kind: 'step_committed',
    turn: turn.turn,
    next,
    ...(patch === undefined ? {} : { patch }),
    ...(verdicts.length === 0 ? {} : { verdicts }),
    ms: Math.round(run.engine.clock.monotonic() - began),
  })
  await appendToMemory(run, turn)
  run.afterCommit.push(() => notifySettledTools(run, turn))
  return applyNext(run, next, [...more, ...acknowledgeOps(run, turn)])
}

/** An error of the memory is recorded and does not fail the step; the memory then lacks this turn. */
async function appendToMemory(run: Run, { turn }: OpenTurn): Promise<void> {
  const past = run.thread.past.at(-1)
  if (past?.turn !== turn) return
  try {
    const method = { who: `memory ${run.thread.setup?.memory}`, method: 'append' }
    await callPluginInTime(run, method, () => run.memory.append(copyPastTurn(past)))
  } catch (thrown) {
    // An interrupted run is opened with a new memory.
    if (!run.signal.aborted) recordDiagnosis(run, 'memory', asTirelessError(thrown).message)
  }
}

async function applyNext(run: Run, next: Next, ops: readonly Op[]): Promise<StepOutcome> {
  switch (next.kind) {
    case 'continue':
      if (ops.length > 0) await flushRecords(run, ops)
      return next
    case 'become':
      await flushRecords(run, ops)
      return next
    case 'park':
      return parkRun(run, next.wait, ops)
    case 'end':
      return finishRun(run, next, ops)
    default:
      return assertNever(next)
  }
}

/** Closes the open turn of a run that ends in the middle of a step. The caller commits the returned operations. */
export async function closeOpenTurn(run: ClaimedRun, next: RunEnd): Promise<readonly Op[]> {
  const { open } = run.thread
  if (!open) return []
  const unknowns = await settleInterruptedCalls(run, open)
  appendRecord(run, { kind: 'step_committed', turn: open.turn, next, ms: 0 })
  return [...unknowns, ...acknowledgeOps(run, open)]
}

export async function releaseRun(run: Run): Promise<StepOutcome> {
  await flushRecords(run, [{ op: 'release', now: run.engine.clock.now() }])
  return { kind: 'release' }
}

/** The run continues instead of parking if a message that it waits for is already in the inbox. */
export async function parkRun(run: ClaimedRun, wait: Wait, ops: readonly Op[]): Promise<StepOutcome> {
  const results = await flushRecords(run, [...ops, { op: 'park', wait, now: run.engine.clock.now() }])
  const { parked } = results.at(-1) as { parked: boolean }
  return parked ? { kind: 'park', wait } : { kind: 'continue' }
}

export async function finishRun(run: ObservedRun, next: RunEnd, ops: readonly Op[]): Promise<StepOutcome> {
  await run.engine.sources.journal.commitRunEnd(run, next.stop_reason, async () => {
    recordRunEnd(run, run.dispatch.dispatch_id, next)
    await flushRecords(run, [...ops, ...(await settleRunOps(run, next))])
  })
  return next
}

/** Calls the end hooks after the commit. The journal is closed then, so failures of hooks are only reported. */
export async function commitThenRunEndHooks(
  run: ObservedRun,
  stop_reason: StopReason,
  commit: () => Promise<void>,
): Promise<void> {
  await commit()
  await runHooks(run, 'on_run_end', { stop_reason }, run.engine.hookFailed ?? (() => {}))
}

export function recordRunEnd(run: ClaimedRun, run_id: string, { kind: _, ...ended }: RunEnd): void {
  appendRecord(run, { kind: 'run_ended', run_id, ...ended })
}

/** The end of the dispatch, and the reply to the chat that talks with the run. */
export async function settleRunOps(run: ClaimedRun, next: RunEnd): Promise<readonly Op[]> {
  const { engine } = run
  const ending = dispatchEndOf(next.stop_reason, next.failure_class)
  const report = await engine.sources.journal.reportToParent(run, ending.status)
  const settle: Op = {
    op: 'settle',
    status: ending.status,
    result: next.answer ?? null,
    error: next.error ?? null,
    failure_class: ending.status === 'failed' ? ending.failure_class : null,
    successor_id: engine.ids.next(),
    ...(report && { report }),
    now: engine.clock.now(),
  }
  return [...releaseTodoOps(run, run.dispatch.dispatch_id), settle, ...(await replyOps(run, next))]
}

const RELEASED: Readonly<Record<Language, string>> = {
  en: 'The run that worked on it ended before it was finished.',
  zh: '处理它的运行在完成之前就结束了。',
}

/** Contract: the todos that a run worked on are open again after its end; nothing for a session without open todos. */
export function releaseTodoOps({ engine, thread, dispatch }: ClaimedRun, run_id: string): readonly Op[] {
  if (thread.work.todos.every(({ status }) => status === 'DONE')) return []
  const asked = thread.userMessages.findLast(({ isOwner }) => isOwner)?.text ?? ''
  const action = { kind: 'release', by: { kind: 'system' }, reason: RELEASED[languageOf(asked)] } as const
  const { session_id } = dispatch
  const op_id = `${run_id}:end:${thread.head}`
  return [{ op: 'todos', op_id, session_id, actions: [action], now: engine.clock.now() }]
}

/** Marks the turn's input as read. It stays unread if neither the model nor the behaviour has decided on it. */
function acknowledgeOps(run: ClaimedRun, turn: OpenTurn): Op[] {
  const observation_ids = turn.input.filter(isFromInbox).map(({ id }) => id)
  if (observation_ids.length === 0 || (!turn.answer && !turn.decided)) return []
  const { session_id } = run.dispatch
  return [{ op: 'acknowledge', session_id, observation_ids, now: run.engine.clock.now() }]
}

/** Tells tools that their results are on disk, so that they can delete the data that they kept for crash recovery. */
async function notifySettledTools(run: Run, turn: OpenTurn): Promise<void> {
  for (const intended of turn.intended.values()) {
    const tool = run.engine.tools.get(intended.call.tool)
    try {
      if (tool) await tool.settled?.(createToolContext(run, tool, intended, new AbortController().signal))
    } catch {}
  }
}
