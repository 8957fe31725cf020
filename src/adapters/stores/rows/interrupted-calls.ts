/** The interrupted calls of a run that died: calls with an intent and without a result. */

import { unknownOutcomeAction } from '../../../domain/effect.ts'
import type { JournalRecord } from '../../../domain/journal-record.ts'
import { unknownIdOf } from '../../../domain/unknown-outcome.ts'
import { iso } from '../../../ports/clock.ts'

type IntendedCall = Extract<JournalRecord, { kind: 'call_intended' }>

/** Contract: the values of a row in `unknowns` per interrupted call. `records`: those since the last committed step. */
export function interruptedCalls(session_id: string, records: readonly JournalRecord[]) {
  return [...findInterrupted(records)].map((intended) => ({
    id: unknownIdOf(session_id, intended),
    tool: intended.call.tool,
    args: JSON.stringify(intended.call.args),
    reach: intended.effect.reach,
    started_at: iso(intended.ts),
    status: unknownOutcomeAction(intended.effect) === 'ask_human' ? 'open' : 'told_model',
  }))
}

/** Whether the open turn begins after this record. */
export const endsTurn = ({ kind }: JournalRecord): boolean => kind === 'step_committed' || kind === 'run_started'

function findInterrupted(records: readonly JournalRecord[]): Iterable<IntendedCall> {
  const pending = new Map<number, IntendedCall>()
  for (const record of records) {
    if (record.kind === 'call_intended') pending.set(record.index, record)
    if (record.kind === 'call_settled') pending.delete(record.index)
  }
  return pending.values()
}
