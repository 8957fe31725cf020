/** Thrown inside a step that cannot go on yet: the turn stays open, the run parks, and the same turn goes on after the wake. */

import type { Wait } from '../domain/wait.ts'

export class Suspended extends Error {
  readonly wait: Wait
  constructor(wait: Wait) {
    super(wait.reason)
    this.wait = wait
  }
}
