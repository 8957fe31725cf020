/**
 * OBSERVE: binds the input of a turn. A turn that a crash left open keeps the input it had.
 * Invariants: I8 (no input, no step), O12 (an unread message is bound at the next step, and acknowledged only in its commit).
 */

import type { Observation } from '../domain/observation.ts'
import { type Run, record } from './run.ts'
import type { OpenTurn } from './thread.ts'

/** Undefined: there is nothing to go on. Nothing was written then. */
export async function observe(run: Run): Promise<OpenTurn | undefined> {
  const { thread, dispatch } = run
  if (thread.open) return thread.open
  const first = thread.ended
  const unread = await run.engine.store.inbox(dispatch.session_id)
  const input = first ? [...taskOf(run), ...unread] : unread
  const last = !first && thread.last?.kind === 'continue' ? thread.last : undefined
  if (input.length === 0 && !last) return undefined
  if (first)
    record(run, {
      kind: 'run_started',
      run_id: dispatch.dispatch_id,
      agent_id: dispatch.agent_id,
      behaviour: run.behaviour.name,
    })
  record(run, {
    kind: 'input_bound',
    turn: thread.turn + 1,
    input,
    ...(last?.feedback === undefined ? {} : { feedback: last.feedback }),
  })
  return thread.open
}

/** The dispatch's own prompt is the first thing its run hears. A dispatch that unread messages made has none. */
function taskOf({ dispatch, engine }: Run): Observation[] {
  if (dispatch.prompt === '') return []
  return [{ id: dispatch.dispatch_id, type: 'user_message', text: dispatch.prompt, ts: engine.clock.now() }]
}
