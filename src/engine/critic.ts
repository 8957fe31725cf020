/** CRITIC: asked in order; the first that does not say continue wins. Must not know: what follows from a verdict. */

import type { Verdict } from '../domain/decision.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { FAILURE_CLASSES, type FailureClass } from '../domain/stop.ts'
import type { Critic, Reduced } from '../ports/behaviour.ts'
import { diagnose } from './phase.ts'
import { ownCopy } from './reduce.ts'
import type { Run } from './run.ts'

export interface Judged {
  readonly critic: string
  readonly verdict: Verdict
}

/** Contract: a critic that throws, or says what is no verdict, is diagnosed and passed over. */
export async function judge(run: Run, state: Json, step: Reduced): Promise<readonly Judged[]> {
  const judged: Judged[] = []
  for (const critic of run.critics) {
    try {
      const verdict = await run.leaving.or(() => verdictFrom(critic, ownCopy(state), step), leftBehind)
      judged.push({ critic: critic.name, verdict })
      if (verdict.kind !== 'continue') break
    } catch (thrown) {
      if (run.signal.aborted) throw new TirelessError('aborted', 'the run was interrupted', { cause: thrown })
      diagnose(run, `critic ${critic.name}`, asTirelessError(thrown).message)
    }
  }
  return judged
}

export function verdictOf(judged: readonly Judged[]): Verdict {
  return judged.find(({ verdict }) => verdict.kind !== 'continue')?.verdict ?? { kind: 'continue' }
}

async function verdictFrom(critic: Critic, state: Json, step: Reduced): Promise<Verdict> {
  const said = await critic.judge(state, step)
  if (said?.kind === 'continue') return { kind: 'continue' }
  if (said?.kind === 'retry' && typeof said.instruction === 'string' && isRest(said.attempt)) return said
  if (said?.kind === 'stop' && typeof said.reason === 'string' && isClass(said.failure_class)) return said
  throw new TirelessError('internal', `this is no verdict: ${JSON.stringify(said)?.slice(0, 200)}`)
}

const isRest = (attempt: { readonly after_ms: number } | undefined): boolean =>
  attempt === undefined || (Number.isFinite(attempt?.after_ms) && attempt.after_ms >= 0)

const isClass = (named: FailureClass | undefined): boolean => named === undefined || FAILURE_CLASSES.includes(named)

function leftBehind(): never {
  throw new TirelessError('aborted', 'the run was interrupted while a critic was asked')
}
