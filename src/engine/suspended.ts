/** Thrown in a step that must wait: the run parks with its turn open and resumes the same turn when it is woken. */

import type { Wait } from '../domain/wait.ts'

export class Suspended extends Error {
  readonly wait: Wait
  constructor(wait: Wait) {
    super(wait.reason)
    this.wait = wait
  }
}
