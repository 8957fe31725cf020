/** The label of a session, from its journal (I12). Pure. */

import type { JournalRecord } from './journal-record.ts'
import { CLEAN_LABEL, type Label, lowestLabel } from './label.ts'

/** Contract: returns the lowest label of all texts in the journal. Faster than loading the whole thread. */
export function labelOfJournal(records: readonly JournalRecord[]): Label {
  let label = CLEAN_LABEL
  const lower = (other: Label | undefined): void => {
    if (other) label = lowestLabel(label, other)
  }
  for (const record of records) {
    if (record.kind === 'call_settled') lower(record.label)
    if (record.kind === 'step_committed')
      for (const { verdict } of record.verdicts ?? []) if (verdict.kind !== 'continue') lower(verdict.label)
    if (record.kind !== 'input_bound') continue
    for (const observation of record.input) lower(observation.label)
    for (const { trust, private: isPrivate } of record.recalled?.facts ?? []) lower({ trust, private: isPrivate })
  }
  return label
}
