/** What a session is about: what its first run was asked. */

import type { Dispatch } from '../../domain/dispatch.ts'
import type { Store } from '../../ports/store.ts'
import { titleOfWork } from './session-thread.ts'

interface SessionSummary {
  /** Null: it has no run. */
  readonly title: string | null
  readonly runs: number
  readonly last: Dispatch | undefined
}

export async function summarizeSession(store: Store, session_id: string): Promise<SessionSummary> {
  const { items, total: runs } = await store.dispatchesIn(session_id, { offset: 0, limit: 1 })
  const [last] = items
  const [first] = runs > 1 ? (await store.dispatchesIn(session_id, { offset: runs - 1, limit: 1 })).items : items
  return { title: first ? titleOfWork(first) : null, runs, last }
}

/** Contract: the titles of these sessions; those without a run are missing. */
export async function titlesOf(store: Store, sessions: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(sessions)]
  const titles = await Promise.all(ids.map(async (id) => [id, (await summarizeSession(store, id)).title] as const))
  return new Map(titles.flatMap(([id, title]) => (title === null ? [] : [[id, title] as const])))
}
