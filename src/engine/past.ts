/**
 * What the model is given of the past: what the memory says, or what it said at the last cut. A cut only ever moves on: the memory of a
 * run that was opened anew knows nothing of what was given up before, and the journal does.
 */

import { asTirelessError } from '../domain/error.ts'
import type { Observation } from '../domain/observation.ts'
import type { MemoryQuery, MemoryView } from '../ports/memory.ts'
import { observationText } from '../prompt/conversation.ts'
import { diagnose } from './phase.ts'
import { ownCopy } from './reduce.ts'
import type { Run } from './run.ts'

/** Everything, as it was said. */
const WHOLE: MemoryView = { from: 0, summary: '', recalled: [] }

export function viewOf(run: Run, input: readonly Observation[]): MemoryView {
  const { cut = WHOLE } = run.thread
  const view = run.memory.retrieve(queryOf(run, input))
  return view.from > cut.from ? view : cut
}

/** Gives up of the past as much as it takes for the model to see less of it. False: there is nothing left to give. */
export function compact(run: Run): boolean {
  const { cut = WHOLE, past } = run.thread
  try {
    for (let turns = past.length; turns > 0 && run.memory.evict() > 0; turns--)
      if (run.memory.retrieve(queryOf(run, [])).from > cut.from) return true
  } catch (thrown) {
    diagnose(run, 'memory', asTirelessError(thrown).message)
  }
  return false
}

/** What the past is asked about: in the behaviour's words, or the task and what is new. */
function queryOf({ behaviour, thread, dispatch }: Run, input: readonly Observation[]): MemoryQuery {
  if (behaviour.buildMemoryQuery) return behaviour.buildMemoryQuery(ownCopy(thread.state), input)
  return { text: [dispatch.prompt, ...input.map(observationText)].join('\n') }
}
