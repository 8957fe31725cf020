/**
 * Manual dispatch: the dispatches that a beat would create for some agents, without a cycle.
 * Must not know: who asked.
 */

import type { NewDispatch } from '../domain/dispatch.ts'
import type { Note } from '../domain/note.ts'
import { commitOne } from '../ports/store.ts'
import { insertionsFor, orient, perceive } from './cycle.ts'
import { dispatchFor } from './dispatch-for.ts'
import type { Surroundings } from './settings.ts'

/** `prompt`: replaces the agents' own. `metadata`: added to that of a beat. */
export async function dispatchByHand(
  deps: Surroundings,
  agents: readonly string[],
  prompt: string | null,
  metadata: NewDispatch['metadata'],
): Promise<readonly NewDispatch[]> {
  const { store, clock, documents, log } = deps
  const goal = (await documents.read('GOAL.md'))?.text ?? ''
  const insertions = await insertionsFor(deps, { state: await perceive(deps), goal, at: clock.now() })
  const notes: Note[] = []
  const dispatches: NewDispatch[] = []
  for (const candidate of await orient(deps, { agents })) {
    const planned = { agent_id: candidate.agent.agent_id, reason: 'requested manually', prompt: prompt ?? undefined }
    const dispatch = await dispatchFor(deps, undefined, candidate, planned, insertions, notes)
    dispatches.push({ ...dispatch, source: 'schedule', metadata: { ...dispatch.metadata, ...metadata } })
  }
  await commitOne(store, [{ op: 'enqueue', dispatches, now: clock.now() }])
  for (const { text } of notes) log('warn', 'manual dispatch', { message: text })
  return dispatches
}
