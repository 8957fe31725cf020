/** Which runs were undone, and by which undo; dispatches as lists show them. */

import { z } from 'zod'
import type { Dispatch } from '../../domain/dispatch.ts'
import { outcomeOf } from '../../domain/outcome.ts'
import { titleOfRun } from '../../domain/title.ts'
import { undoneRuns } from '../../domain/undo.ts'
import type { Needs } from './context.ts'

const MAX_UNDOS = 1000

export const undoneByShape = z.string().nullable().describe('the undo that took its work back')

/** Contract: the undo that took the run's work back; null if none did. */
export async function findUndone({ store }: Needs<'store'>): Promise<(run_id: string) => string | null> {
  const found = undoneRuns(await store.undos({ limit: MAX_UNDOS }))
  return (run_id) => found.get(run_id) ?? null
}

export const withTitle = (undoneBy: (run_id: string) => string | null) => (dispatch: Dispatch) => ({
  ...{ ...dispatch, title: titleOfRun(dispatch.prompt, dispatch.metadata.behaviour), outcome: outcomeOf(dispatch) },
  undone_by: undoneBy(dispatch.dispatch_id),
})
