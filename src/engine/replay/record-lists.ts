/**
 * Searches and sums over the records of a run.
 * Must not know: the position of a replay in them.
 */

import type { JournalRecord } from '../../domain/journal-record.ts'

/**
 * Like findIndex, but starts at `from`. It runs for every record, so it must not scan a long recording from the start.
 */
export function indexFrom(
  records: readonly JournalRecord[],
  from: number,
  matches: (record: JournalRecord) => boolean,
): number {
  for (let at = from; at < records.length; at += 1) if (matches(records[at] as JournalRecord)) return at
  return -1
}

export function runningSums(numbers: readonly number[]): readonly number[] {
  const sums = [0]
  for (const number of numbers) sums.push((sums.at(-1) ?? 0) + number)
  return sums
}

/** The failure at this index. Recovery rules that failed were diagnosed before it. */
export function failureFrom(
  records: readonly JournalRecord[],
  from: number,
): Extract<JournalRecord, { kind: 'failed' }> | undefined {
  const next = records[indexFrom(records, from, (record) => !isOfRecoveryRule(record))]
  return next?.kind === 'failed' ? next : undefined
}

const isOfRecoveryRule = (record: JournalRecord): boolean =>
  record.kind === 'diagnosed' && record.about.startsWith('recovery rule ')
