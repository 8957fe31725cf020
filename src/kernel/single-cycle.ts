/**
 * A single cycle, in a process that waits for no beats: the whole queue is worked beside it, so that whatever an earlier process left, a person
 * has answered or a timer has brought is taken up as well (E19).
 * Must not know: what a cycle does.
 * Invariants: nothing of it goes on afterwards; what is not over by its deadline comes to the end of its step and is given back.
 */

import { commitOne } from '../ports/store.ts'
import type { Cycled } from './cycle.ts'
import { LONGEST_CYCLE_MS } from './loop.ts'
import { reach } from './ticks.ts'
import type { Hands } from './work-on.ts'

/** `limit`: the owner's, in milliseconds. Contract: rejects where the store fails. */
export async function runSingleCycle(
  { store, clock, bell, drain }: Hands,
  cycle: (signal: AbortSignal, planned: () => void) => Promise<Cycled>,
  limit: number | null | undefined,
  signal: AbortSignal,
): Promise<Cycled> {
  const [late, over, broken] = [new AbortController(), new AbortController(), new AbortController()]
  const now = clock.now()
  // Before the cycle looks at them: what is due to go on is no longer parked.
  if (((await store.nextTimer()) ?? Number.POSITIVE_INFINITY) <= now) await commitOne(store, [{ op: 'promote', now }])
  void reach(now + (limit ?? LONGEST_CYCLE_MS), clock, over.signal).then(() => over.signal.aborted || late.abort())
  let isOver = false
  let working: Promise<void> | undefined
  // Not before it is decided who goes: else whoever was quick would be sent once more.
  const work = (): void => {
    working ??= drain({ untilIdle: () => isOver, until: AbortSignal.any([late.signal, signal]) })
    // Told below; whoever waits for work that nobody does any more waits in vain.
    working.catch(() => broken.abort())
  }
  try {
    return await cycle(AbortSignal.any([signal, broken.signal]), work)
  } finally {
    isOver = true
    work()
    bell.ring()
    await working?.finally(() => over.abort())
  }
}
