/** Thrown in DECIDE for an invalid decision: the model receives the reason as feedback, and no call runs. */

import type { Decision } from '../../domain/decision.ts'
import { TirelessError } from '../../domain/error.ts'

export type InvalidDecision = Extract<Decision, { kind: 'invalid' }>

export class InvalidDecisionError extends TirelessError {
  readonly decision: InvalidDecision
  constructor(decision: InvalidDecision) {
    super(decision.empty ? 'decision_empty' : 'decision_invalid', decision.feedback)
    this.decision = decision
  }
}
