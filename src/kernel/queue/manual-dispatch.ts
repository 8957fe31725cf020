/**
 * Manual dispatch: queues, without a cycle, the dispatches that a beat would queue for some agents.
 * Must not know: which command calls it.
 */

import type { NewDispatch } from '../../domain/dispatch.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import { commitOne } from '../../ports/store.ts'
import { findCandidates, readKernelState, readPromptValues } from '../cycle/cycle.ts'
import type { KernelDeps } from '../settings.ts'
import { buildDispatch } from './build-dispatch.ts'

/** `prompt`: replaces the agents' own prompts. `metadata`: added to the metadata of a scheduled dispatch. */
export async function dispatchManually(
  deps: KernelDeps,
  agents: readonly string[],
  prompt: string | null,
  metadata: NewDispatch['metadata'],
): Promise<readonly NewDispatch[]> {
  const { store, clock, documents, log } = deps
  const goal = (await documents.read('GOAL.md'))?.text ?? ''
  const insertions = await readPromptValues(deps, { state: await readKernelState(deps), goal, at: clock.now() })
  const notes: OwnerNote[] = []
  const dispatches: NewDispatch[] = []
  for (const candidate of await findCandidates(deps, { agents })) {
    const planned = { agent_id: candidate.agent.agent_id, reason: 'requested manually', prompt: prompt ?? undefined }
    const dispatch = await buildDispatch(deps, { candidate, planned, insertions }, notes)
    dispatches.push({ ...dispatch, source: 'schedule', metadata: { ...dispatch.metadata, ...metadata } })
  }
  await commitOne(store, [{ op: 'enqueue', dispatches, now: clock.now() }])
  for (const { text } of notes) log('warn', 'manual dispatch', { message: text })
  return dispatches
}
