/**
 * Bus: the input of residents. An observation is durable and is seen once: a look sees it, and acknowledges it in its
 * step's commit. A slice is the latest value of something that changes often; it is kept in memory.
 */

import type { Json } from '../domain/json.ts'
import type { Label } from '../domain/label.ts'
import type { Observation } from '../domain/observation.ts'
import type { ReplyTo } from '../domain/reply-to.ts'
import type { ResidentAction } from '../domain/resident.ts'
import type { Op } from './store.ts'

export type BusObservation =
  | { readonly type: 'user_message'; readonly text: string }
  | { readonly type: 'system_event'; readonly name: string; readonly payload?: Json }

export interface Publication {
  /** The residents that see it. */
  readonly agents: readonly string[]
  /** A repeated id changes nothing. */
  readonly id: string
  readonly observation: BusObservation
  /** Absent: as trusted as the owner's own text. */
  readonly label?: Label | undefined
  /** Where the answer goes; default: to the owner. */
  readonly replyTo?: ReplyTo | undefined
  /** Operations of the same commit. */
  readonly ops?: readonly Op[]
}

/** What a resident did at the end of a look. */
export interface BusAction {
  readonly agent: string
  readonly run: string
  readonly action: ResidentAction
  readonly text: string
  /** Why it does nothing, or asks; often empty. */
  readonly why: string
}

/** x_t: what a resident would see now. */
export interface BusSnapshot {
  readonly observations: readonly Observation[]
  readonly slices: Readonly<Record<string, Json>>
  readonly ts: number
}

export interface Bus {
  /**
   * Contract: resolves when the observation is on disk for all the agents, in one commit. Throws `usage` for an invalid
   * publication, `not_found` for an agent that is no resident, and `bus_full` if one has too many unread observations:
   * then none gets it.
   */
  publish(publication: Publication): Promise<{ readonly duplicate: boolean }>
  /** Contract: replaces the latest value; causes no look. Throws `usage`; an unknown agent is ignored. */
  setSlice(agents: readonly string[], name: string, value: Json): void
  /** Contract: acknowledges nothing. */
  snapshot(agent: string): Promise<BusSnapshot>
  /** Contract: called after the commit of each look; an error of the listener is ignored. Returns an unsubscriber. */
  onAction(listener: (action: BusAction) => void): () => void
}
