/** Thrown by the env of a replay: all the issues that kept the recorded run from beginning, in place of those found so far. */

import type { Issue } from '../domain/decision.ts'
import { TirelessError } from '../domain/error.ts'

export class Unfit extends TirelessError {
  readonly issues: readonly Issue[]
  constructor(issues: readonly Issue[]) {
    super('internal', issues.map(({ message }) => message).join('; '))
    this.issues = issues
  }
}
