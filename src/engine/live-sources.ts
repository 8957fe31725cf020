/**
 * The sources of a live run: the store, the owner's policy, the models and the tools.
 * Must not know: recordings, see replay/.
 */

import { findApprovedCalls } from './calls/approved-calls.ts'
import { fillPlaceholders } from './calls/fill-placeholders.ts'
import { findHeldCalls } from './calls/gate.ts'
import { recoverCall } from './calls/recover-call.ts'
import { labelResult, taintWorkspace } from './calls/result-labels.ts'
import { unrecoveredResult } from './calls/unknown-outcome.ts'
import { commitThenRunEndHooks } from './commit.ts'
import { findOutputs, findTaskIssues } from './open/preflight.ts'
import { askStopRules } from './phases/end-by-plugin.ts'
import { recallFacts } from './phases/observe.ts'
import { askRecoveryRules } from './recovery-rules.ts'
import { reportToParent } from './report-to-parent.ts'
import { checkAnswer, costUsd, maxCostUsd } from './request/budget-reservation.ts'
import { findFallback, nextModelId } from './request/model-fallback.ts'
import type { RunSources } from './sources.ts'

export const LIVE_SOURCES: RunSources = {
  start: { waitsForBehaviour: true, findTaskIssues, findOutputs, confirmIssues: (found) => found, recallFacts },
  requests: { nextModelId, findFallback, maxCostUsd, onRequest() {}, checkAnswer, costUsd },
  calls: {
    findApprovedCalls,
    findHeldCalls,
    fillPlaceholders: (run, tool, _index, call) => fillPlaceholders(run, tool, call),
    labelResult,
    taintWorkspace,
  },
  recovery: { recoverCall, unrecoveredResult },
  rules: { askRecoveryRules, askStopRules },
  journal: { onRecord() {}, reportToParent, commitRunEnd: commitThenRunEndHooks },
}
