/** What an undo must contain so that another process can finish it. */

import { FACT_STATUSES } from '../../../domain/fact.ts'
import { KEPT_REASONS, type Undo } from '../../../domain/undo.ts'
import type { UndoOp } from '../../../ports/store/undos.ts'
import { listOf, oneOf, orAbsent, orNull, storedCount, storedNumber, storedObject, storedText } from './value-shapes.ts'

const pathChange = storedObject({
  path: storedText,
  before: orNull(storedText),
  after: orNull(storedText),
  afterTime: orAbsent(storedNumber),
  file: orAbsent(storedText),
})
const kept = listOf(
  storedObject({
    workspace: orNull(storedText),
    name: storedText,
    why: oneOf(KEPT_REASONS),
    error: orNull(storedText),
  }),
)
const factStatus = oneOf(FACT_STATUSES)

export const undoShape = storedObject({
  runs: listOf(storedText),
  undoes: orNull(storedText),
  workspaces: listOf(storedObject({ workspace: storedText, changes: listOf(pathChange) })),
  documents: listOf(storedObject({ name: storedText, versions: listOf(storedCount) })),
  facts: listOf(storedObject({ id: storedText, from: factStatus, to: factStatus, ended_by: orNull(storedText) })),
  cancelled: listOf(storedText),
  home: orAbsent(storedText),
  stopped: orAbsent(storedText),
  kept: orAbsent(kept),
})

/** What ops say of an undo that is not finished. */
export const undoStopShape = storedObject({ why: storedText, kept })
export const undoEndShape = storedObject({ how: oneOf(['done', 'given_up']), kept })

type StoredUndo = Pick<Undo, 'stopped' | 'kept'>

/** Contract: pure; the stored body of an undo, once it has stopped. */
export function withStop(body: string, { why, kept: left }: Extract<UndoOp, { op: 'undo_stop' }>): string {
  return JSON.stringify({ ...(JSON.parse(body) as StoredUndo), stopped: why, kept: left })
}

/** Contract: pure; the stored body of an undo, once it has ended. */
export function withEnd(body: string, { kept: left }: Extract<UndoOp, { op: 'undo_end' }>): string {
  return JSON.stringify({ ...(JSON.parse(body) as StoredUndo), kept: left.length === 0 ? undefined : left })
}
