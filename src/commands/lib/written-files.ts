/** The full paths of the files that a run created or changed. */

import { resolve } from 'node:path'
import type { Event } from '../../domain/event.ts'
import { recordsOfRun } from '../../domain/journal-record.ts'
import { FILE_WRITERS, namedWrites, resultFiles } from '../../domain/written-files.ts'
import { fallbackIfUnreadable } from '../../ports/store.ts'
import type { Needs } from './context.ts'

/** Whether the event contains the result of a call that writes files. */
export function wroteFiles({ phase, payload: { results } }: Event): boolean {
  if (phase !== 'ACT' || !Array.isArray(results)) return false
  return results.some(({ tool }) => FILE_WRITERS.has(tool))
}

/** Contract: absolute paths without duplicates, in the order of writing; empty if the journal cannot be read. */
export async function filesWrittenBy(
  { store, snapshots }: Needs<'store' | 'snapshots'>,
  runId: string,
): Promise<readonly string[]> {
  const dispatch = await store.dispatch(runId)
  if (!dispatch) return []
  const session = await store.session(dispatch.session_id)
  const records = recordsOfRun(await fallbackIfUnreadable(store.journal(dispatch.session_id), []), runId)
  const named = namedWrites(records).map(({ path }) => path)
  const names = resultFiles(named, await snapshots.filesMadeBy(runId))
  return session ? names.map((name) => resolve(session.workspace, name)) : []
}
