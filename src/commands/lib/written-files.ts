/** Files that a run created or changed, according to the results of its tools. */

import { join } from 'node:path'
import type { Event } from '../../domain/event.ts'
import { type JournalRecord, recordsOfRun } from '../../domain/journal-record.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'

const WRITERS: ReadonlySet<string> = new Set(['create_file', 'edit_file'])

/** Whether the event contains the result of a call that writes files. */
export function wroteFiles({ phase, payload: { results } }: Event): boolean {
  if (phase !== 'ACT' || !Array.isArray(results)) return false
  return results.some(({ tool }) => WRITERS.has(tool))
}

/** Contract: absolute paths without duplicates, in the order of writing; empty if the journal cannot be read. */
export async function filesWrittenBy(store: Store, runId: string): Promise<readonly string[]> {
  const dispatch = await store.dispatch(runId)
  if (!dispatch) return []
  const session = await store.session(dispatch.session_id)
  const names = writtenIn(recordsOfRun(await fallbackIfUnreadable(store.journal(dispatch.session_id), []), runId))
  return session ? names.map((name) => join(session.workspace, name)) : []
}

function writtenIn(records: readonly JournalRecord[]): readonly string[] {
  const paths = new Map<string, string>()
  const names: string[] = []
  for (const record of records) {
    if (record.kind === 'call_intended' && WRITERS.has(record.call.tool)) {
      const { path } = record.call.args as { readonly path?: unknown }
      if (typeof path === 'string') paths.set(`${record.turn} ${record.index}`, path)
    }
    if (record.kind !== 'call_settled' || record.result.status !== 'ok') continue
    const path = paths.get(`${record.turn} ${record.index}`)
    if (path !== undefined) names.push(path)
  }
  return [...new Set(names)]
}
