/** Usage of a run: steps, time, tokens and money. */

import type { Next } from '../../domain/decision.ts'

/** `ms` counts only the current attempt, because each attempt has the full time limit. */
export interface RunUsage {
  steps: number
  ms: number
  tokens: number
  usd: number
}

/** What the run has spent, and what it has given to sub-agents. */
export const committedUsd = (thread: { readonly usage: RunUsage; readonly delegatedUsd: number }): number =>
  thread.usage.usd + thread.delegatedUsd

export const noUsage = (): RunUsage => ({ steps: 0, ms: 0, tokens: 0, usd: 0 })

interface StepCost {
  readonly ms: number
  /** A behaviour decided the step without a model. The number of such steps is limited by that of moves. */
  readonly isRuleStep: boolean
}

export function addStepUsage(spent: RunUsage, next: Next, { ms, isRuleStep }: StepCost): RunUsage {
  const isPause = next.kind === 'park' && next.pause
  const startsAttempt = next.kind === 'park' && next.feedback !== undefined && !isPause
  return {
    ...spent,
    // A wait does not count as a step, nor does a rule. A new attempt does.
    steps: spent.steps + (isRuleStep || (next.kind === 'park' && !startsAttempt && !isPause) ? 0 : 1),
    ms: startsAttempt ? 0 : spent.ms + ms,
  }
}
