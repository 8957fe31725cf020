/** Thrown by the environment of a replay: the issues of the recorded run, which replace the issues found so far. */

import type { Issue } from '../../domain/decision.ts'
import { TirelessError } from '../../domain/error.ts'

export class RecordedIssuesError extends TirelessError {
  readonly issues: readonly Issue[]
  constructor(issues: readonly Issue[]) {
    super('internal', issues.map(({ message }) => message).join('; '))
    this.issues = issues
  }
}
