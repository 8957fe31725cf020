/**
 * CRITIC: asks the critics in order; the first verdict other than `continue` wins. Must not know: what follows from a
 * verdict.
 */

import type { Verdict } from '../../domain/decision.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { CompletedStep } from '../../ports/behaviour.ts'
import { askPluginAsync } from '../plugins/ask-plugin.ts'
import { verdictPort } from '../plugins/return-shapes.ts'
import type { Run } from '../run.ts'
import { recordDiagnosis } from './phase.ts'
import { copyState } from './reduce.ts'

export interface CriticVerdict {
  readonly critic: string
  readonly verdict: Verdict
}

/** Contract: a critic that throws or returns an invalid verdict is recorded as a diagnosis and skipped. */
export async function askCritics(run: Run, state: Json, step: CompletedStep): Promise<readonly CriticVerdict[]> {
  const judged: CriticVerdict[] = []
  for (const critic of run.critics) {
    try {
      const verdict = await run.grace.race(
        () => askPluginAsync(verdictPort(critic.name), () => critic.judge(copyState(state), step)),
        abortedInCritic,
      )
      judged.push({ critic: critic.name, verdict })
      if (verdict.kind !== 'continue') break
    } catch (thrown) {
      if (run.signal.aborted) throw new TirelessError('aborted', 'the run was interrupted', { cause: thrown })
      recordDiagnosis(run, `critic ${critic.name}`, asTirelessError(thrown).message)
    }
  }
  return judged
}

export function decisiveVerdict(judged: readonly CriticVerdict[]): CriticVerdict {
  return judged.find(({ verdict }) => verdict.kind !== 'continue') ?? { critic: '', verdict: { kind: 'continue' } }
}

function abortedInCritic(): never {
  throw new TirelessError('aborted', 'the run was interrupted while a critic judged the step')
}
