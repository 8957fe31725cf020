/** The steps of a run with their costs, folded from its events. Pure. */

import type { Event } from '../../../src/domain/event.ts'
import { applyEvent, newRun, type RunView, type StepView } from '../run-view.ts'

interface StepCosts {
  model: string
  input: number
  output: number
  cached: number
  /** Null: no price is known. */
  usd: number | null
}

export interface RunStep extends StepView, Readonly<StepCosts> {
  /** Null while the step is open. */
  readonly to: number | null
  /** How many events it has; more of them mean that it went on. */
  readonly events: number
}

/** Contract: the run as its events up to now tell it, and its steps. */
export function foldRun(id: string, events: readonly Event[]): { run: RunView; steps: readonly RunStep[] } {
  const run = newRun(id)
  const costs = new Map<number, StepCosts & { events: number }>()
  for (const event of events) {
    applyEvent(run, event)
    if (event.step_id === 0) continue
    const known = costs.get(event.step_id) ?? { model: '', input: 0, output: 0, cached: 0, usd: null, events: 0 }
    costs.set(event.step_id, known)
    known.events += 1
    addCosts(known, event)
  }
  return { run, steps: run.steps.map((step) => ({ ...step, ...costsOf(costs, step), to: endOf(step) })) }
}

interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
}

function addCosts(costs: StepCosts, { phase, stage, payload }: Event): void {
  if (phase !== 'DECIDE') return
  if (stage === 'model_input' && typeof payload.model === 'string') costs.model = payload.model
  const usage = payload.usage as unknown as Usage | undefined
  if (usage === undefined) return
  costs.input += usage.input_tokens
  costs.output += usage.output_tokens
  costs.cached += usage.cached_tokens
  if (typeof payload.usd === 'number') costs.usd = (costs.usd ?? 0) + payload.usd
}

const NO_COSTS = { model: '', input: 0, output: 0, cached: 0, usd: null, events: 0 }
const costsOf = (costs: ReadonlyMap<number, StepCosts & { events: number }>, { id }: StepView) =>
  costs.get(id) ?? NO_COSTS

const endOf = ({ spans }: StepView): number | null => spans.at(-1)?.to ?? null

/** Contract: what the steps used together. */
export const sumCosts = (steps: readonly RunStep[]): Pick<StepCosts, 'input' | 'output' | 'cached' | 'usd'> => ({
  input: steps.reduce((sum, { input }) => sum + input, 0),
  output: steps.reduce((sum, { output }) => sum + output, 0),
  cached: steps.reduce((sum, { cached }) => sum + cached, 0),
  usd: steps.reduce<number | null>((sum, { usd }) => (usd === null ? sum : (sum ?? 0) + usd), null),
})
