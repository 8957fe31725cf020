/** Thrown by an env that knows better than anybody else why a run cannot begin in it. */

import type { Issue } from '../domain/decision.ts'

export class Unfit extends Error {
  readonly issues: readonly Issue[]
  constructor(issues: readonly Issue[]) {
    super(issues.map(({ message }) => message).join('; '))
    this.issues = issues
  }
}
