/**
 * The sources of a replayed run: what the recorded run was allowed, charged and told is read from the tape.
 * Must not know: the store, the owner's policy, prices.
 */

import type { CallResult } from '../../domain/decision.ts'
import type { RunSetup } from '../../domain/journal-record.ts'
import { copyJson } from '../../domain/json.ts'
import type { Wait } from '../../domain/wait.ts'
import type { HeldCalls } from '../calls/gate.ts'
import { recoverCall } from '../calls/recover-call.ts'
import { unrecoveredResult } from '../calls/unknown-outcome.ts'
import { recordDiagnosis, runHooks } from '../phases/phase.ts'
import { appendRecord, type ClaimedRun } from '../run.ts'
import type { IntendedCall } from '../session/session-thread.ts'
import type {
  CallSource,
  JournalSource,
  RecoverySource,
  RequestSource,
  RuleSource,
  RunSources,
  StartSource,
} from '../sources.ts'
import { Suspended } from '../suspended.ts'
import { endedBy, recordedError } from './recorded-ports.ts'
import type { ReplayTape } from './replay-tape.ts'

export const createReplaySources = (
  tape: ReplayTape,
  setup: RunSetup,
  onRequest: RequestSource['onRequest'],
): RunSources => ({
  start: recordedStart(tape),
  requests: { ...recordedRequests(tape, setup), onRequest },
  calls: recordedCalls(tape),
  recovery: recordedRecovery(tape),
  rules: recordedRules(tape),
  journal: recordedJournal(tape),
})

function recordedStart(tape: ReplayTape): StartSource {
  return {
    waitsForBehaviour: false,
    findTaskIssues: () => [],
    findOutputs: () => tape.outputs(),
    // The env of the replay fails if the recorded run was refused, see recorded-ports.ts.
    confirmIssues: (found) => (found.length === 0 ? found : (tape.issues() ?? found)),
    recallFacts: async () => tape.nextInput()?.recalled,
  }
}

function recordedRequests(tape: ReplayTape, { model }: RunSetup): Omit<RequestSource, 'onRequest'> {
  return {
    nextModelId() {
      const failure = tape.nextFailure()
      if (failure) throw recordedError(failure)
      return tape.find('model_requested')?.model ?? model ?? 'none'
    },
    findFallback: () => tape.fallback(),
    maxCostUsd: () => tape.find('model_requested')?.reserved,
    // The answer was checked when it was recorded.
    checkAnswer: (_, call) => call(),
    costUsd: () => tape.find('model_answered')?.usd,
  }
}

function recordedCalls(tape: ReplayTape): CallSource {
  return {
    findApprovedCalls: async () => tape.approvedCalls(),
    async findHeldCalls(run, _, calls) {
      if (tape.wasKilledInPhase('act')) throw new Suspended(ENDED_HERE)
      const intent = tape.nextIntent()
      if (intent) appendRecord(run, intent)
      return heldCallsOf(tape, calls.length)
    },
    // The recorded tools need no arguments. A call that could not be filled in has no recorded intent: its tool fails.
    fillPlaceholders: async (_run, _tool, index, { args }) => ({
      args: copyJson(args),
      filled: tape.intended(index)?.filled === true,
    }),
    labelResult: (_run, _open, index) => tape.recordedLabel(index),
    // The label of a workspace is not part of a recording.
    taintWorkspace() {},
  }
}

function heldCallsOf(tape: ReplayTape, count: number): HeldCalls {
  const results = Array.from({ length: count }, (_, index) => tape.heldResult(index))
  return new Map(results.flatMap((result, index) => (result ? [[index, { result }] as const] : [])))
}

function recordedRecovery(tape: ReplayTape): RecoverySource {
  const recordedResult = ({ index }: IntendedCall): CallResult | undefined => {
    // In the recording, the run waited here for a person's answer and was resumed with a different configuration.
    if (tape.isReconfiguredNext() || tape.wasKilledInPhase('act')) throw new Suspended(ENDED_HERE)
    return tape.settled(index)?.result
  }
  return {
    recoverCall: async (run, intended, toolMessage) =>
      recordedResult(intended) ?? recoverCall(run, intended, toolMessage),
    unrecoveredResult: (intended, resolution) => recordedResult(intended) ?? unrecoveredResult(intended, resolution),
  }
}

/** The rules themselves are not asked; those that failed are diagnosed again. */
function recordedRules(tape: ReplayTape): RuleSource {
  const repeatDiagnoses = (run: ClaimedRun, kind: string): void => {
    for (let next = tape.next(); next?.kind === 'diagnosed' && next.about.startsWith(kind); next = tape.next())
      recordDiagnosis(run, next.about, next.message)
  }
  return {
    async askRecoveryRules(run) {
      repeatDiagnoses(run, 'recovery rule ')
      const next = tape.next()
      return next?.kind === 'failed' && next.rule !== undefined ? { rule: next.rule, ruling: next.ruling } : undefined
    },
    async askStopRules(run) {
      repeatDiagnoses(run, 'stop rule ')
      const ended = endedBy(tape, 'stop_rule')
      return ended && ended.ending !== true ? { rule: ended.rule ?? '', ending: ended.ending } : undefined
    },
  }
}

/** A wait that ends the replayed process at a point at which the recorded process was killed without a wait. */
const ENDED_HERE: Wait = { kind: 'unknown', unknown_id: '', until: null, reason: 'replay' }

function recordedJournal(tape: ReplayTape): JournalSource {
  return {
    onRecord: (record) => tape.addRecord(record),
    reportToParent: async () => undefined,
    // Earlier versions called the end hooks before the commit and recorded their failures.
    async commitRunEnd(run, stop_reason, commit) {
      await runHooks(run, 'on_run_end', { stop_reason })
      await commit()
    },
  }
}
