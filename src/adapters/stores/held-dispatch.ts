/** The dispatch that a batch holds by its fence. */

import type { Fence } from '../../ports/store.ts'
import { RefusedBatch } from './refuse-batch.ts'

/** The dispatch that a batch holds by its fence, and its session. `dispatch` and `session` are row numbers. */
export interface HeldDispatch {
  readonly dispatch: number
  readonly session: number
  readonly session_id: string
}

export function requireHeldDispatch(held: HeldDispatch | undefined, op: string): HeldDispatch {
  if (!held) throw new RefusedBatch('store_fenced', `${op} needs a fence for its dispatch`)
  return held
}

/** The refusal of a batch whose fence is stale. `row`: the dispatch as it is now. */
export const staleFence = (
  { dispatch_id, token }: Fence,
  row: { readonly status?: unknown; readonly token?: unknown } | undefined,
): RefusedBatch =>
  new RefusedBatch(
    'store_fenced',
    `dispatch ${dispatch_id} is no longer held with token ${token} ` +
      `(${row ? `now ${row.status}, token ${row.token}` : 'unknown dispatch'})`,
  )
