/** A run that somebody names by its id, with what its session's journal holds of it. */

import type { Dispatch } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { type JournalRecord, recordsOfRun } from '../domain/record.ts'
import type { Context } from './command.ts'

export interface Recorded {
  readonly dispatch: Dispatch
  /** The session's journal before the run. */
  readonly past: readonly JournalRecord[]
  readonly records: readonly JournalRecord[]
}

/** Contract: `not_found` where there is no such run, or nothing of it yet. */
export async function findRun({ store }: Context, run_id: string): Promise<Recorded> {
  const dispatch = await store.dispatch(run_id)
  const journal = dispatch ? await store.journal(dispatch.session_id) : []
  const records = recordsOfRun(journal, run_id)
  const [first] = records
  if (!dispatch || !first)
    throw new TirelessError('not_found', {
      what: dispatch ? 'this run has not begun' : 'there is no such run',
      got: run_id,
      fix: 'see: trace list',
    })
  return { dispatch, past: journal.filter(({ seq }) => seq < first.seq), records }
}
