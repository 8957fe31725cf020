/**
 * The step: the one function by which a session moves (I2). Cron cycle, Hz tick, user message, sub-agent and crash-resume all
 * reach it. A turn that was cut short is in the journal; each phase takes from there what it already has.
 *
 * Commits: request · answer + first intent · result k + intent k+1 · last result + step (I3).
 */

import { act } from './act.ts'
import { checkStop } from './check-stop.ts'
import { commitStep, giveUp, type Moved } from './commit.ts'
import { judge } from './critic.ts'
import { decide } from './decide.ts'
import { observe } from './observe.ts'
import { type Run, stateOf } from './run.ts'

export async function step(run: Run, signal: AbortSignal): Promise<Moved> {
  const { behaviour, engine, thread } = run
  const turn = await observe(run)
  if (!turn) return { kind: 'no_input' }
  try {
    const decision = await decide(run, turn, signal)
    const results = await act(run, turn, decision, signal)
    const reduced = { input: turn.input, decision, results }
    const state = behaviour.reduce?.(stateOf(run), reduced) ?? stateOf(run)
    const verdict = await judge(engine.critics(), state, reduced)
    const next = checkStop({
      decision,
      verdict,
      shouldStop: behaviour.shouldStop?.(state) ?? false,
      steps: thread.steps + 1,
      maxSteps: engine.maxSteps,
      invalid: thread.invalid,
      now: engine.clock.now(),
    })
    return await commitStep(run, turn, next, state)
  } catch (thrown) {
    return giveUp(run, turn, thrown)
  }
}
