/**
 * The step: the only function that advances a session (I2). Schedules, user messages, sub-agents and crash recovery all
 * call it. A turn that a crash interrupted is in the journal: each phase reuses the results that are already there.
 *
 * The commits of a step: answer + first intent · result k + intent k+1 · last result + step, with the next step's
 * request when the run continues (I3).
 */

import type { Next } from '../domain/decision.ts'
import { commitStep, type StepOutcome } from './commit.ts'
import { act } from './phases/act.ts'
import { checkStop } from './phases/check-stop.ts'
import { askCritics } from './phases/critic.ts'
import { decide } from './phases/decide.ts'
import { findInput, observe } from './phases/observe.ts'
import { runPhase } from './phases/phase.ts'
import { reduceState } from './phases/reduce.ts'
import { handleStepFailure } from './retry-policy.ts'
import type { Run } from './run.ts'
import type { OpenTurn } from './session/session-thread.ts'

export async function step(run: Run): Promise<StepOutcome> {
  const input = await findInput(run)
  if (!input) return { kind: 'no_input' }
  const began = run.engine.clock.monotonic()
  try {
    const turn = run.thread.open ?? (await runPhase(run, 'observe', () => observe(run, input)))
    const forced = forcedRouting(run, turn)
    if (forced) return await commitStep(run, turn, { next: forced, patch: undefined, verdicts: [], began })
    const decision = await runPhase(run, 'decide', () => decide(run, turn))
    const results = await runPhase(run, 'act', () => act(run, turn, decision))
    const reduced = { input: turn.input, observation: turn.observation, decision, results, ...thoughtOf(turn) }
    const { state, patch } = await runPhase(run, 'reduce', () => reduceState(run, reduced))
    const verdicts = run.critics.length > 0 ? await runPhase(run, 'critic', () => askCritics(run, state, reduced)) : []
    const next = await runPhase(run, 'check_stop', () =>
      checkStop(run, { decision, verdicts, state, step: reduced, began }),
    )
    return await commitStep(run, turn, { next, patch, verdicts, began })
  } catch (thrown) {
    return handleStepFailure(run, input, thrown, began)
  }
}

/** What the model wrote beside its calls. */
function thoughtOf({ answer }: OpenTurn): { readonly thought?: string } {
  const thought = answer?.notes?.thought ?? (answer && answer.calls.length > 0 ? answer.text : '')
  return thought.trim() === '' ? {} : { thought }
}

/**
 * The owner can force a session to decide anew what to do. Nothing is decided in this turn, so its input stays unread,
 * and the other behaviour reads it.
 */
function forcedRouting({ behaviour: { onMessage } }: Run, { input, isRequested, decided }: OpenTurn): Next | undefined {
  if (onMessage === undefined || isRequested || decided || !input.some(({ route }) => route)) return undefined
  return { kind: 'become', behaviour: onMessage, params: {}, why: 'the owner wants it to be decided anew' }
}
