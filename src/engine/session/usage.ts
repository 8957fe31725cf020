/** Usage of a run: steps, time, tokens and money. */

import type { Next } from '../../domain/decision.ts'

/** `ms` counts only the current attempt, because each attempt has the full time limit. */
export interface RunUsage {
  steps: number
  ms: number
  tokens: number
  usd: number
}

export const noUsage = (): RunUsage => ({ steps: 0, ms: 0, tokens: 0, usd: 0 })

export function addStepUsage(spent: RunUsage, next: Next, ms: number): RunUsage {
  const startsAttempt = next.kind === 'park' && next.feedback !== undefined
  return {
    ...spent,
    // A wait does not count as a step. A new attempt does.
    steps: spent.steps + (next.kind === 'park' && !startsAttempt ? 0 : 1),
    ms: startsAttempt ? 0 : spent.ms + ms,
  }
}
