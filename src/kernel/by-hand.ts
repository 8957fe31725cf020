/**
 * What a beat would have agents do, asked for by hand: the same dispatches, without a cycle around them.
 * Must not know: who asked.
 */

import type { NewDispatch } from '../domain/dispatch.ts'
import type { Note } from '../domain/note.ts'
import { commitOne } from '../ports/store.ts'
import { insertionsFor, orient, perceive } from './cycle.ts'
import { dispatchFor } from './dispatch-for.ts'
import type { Surroundings } from './settings.ts'

/** `prompt`: instead of the agents' own. `metadata`: besides what a beat would give. */
export async function dispatchByHand(
  around: Surroundings,
  agents: readonly string[],
  prompt: string | null,
  metadata: NewDispatch['metadata'],
): Promise<readonly NewDispatch[]> {
  const { store, clock, documents, log } = around
  const goal = (await documents.read('GOAL.md'))?.text ?? ''
  const insertions = await insertionsFor(around, { state: await perceive(around), goal, at: clock.now() })
  const notes: Note[] = []
  const made: NewDispatch[] = []
  for (const candidate of await orient(around, { agents })) {
    const planned = { agent_id: candidate.agent.agent_id, reason: 'by hand', prompt: prompt ?? undefined }
    const dispatch = await dispatchFor(around, undefined, candidate, planned, insertions, notes)
    made.push({ ...dispatch, source: 'schedule', metadata: { ...dispatch.metadata, ...metadata } })
  }
  await commitOne(store, [{ op: 'enqueue', dispatches: made, now: clock.now() }])
  for (const { text } of notes) log('warn', 'by hand', { message: text })
  return made
}
