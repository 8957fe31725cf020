/** State of a run, folded from its events and deltas. Pure: no clock, no network, no DOM. */

import type { Event, LiveDelta, Phase } from '../../src/domain/event.ts'

/** A phase of a step. `to`: start of the next phase; null while it lasts. */
export interface Span {
  readonly phase: Phase
  readonly from: number
  to: number | null
}

export interface CallView {
  readonly tool: string
  readonly args: unknown
  status: string | null
  content: string
}

export interface StepView {
  readonly id: number
  readonly from: number
  readonly spans: Span[]
  calls: CallView[]
  /** Number of calls that were decided on; calls after them came too early and belong to the next step. */
  decided: number
  /** The model's text, while it streams. */
  text: string
  /** Kind of the decision: act, final, wait … */
  decision: string | null
  fault: string | null
}

export interface RunView {
  readonly id: string
  agent: string
  task: string
  /** A look of a resident, and what it saw. */
  isLook: boolean
  saw: string
  model: string | null
  from: number
  /** When it ended or was parked. */
  to: number | null
  state: 'running' | 'parked' | 'done' | 'failed'
  readonly steps: StepView[]
  /** Number of the last event applied. */
  seq: number
  answer: string
  reason: string
  /** An event is missing, so the run must be fetched again. */
  gap: boolean
}

const MAX_TEXT = 6000

export function newRun(id: string, agent = '', task = ''): RunView {
  return {
    ...{ id, agent, task, isLook: false, saw: '', model: null, from: 0, to: null, state: 'running', steps: [] },
    ...{ seq: 0, answer: '', reason: '', gap: false },
  }
}

/** Contract: ignores an event that was applied before; a missing event sets `gap`. */
export function applyEvent(run: RunView, event: Event): void {
  if (event.seq <= run.seq) return
  if (event.seq > run.seq + 1) run.gap = true
  run.seq = event.seq
  if (run.from === 0) run.from = event.ts
  const step = event.step_id > 0 ? stepOf(run, event) : undefined
  if (run.state === 'parked' || run.to !== null) {
    run.state = 'running'
    run.to = null
  }
  if (step) enterPhase(step, event)
  HANDLERS[`${event.phase} ${event.stage}`]?.(run, event, step)
  if (event.error !== undefined && step) step.fault = event.error
}

function stepOf(run: RunView, { step_id, ts }: Event): StepView {
  const last = run.steps.at(-1)
  if (last?.id === step_id) return last
  if (last) close(last, ts)
  const step = { id: step_id, from: ts, spans: [], calls: [], decided: 0, text: '', decision: null, fault: null }
  run.steps.push(step)
  return step
}

/** A phase lasts until the next one starts; other events do not change it. */
function enterPhase(step: StepView, { phase, stage, ts }: Event): void {
  const last = step.spans.at(-1)
  if (stage !== 'start' || last?.phase === phase) return
  if (last) last.to = ts
  step.spans.push({ phase, from: ts, to: null })
}

/** Progress arrives before the events of its step, so that its calls may have been taken for calls of this one. */
function close(step: StepView, at: number): void {
  const last = step.spans.at(-1)
  if (last) last.to ??= at
  step.calls.splice(step.decided)
  for (const call of step.calls) call.status ??= 'no_result'
}

type Handler = (run: RunView, event: Event, step: StepView | undefined) => void

const HANDLERS: Readonly<Record<string, Handler>> = {
  'INIT start'(run, { payload, ts }) {
    run.from = ts
    run.agent = text(payload.agent_id) || run.agent
    run.task = text(payload.title) || run.task
    run.isLook = isLook(payload.behaviour)
    run.model = text((payload.setup as Fields | undefined)?.model) || null
  },
  'OBSERVE observation_ready'(run, { payload }) {
    run.saw ||= describeInput(payload.input)
  },
  'DECIDE model_input'(run, { payload }, step) {
    run.model = text(payload.model) || run.model
    // A process that died may have streamed a part.
    if (step) step.text = ''
  },
  'DECIDE model_output'(_, { payload }, step) {
    if (step && step.text.length < text(payload.text).length) step.text = text(payload.text)
  },
  'DECIDE decision_ready'(_, { payload }, step) {
    if (!step) return
    step.decision = text(payload.kind)
    const calls = (payload.calls ?? []) as unknown as readonly { tool: string; args: unknown }[]
    step.decided = calls.length
    step.calls = calls.map(({ tool, args }, i) => step.calls[i] ?? { tool, args, status: null, content: '' })
  },
  'ACT action_results'(_, { payload }, step) {
    const results = (payload.results ?? []) as unknown as readonly { status: string; content: string }[]
    for (const [i, { status, content }] of results.entries()) settle(step, i, status, content)
  },
  'CHECK_STOP continue'(run, { payload, ts }, step) {
    if (step) close(step, ts)
    if (payload.parked === undefined) return
    run.state = 'parked'
    run.reason = text(payload.parked)
    run.to = ts
  },
  'RECOVER retry'(run, { error, ts }, step) {
    if (step) {
      close(step, ts)
      step.text = ''
    }
    run.reason = error ?? ''
  },
  'END end'(run, { payload, ok, error, ts }, step) {
    const last = step ?? run.steps.at(-1)
    if (last) close(last, ts)
    run.state = ok ? 'done' : 'failed'
    run.to = ts
    run.answer = text(payload.answer)
    run.reason = error ?? text(payload.stop_reason)
  },
}

type Fields = Readonly<Record<string, unknown>>

/** Contract: whether this is the behaviour of residents. */
export const isLook = (behaviour: unknown): boolean => behaviour === 'resident'

function describeInput(input: unknown): string {
  const observations = (input ?? []) as readonly { text?: string; name?: string; payload?: unknown }[]
  return observations
    .map(({ text: said, name = '', payload }) =>
      said === undefined ? `${name} ${payload === undefined ? '' : JSON.stringify(payload)}`.trim() : `“${said}”`,
    )
    .join(' · ')
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

function settle(step: StepView | undefined, index: number, status: string, content: string): void {
  const call = step?.calls[index]
  if (!call) return
  call.status = status
  call.content = content
}

/**
 * Applies progress of a step that is not recorded yet. Contract: ignores a delta that did not follow the run's last
 * event: it belongs to an earlier step, or to one that is not known yet.
 */
export function applyDelta(run: RunView, delta: LiveDelta): void {
  const step = run.steps.at(-1)
  if (!step || delta.seq !== run.seq) return
  if (delta.kind === 'text') step.text = `${step.text}${delta.text}`.slice(-MAX_TEXT)
  else if (delta.kind === 'call')
    step.calls[delta.index] ??= { tool: delta.tool, args: delta.args, status: null, content: '' }
  else if (delta.kind === 'output') {
    const call = step.calls[delta.index]
    if (call?.status === null) call.content = `${call.content}${delta.text}`.slice(-MAX_TEXT)
  } else settle(step, delta.index, delta.status, delta.content)
}
