/** What the fold of a run's events remembers of the turn in progress. */

import type { Decision } from './decision.ts'
import type { EventDecision, Payload, RecordOf } from './event-payload.ts'
import type { FailingPhase, HistoryCut } from './journal-record.ts'
import type { Json } from './json.ts'

/** The turn in progress, and which of its events were already emitted. */
interface EventTurn {
  readonly turn: number
  /** Phases whose `start` was emitted. */
  readonly started: Set<FailingPhase>
  /** The observation whose event is not emitted yet. */
  observed?: { readonly payload: Payload; readonly ts: number } | undefined
  cut?: HistoryCut | undefined
  decision?: Decision
  choice?: EventDecision
  isDecisionEmitted: boolean
  isActEmitted: boolean
  readonly intended: Map<number, string>
  readonly results: Map<number, { readonly ok: boolean; readonly payload: Json }>
  failed: boolean
  /** Diagnoses of critics, held back until the CRITIC phase has started. */
  readonly diagnoses: RecordOf<'diagnosed'>[]
}

/** True if the turn has a decision, no failure, and no call without a result: then REDUCE and CRITIC ran, too. */
export function isTurnComplete({ choice, failed, intended, results }: EventTurn): boolean {
  return choice !== undefined && !failed && [...intended.keys()].every((index) => results.has(index))
}

export function newEventTurn(turn: number): EventTurn {
  return {
    turn,
    started: new Set(),
    isDecisionEmitted: false,
    isActEmitted: false,
    intended: new Map(),
    results: new Map(),
    failed: false,
    diagnoses: [],
  }
}
