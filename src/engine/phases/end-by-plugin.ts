/**
 * Asks the env and the stop rules whether a run is over after a step. The answer is recorded with the step.
 * Must not know: which envs and rules there are.
 * Invariants: a stop rule that fails is recorded as a diagnosis, and the run goes on.
 */

import type { Next } from '../../domain/decision.ts'
import { asTirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { StopReason } from '../../domain/stop-reason.ts'
import type { RunEnding } from '../../ports/run-ending.ts'
import type { StopQuestion } from '../../ports/stop-rule.ts'
import { askPluginInTime } from '../plugins/ask-in-time.ts'
import { isTerminalPort, stopRulePort } from '../plugins/env-and-rule-shapes.ts'
import type { Run } from '../run.ts'
import { recordDiagnosis } from './phase.ts'
import { copyState } from './reduce.ts'

type End = Extract<Next, { kind: 'end' }>

/** A rule, and how it ends the run. */
export interface RuledEnding {
  readonly rule: string
  readonly ending: RunEnding
}

/** Contract: undefined if the run goes on, or was interrupted while it waited for the env. */
export async function endByEnv(run: Run, state: Json): Promise<End | undefined> {
  const { env } = run
  const { isTerminal } = env
  if (!isTerminal) return undefined
  try {
    const ending = await askPluginInTime(run, isTerminalPort(env), () => isTerminal.call(env, copyState(state)))
    if (ending === false) return undefined
    return ending === true ? { kind: 'end', stop_reason: 'env_terminal' } : endAsTold('env_terminal', ending)
  } catch (thrown) {
    if (run.signal.aborted) return undefined
    throw thrown
  }
}

/** Contract: undefined if the run goes on. */
export async function endByRule(run: Run, question: () => StopQuestion): Promise<End | undefined> {
  const ended = await run.engine.sources.rules.askStopRules(run, question)
  return ended && { ...endAsTold('stop_rule', ended.ending), rule: ended.rule }
}

/** Asks the rules in order; the first that ends the run wins. */
export async function askStopRules(run: Run, question: () => StopQuestion): Promise<RuledEnding | undefined> {
  for (const rule of run.engine.stopRules()) {
    try {
      const ending = await askPluginInTime(run, stopRulePort(rule.name), () => rule.check(question()))
      if (ending) return { rule: rule.name, ending }
    } catch (thrown) {
      if (run.signal.aborted) return undefined
      recordDiagnosis(run, `stop rule ${rule.name}`, asTirelessError(thrown).message)
    }
  }
  return undefined
}

const endAsTold = (stop_reason: StopReason, { reason, answer, failed }: RunEnding): End => ({
  ...{ kind: 'end', stop_reason, reason },
  ...(answer === undefined ? {} : { answer }),
  ...(failed ? { failure_class: 'invalid_result', error: reason } : {}),
})
