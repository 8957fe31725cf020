/** A step in the trace: one line of `steps.jsonl`, made from the events of one turn. */

import type { CallStatus } from '../domain/decision.ts'
import type { Event } from '../domain/event.ts'
import type { EventCall, EventDecision, Payload } from '../domain/event-payload.ts'
import type { Json } from '../domain/json.ts'

/** A field is null, or an empty list, if the step ended before the phase that sets it. */
export interface TraceStep {
  readonly step_id: number
  readonly observation: Json
  /** The decision without its calls. */
  readonly decision: TraceDecision | null
  readonly actions: readonly EventCall[]
  readonly action_results: readonly ActionResult[]
  readonly critic: Json
  readonly state_diff: Json
  readonly error?: string
}

type TraceDecision = Payload & Pick<EventDecision, 'kind'>
type ActionResult = { readonly tool: string; readonly status: CallStatus; readonly content: string }

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
      return { ...step, decision: decision as TraceDecision, actions: listOf<EventCall>(calls).map(parseArgs) }
    }
    case 'action_results':
      return { ...step, action_results: listOf<ActionResult>(payload.results) }
    case 'state_reduced':
      return { ...step, state_diff: payload.state_diff ?? null }
    case 'outputs_ready':
      return { ...step, critic: payload.verdicts ?? null }
    default:
      return error === undefined ? step : { ...step, error }
  }
}

/** The type is that of the event's stage, whose payload is only Json to observers. */
const listOf = <T extends object>(value: Json | undefined): readonly T[] =>
  Array.isArray(value) ? (value as unknown as readonly T[]) : []

/** Parses the arguments of a call, which a model writes as JSON text. */
function parseArgs(call: EventCall): EventCall {
  const { tool, args } = call
  if (typeof args !== 'string') return call
  try {
    return { tool, args: JSON.parse(args) as Json }
  } catch {
    return call
  }
}
