/** CRITIC: asked in order; the first that does not say continue wins. Must not know: what follows from a verdict. */

import type { Verdict } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { Critic, Reduced } from '../ports/behaviour.ts'

export async function judge(critics: readonly Critic[], state: Json, reduced: Reduced): Promise<Verdict> {
  for (const critic of critics) {
    const verdict = await critic.judge(state, reduced)
    if (verdict.kind !== 'continue') return verdict
  }
  return { kind: 'continue' }
}
