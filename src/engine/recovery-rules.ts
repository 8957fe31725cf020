/**
 * Asks the recovery rules of plugins what follows a failed step. Their choice replaces that of the retry policy, within
 * its limits.
 * Must not know: the policy itself, see retry-policy.ts.
 * Invariants: a rule that fails is recorded as a diagnosis, and the policy decides.
 */

import { asTirelessError } from '../domain/error.ts'
import type { RetryRuling } from '../domain/journal-record.ts'
import type { FailedStep, RecoveryChoice } from '../ports/recovery-rule.ts'
import { recordDiagnosis } from './phases/phase.ts'
import { askPluginInTime } from './plugins/ask-in-time.ts'
import { recoveryPort } from './plugins/env-and-rule-shapes.ts'
import type { Run } from './run.ts'

/** A rule, and its ruling. */
export interface RuledRecovery {
  readonly rule: string
  readonly ruling: RetryRuling
}

export interface RecoveryQuestion {
  readonly failure: FailedStep
  /** Whether the same turn can be tried again: it has an observation, and no decision that is invalid. */
  readonly isRepeatable: boolean
  readonly now: number
}

/** Contract: undefined if no rule decides. */
export async function askRecoveryRules(run: Run, question: RecoveryQuestion): Promise<RuledRecovery | undefined> {
  for (const rule of run.engine.recoveryRules()) {
    try {
      const choice = await askPluginInTime(run, recoveryPort(rule.name), () => rule.decide({ ...question.failure }))
      if (choice) return { rule: rule.name, ruling: rulingFor(choice, question) }
    } catch (thrown) {
      if (run.signal.aborted) return undefined
      recordDiagnosis(run, `recovery rule ${rule.name}`, asTirelessError(thrown).message)
    }
  }
  return undefined
}

function rulingFor(choice: RecoveryChoice, { isRepeatable, now }: RecoveryQuestion): RetryRuling {
  if (choice.kind === 'fail') return { kind: 'stop' }
  const until = choice.after_ms ? Math.ceil(now + choice.after_ms) : null
  if (choice.kind === 'retry' && isRepeatable) return { kind: 'retry', until }
  const text = choice.kind === 'next_turn' ? choice.feedback : undefined
  return { kind: 'feedback', ...(text === undefined ? {} : { text }), ...(until === null ? {} : { until }) }
}
