/** What an undo must contain so that another process can finish it. */

import { FACT_STATUSES } from '../../../domain/fact.ts'
import { listOf, oneOf, orAbsent, orNull, storedCount, storedObject, storedText } from './value-shapes.ts'

const pathChange = storedObject({ path: storedText, before: orNull(storedText), after: orNull(storedText) })
const factStatus = oneOf(FACT_STATUSES)

export const undoShape = storedObject({
  runs: listOf(storedText),
  undoes: orNull(storedText),
  workspaces: listOf(storedObject({ workspace: storedText, changes: listOf(pathChange) })),
  documents: listOf(storedObject({ name: storedText, versions: listOf(storedCount) })),
  facts: listOf(storedObject({ id: storedText, from: factStatus, to: factStatus, ended_by: orNull(storedText) })),
  cancelled: listOf(storedText),
  home: orAbsent(storedText),
})
