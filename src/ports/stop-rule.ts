/** Stop rule: may end a run after any of its steps. */

import type { Json } from '../domain/json.ts'
import type { CompletedStep } from './behaviour.ts'
import type { RunEnding } from './run-ending.ts'

/** A run after a step that would not end it. */
export interface StopQuestion {
  readonly run_id: string
  readonly session_id: string
  readonly agent_id: string
  readonly behaviour: string
  /** The state after the step; a copy. */
  readonly state: Json
  readonly step: CompletedStep
  /** Used by the run so far, this step included. */
  readonly used: { readonly steps: number; readonly ms: number; readonly tokens: number; readonly usd: number }
}

export interface StopRule {
  readonly name: string
  /**
   * Contract: changes nothing; returns how the run ends, or undefined if it goes on. The first rule that ends the run
   * wins; its answer is recorded, and a replay does not ask it again. A rule that throws, takes longer than ten seconds
   * or returns anything else is recorded as a diagnosis and skipped.
   */
  check(question: StopQuestion): RunEnding | undefined | Promise<RunEnding | undefined>
}
