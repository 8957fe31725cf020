/** Routed: what became of a message that the tool `route` dealt with, from the facts of its result. Pure. */

import type { CallResult } from './decision.ts'
import type { Json } from './json.ts'

export interface Routed {
  readonly session_id?: string
  readonly dispatch_id?: string
  /** What the owner reads. Without it nothing is said: the session that got the message answers. */
  readonly reply?: string
}

/** Contract: undefined unless the call succeeded; a journal may contain anything. */
export function readRouted({ status, facts }: Pick<CallResult, 'status' | 'facts'>): Routed | undefined {
  const { routed } = (facts ?? {}) as { readonly routed?: Json }
  if (status !== 'ok' || typeof routed !== 'object' || routed === null) return undefined
  const { session_id, dispatch_id, reply } = routed as { readonly [key: string]: Json }
  return {
    ...(typeof session_id === 'string' ? { session_id } : {}),
    ...(typeof dispatch_id === 'string' ? { dispatch_id } : {}),
    ...(typeof reply === 'string' && reply !== '' ? { reply } : {}),
  }
}
