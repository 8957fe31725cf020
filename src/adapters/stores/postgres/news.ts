/** Which commits other processes are told of. */

import type { BatchOutcome, Op, OpResults } from '../../../ports/store.ts'

/** Ops after which other processes may have something to do. */
const WAKING: ReadonlySet<Op['op']> = new Set([
  ...(['enqueue', 'publish', 'resolve', 'ask', 'answer', 'unknown', 'settle', 'park', 'release', 'cancel'] as const),
  ...(['pause', 'retry', 'prioritize', 'promote', 'recover', 'leave', 'post', 'revise', 'set', 'set_aside'] as const),
  ...(['schedule_put', 'schedule_remove', 'schedule_pause', 'take_over'] as const),
])

/** Regular looks for dead workers and lost homes are no news, as long as they find none. */
export function isNews(
  { ops }: { readonly ops: readonly { readonly op: Op['op'] }[] },
  outcome: BatchOutcome | undefined,
): boolean {
  if (!outcome?.ok) return false
  const { results } = outcome
  const isQuiet = (op: Op['op'], i: number): boolean =>
    (op === 'recover' && (results[i] as OpResults['recover']).lost === 0) ||
    (op === 'take_over' && (results[i] as OpResults['take_over']).length === 0)
  return ops.some(({ op }, i) => WAKING.has(op) && !isQuiet(op, i))
}
