/** Finds a run by its id, with its records from the session's journal. */

import type { Dispatch } from '../../domain/dispatch.ts'
import { TirelessError } from '../../domain/error.ts'
import { type JournalRecord, recordsOfRun } from '../../domain/journal-record.ts'
import type { Needs } from './context.ts'

export interface RecordedRun {
  readonly dispatch: Dispatch
  /** The records of the session from before the run. */
  readonly past: readonly JournalRecord[]
  readonly records: readonly JournalRecord[]
}

/** Contract: throws `not_found` for an unknown run, or one without records. */
export async function findRun({ store }: Needs<'store'>, run_id: string): Promise<RecordedRun> {
  const dispatch = await store.dispatch(run_id)
  const journal = dispatch ? await store.journal(dispatch.session_id) : []
  const records = recordsOfRun(journal, run_id)
  const [first] = records
  if (!dispatch || !first)
    throw new TirelessError('not_found', {
      what: dispatch ? 'this run has not started' : 'no such run',
      got: run_id,
      fix: 'run tireless trace list',
    })
  return { dispatch, past: journal.filter(({ seq }) => seq < first.seq), records }
}
