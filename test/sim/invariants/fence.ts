/** I1 and I3, checked independently of the store: the rows before the commit show who holds the dispatch. */

import type { Batch } from '../../../src/ports/store.ts'
import type { SimProcess } from '../process.ts'
import type { DispatchRow } from './queue.ts'

export function checkFence(
  proc: SimProcess,
  { ops, fence }: Batch,
  dispatches: ReadonlyMap<string, DispatchRow>,
  fail: (invariant: string, message: string) => void,
): void {
  if (ops.some(({ op }) => op === 'join')) return
  if (!fence) {
    if (ops.some(({ op }) => op === 'append' || op === 'acknowledge'))
      fail('I3', `process ${proc.id} wrote a journal without a fence`)
    return
  }
  const held = dispatches.get(fence.dispatch_id)
  if (proc.superseded)
    fail('I3', `process ${proc.id} was superseded and still wrote ${ops.map(({ op }) => op).join('+')}`)
  else if (held?.status !== 'running' || held.token !== fence.token || held.epoch !== proc.epoch)
    fail('I1', `process ${proc.id} wrote for ${fence.dispatch_id}, which it does not hold`)
}
