/** The run that wrote something, found by the turn of its session. */

import { z } from 'zod'
import type { JournalRecord } from '../../domain/journal-record.ts'
import { titleOfRun } from '../../domain/title.ts'
import { fallbackIfUnreadable } from '../../ports/store.ts'
import type { Needs } from './context.ts'

export const writtenByShape = z
  .object({ run_id: z.string(), task: z.string() })
  .nullable()
  .describe('the run that wrote it; null: no run did, or it was deleted')

interface SessionTurn {
  readonly session_id: string
  readonly turn: number
}

export async function findWriter(
  { store, redact }: Needs<'store' | 'redact'>,
  { session_id, turn }: SessionTurn,
): Promise<z.output<typeof writtenByShape>> {
  const journal = await fallbackIfUnreadable(store.journal(session_id), [])
  const run = runOfTurn(journal, turn)
  return run && { run_id: run.run_id, task: titleOfRun(redact(run.task), run.behaviour) }
}

function runOfTurn(journal: readonly JournalRecord[], turn: number) {
  let run: Extract<JournalRecord, { kind: 'run_started' }> | null = null
  for (const record of journal) {
    if (record.kind === 'run_started') run = record
    if (record.kind === 'input_bound' && record.turn === turn) return run
  }
  return null
}
