/**
 * The step: the only function that advances a session (I2). Schedules, user messages, sub-agents and crash recovery all
 * call it. A turn that a crash interrupted is in the journal: each phase reuses the results that are already there.
 *
 * Commits: answer + first intent · result k + intent k+1 · last result + step, with the next step's request when the
 * run continues (I3).
 */

import { act } from './act.ts'
import { checkStop } from './check-stop.ts'
import { commitStep, type Moved } from './commit.ts'
import { judge } from './critic.ts'
import { decide } from './decide.ts'
import { findInput, observe } from './observe.ts'
import { phase } from './phase.ts'
import { reduce } from './reduce.ts'
import type { Run } from './run.ts'
import { setBack } from './setback.ts'

export async function step(run: Run): Promise<Moved> {
  const input = await findInput(run)
  if (!input) return { kind: 'no_input' }
  const began = run.engine.clock.monotonic()
  try {
    const turn = run.thread.open ?? (await phase(run, 'observe', () => observe(run, input)))
    const decision = await phase(run, 'decide', () => decide(run, turn))
    const results = await phase(run, 'act', () => act(run, turn, decision))
    const reduced = { input: turn.input, observation: turn.observation, decision, results }
    const { state, patch } = await phase(run, 'reduce', () => reduce(run, reduced))
    const verdicts = run.critics.length > 0 ? await phase(run, 'critic', () => judge(run, state, reduced)) : []
    const next = await phase(run, 'check_stop', () => checkStop(run, { decision, verdicts, state, began }))
    return await commitStep(run, turn, { next, patch, verdicts, began })
  } catch (thrown) {
    return setBack(run, input, thrown, began)
  }
}
