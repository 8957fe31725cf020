/** What a run did and does, folded from its events and deltas. Pure: no clock, no network, no document. */

import type { Delta, Event, Phase } from '../../src/domain/event.ts'

/** A phase of a step, from its beginning to the beginning of the next one; null while it lasts. */
export interface Span {
  readonly phase: Phase
  readonly from: number
  to: number | null
}

export interface ShownCall {
  readonly tool: string
  readonly args: unknown
  status: string | null
  content: string
}

export interface ShownStep {
  readonly id: number
  readonly from: number
  readonly spans: Span[]
  calls: ShownCall[]
  /** What the model says, while it says it. */
  text: string
  /** What was decided: act, final, wait … */
  decision: string | null
  fault: string | null
}

export interface ShownRun {
  readonly id: string
  agent: string
  task: string
  model: string | null
  from: number
  /** When it ended, or was put down. */
  to: number | null
  state: 'running' | 'parked' | 'done' | 'failed'
  readonly steps: ShownStep[]
  /** The last event that was heard. */
  seq: number
  answer: string
  reason: string
  /** An event is missing: what is shown has to be fetched anew. */
  gap: boolean
}

const MOST_TEXT = 6000

export function newRun(id: string, agent = '', task = ''): ShownRun {
  return {
    ...{ id, agent, task, model: null, from: 0, to: null, state: 'running', steps: [] },
    ...{ seq: 0, answer: '', reason: '', gap: false },
  }
}

/** Contract: an event that was heard already changes nothing; one too early marks the gap. */
export function hear(run: ShownRun, event: Event): void {
  if (event.seq <= run.seq) return
  if (event.seq > run.seq + 1) run.gap = true
  run.seq = event.seq
  if (run.from === 0) run.from = event.ts
  const step = event.step_id > 0 ? stepOf(run, event) : undefined
  if (run.state === 'parked' || run.to !== null) {
    run.state = 'running'
    run.to = null
  }
  if (step) enter(step, event)
  TAKE[`${event.phase} ${event.stage}`]?.(run, event, step)
  if (event.error !== undefined && step) step.fault = event.error
}

function stepOf(run: ShownRun, { step_id, ts }: Event): ShownStep {
  const last = run.steps.at(-1)
  if (last?.id === step_id) return last
  if (last) close(last, ts)
  const made = { id: step_id, from: ts, spans: [], calls: [], text: '', decision: null, fault: null }
  run.steps.push(made)
  return made
}

/** A phase lasts until the next one; whatever is no phase of a step belongs to the one it happened in. */
function enter(step: ShownStep, { phase, stage, ts }: Event): void {
  const last = step.spans.at(-1)
  if (stage !== 'start' || last?.phase === phase) return
  if (last) last.to = ts
  step.spans.push({ phase, from: ts, to: null })
}

function close(step: ShownStep, at: number): void {
  const last = step.spans.at(-1)
  if (last) last.to ??= at
}

type Taking = (run: ShownRun, event: Event, step: ShownStep | undefined) => void

const TAKE: Readonly<Record<string, Taking>> = {
  'INIT start'(run, { payload, ts }) {
    run.from = ts
    run.agent = word(payload.agent_id) || run.agent
    run.task = word(payload.title) || run.task
    run.model = word((payload.setup as Fields | undefined)?.model) || null
  },
  'DECIDE model_input'(run, { payload }) {
    run.model = word(payload.model) || run.model
  },
  'DECIDE model_output'(_, { payload }, step) {
    if (step && step.text.length < word(payload.text).length) step.text = word(payload.text)
  },
  'DECIDE decision_ready'(_, { payload }, step) {
    if (!step) return
    step.decision = word(payload.kind)
    const calls = (payload.calls ?? []) as unknown as readonly { tool: string; args: unknown }[]
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
    run.reason = word(payload.parked)
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
    run.answer = word(payload.answer)
    run.reason = error ?? word(payload.stop_reason)
  },
}

type Fields = Readonly<Record<string, unknown>>

const word = (value: unknown): string => (typeof value === 'string' ? value : '')

function settle(step: ShownStep | undefined, index: number, status: string, content: string): void {
  const call = step?.calls[index]
  if (!call) return
  call.status = status
  call.content = content
}

/** What is under way, shown before it is on record. */
export function hearDelta(run: ShownRun, delta: Delta): void {
  const step = run.steps.at(-1)
  if (!step) return
  if (delta.kind === 'text') step.text = `${step.text}${delta.text}`.slice(-MOST_TEXT)
  else if (delta.kind === 'call')
    step.calls[delta.index] ??= { tool: delta.tool, args: delta.args, status: null, content: '' }
  else if (delta.kind === 'output') {
    const call = step.calls[delta.index]
    if (call?.status === null) call.content = `${call.content}${delta.text}`.slice(-MOST_TEXT)
  } else settle(step, delta.index, delta.status, delta.content)
}
