/** A step in the trace: one line of `steps.jsonl`, made from the events of one turn. */

import type { Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'

/** A field is null, or an empty list, if the step ended before the phase that sets it. */
export interface TraceStep {
  readonly step_id: number
  readonly observation: Json
  readonly decision: Json
  readonly actions: readonly Json[]
  readonly action_results: readonly Json[]
  readonly critic: Json
  readonly state_diff: Json
  readonly error?: string
}

interface StepFold {
  /** Contract: takes every event of the run once, in order; returns the step that this event completes, if any. */
  apply(event: Event): TraceStep | undefined
}

export function createStepFold(): StepFold {
  let open: TraceStep | undefined
  const close = (): TraceStep | undefined => {
    const over = open
    open = undefined
    return over
  }
  return {
    apply(event) {
      if (event.phase === 'END') return close()
      if (event.step_id === 0 || event.stage === 'diagnostic') return undefined
      open = withEvent(open ?? newStep(event.step_id), event)
      return event.phase === 'CHECK_STOP' && (event.stage === 'stop' || event.stage === 'continue')
        ? close()
        : undefined
    },
  }
}

const newStep = (step_id: number): TraceStep => ({
  step_id,
  observation: null,
  decision: null,
  actions: [],
  action_results: [],
  critic: null,
  state_diff: null,
})

/** The phase is not compared, because each of these stages belongs to one phase only. */
function withEvent(step: TraceStep, { stage, payload, error }: Event): TraceStep {
  switch (stage) {
    case 'observation_ready':
      return { ...step, observation: payload }
    case 'decision_ready': {
      const { calls, ...decision } = payload
      return { ...step, decision, actions: listOf(calls).map(parseArgs) }
    }
    case 'action_results':
      return { ...step, action_results: listOf(payload.results) }
    case 'state_reduced':
      return { ...step, state_diff: payload.state_diff ?? null }
    case 'outputs_ready':
      return { ...step, critic: payload.verdicts ?? null }
    default:
      return error === undefined ? step : { ...step, error }
  }
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

/** Parses the arguments of a call, which a model writes as JSON text. */
function parseArgs(call: Json): Json {
  const { tool, args } = call as { readonly tool: string; readonly args: Json }
  if (typeof args !== 'string') return call
  try {
    return { tool, args: JSON.parse(args) as Json }
  } catch {
    return call
  }
}
