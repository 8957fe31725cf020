/** What a run has used up. */

import type { Next } from '../domain/decision.ts'

/** Of time, only what its present attempt has used: each has all of it. */
export interface Spent {
  steps: number
  ms: number
  tokens: number
  usd: number
}

export const nothingSpent = (): Spent => ({ steps: 0, ms: 0, tokens: 0, usd: 0 })

export function afterStep(spent: Spent, next: Next, ms: number): Spent {
  const rests = next.kind === 'park' && next.feedback !== undefined
  return {
    ...spent,
    // To wait is no step: it may be woken as often as it takes. To have come to no result is one.
    steps: spent.steps + (next.kind === 'park' && !rests ? 0 : 1),
    ms: rests ? 0 : spent.ms + ms,
  }
}
