/** Compares two runs of one task: the first divergence between them, and the result of each. */

import type { CallResult, Decision } from '../domain/decision.ts'
import { TirelessError } from '../domain/error.ts'
import type { Phase } from '../domain/event.ts'
import {
  decisionForEvent,
  decisionFromAnswer,
  type EventCall,
  type RecordOf,
  truncateEventText,
} from '../domain/event-payload.ts'
import type { JournalRecord, ModelAnswer, RunSetup } from '../domain/journal-record.ts'
import type { Json } from '../domain/json.ts'
import { addRecordToManifest, newManifest, type TraceManifest } from './manifest.ts'

interface Divergence {
  readonly step: number
  readonly phase: Phase
  /** The action of each run at this point; null if the run had none. */
  readonly a: Json
  readonly b: Json
}

interface ComparedRun {
  readonly run_id: string
  readonly steps: number
  readonly cost_usd: number | null
  readonly stop_reason: string | null
  readonly answer: string | null
  readonly setup: RunSetup | null
}

interface Comparison {
  readonly first_divergence: Divergence | null
  readonly a: ComparedRun
  readonly b: ComparedRun
}

/** Contract: throws `conflict` for runs of different tasks and for runs that have not ended. */
export function compareRuns(a: readonly JournalRecord[], b: readonly JournalRecord[]): Comparison {
  const [one, other] = [manifestOf(a), manifestOf(b)]
  checkComparable(one, other)
  const actions = [actionsOf(a), actionsOf(b)] as const
  return {
    first_divergence: firstDivergence(...actions),
    a: sideFrom(one, actions[0]),
    b: sideFrom(other, actions[1]),
  }
}

function manifestOf(records: readonly JournalRecord[]): TraceManifest {
  const start = records.find((record) => record.kind === 'run_started')
  const run = { run_id: start?.run_id ?? '', session_id: '' }
  return records.reduce(addRecordToManifest, newManifest(run))
}

function checkComparable(a: TraceManifest, b: TraceManifest): void {
  const open = [a, b].find(({ status }) => status === 'running')
  if (open)
    throw new TirelessError('conflict', {
      what: `run ${open.run_id} has not ended`,
      fix: 'wait until it has ended; `tireless trace list` shows its status',
    })
  if (a.task !== b.task)
    throw new TirelessError('conflict', {
      what: 'the runs had different tasks',
      got: [a, b].map(({ task }) => JSON.stringify(truncateEventText(task ?? '', 100))).join(' and '),
      expected: 'two runs of the same task, with different settings',
    })
}

/** An action of a run in one phase of one step; not truncated, so that it can be compared. */
interface Action {
  readonly step: number
  readonly phase: Phase
  readonly value: Json
}

function actionsOf(records: readonly JournalRecord[]): readonly Action[] {
  const actions: Action[] = []
  let step = 0
  let results = new Map<number, CallResult>()
  let decided: Decision | undefined
  for (const record of records)
    switch (record.kind) {
      case 'input_bound':
        step += 1
        results = new Map()
        break
      case 'model_answered':
        actions.push({ step, phase: 'DECIDE', value: answerAction(record.answer) })
        break
      case 'decided':
        decided = record.decision
        if (decided.kind !== 'branch') actions.push({ step, phase: 'DECIDE', value: decisionAction(decided) })
        break
      case 'branched':
        actions.push({ step, phase: 'DECIDE', value: branchAction(decided, record) })
        break
      case 'failed':
        actions.push({ step, phase: record.phase, value: { failed: record.code, ruling: record.ruling.kind } })
        break
      case 'call_settled':
        results.set(record.index, record.result)
        break
      case 'step_committed':
        if (results.size > 0) actions.push({ step, phase: 'ACT', value: resultValues(results) })
        actions.push({ step, phase: 'CHECK_STOP', value: nextValue(record.next) })
        break
      case 'run_ended':
        actions.push({ step, phase: 'END', value: { stop_reason: record.stop_reason, answer: record.answer ?? null } })
        break
      default:
        break
    }
  return actions
}

function answerAction(answer: ModelAnswer): Json {
  const { kind, calls } = decisionFromAnswer(answer)
  return kind === 'final' && calls.length === 0
    ? { kind, answer: answer.said ?? answer.text }
    : { kind, calls: calls.map(normaliseCall) }
}

function decisionAction(decision: Decision): Json {
  const { kind, calls } = decisionForEvent(decision)
  return decision.kind === 'final' ? { kind, answer: decision.answer } : { kind, calls: calls.map(normaliseCall) }
}

function branchAction(decision: Decision | undefined, { candidates, chosen }: RecordOf<'branched'>): Json {
  const all = candidates ?? (decision?.kind === 'branch' ? decision.candidates : [])
  const taken = chosen === null ? undefined : all[chosen]
  return taken ? decisionAction(taken) : { kind: 'branch', chosen }
}

/** Calls are equal whatever the JSON formatting and key order of their arguments. */
function normaliseCall({ tool, args }: EventCall): Json {
  if (typeof args !== 'string') return { tool, args: sortKeys(args) }
  try {
    return { tool, args: sortKeys(JSON.parse(args) as Json) }
  } catch {
    return { tool, args }
  }
}

const resultValues = (results: ReadonlyMap<number, CallResult>): Json =>
  [...results].sort(([a], [b]) => a - b).map(([, { status, content }]) => ({ status, content }))

const nextValue = (next: RecordOf<'step_committed'>['next']): Json =>
  next.kind === 'end' ? { stop_reason: next.stop_reason } : { next: next.kind }

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  )
}

function firstDivergence(a: readonly Action[], b: readonly Action[]): Divergence | null {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [one, other] = [a[i], b[i]]
    if (one && other && JSON.stringify(one) === JSON.stringify(other)) continue
    const at = earlierAction(one, other)
    if (!at) return null
    const [left, right] = [one, other].map((action) => (action && isSamePoint(action, at) ? action.value : null))
    return { step: at.step, phase: at.phase, ...showDifference(left ?? null, right ?? null) }
  }
  return null
}

const MAX_SHOWN = 1000
const CONTEXT_BEFORE = 100

const PHASE_ORDER = ['OBSERVE', 'DECIDE', 'ACT', 'REDUCE', 'CRITIC', 'CHECK_STOP', 'END']
const isSamePoint = (action: Action, at: Action): boolean => action.step === at.step && action.phase === at.phase

function earlierAction(a: Action | undefined, b: Action | undefined): Action | undefined {
  if (!a || !b) return a ?? b
  if (a.step !== b.step) return a.step < b.step ? a : b
  return PHASE_ORDER.indexOf(a.phase) <= PHASE_ORDER.indexOf(b.phase) ? a : b
}

/** Shows long values only around their first difference. */
function showDifference(a: Json, b: Json): { readonly a: Json; readonly b: Json } {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)]
  let at = 0
  while (at < left.length && left[at] === right[at]) at += 1
  const from = Math.max(0, at - CONTEXT_BEFORE)
  const excerpt = (value: Json, text: string): Json =>
    text.length <= MAX_SHOWN ? value : `${from > 0 ? '…' : ''}${truncateEventText(text.slice(from), MAX_SHOWN)}`
  return { a: excerpt(a, left), b: excerpt(b, right) }
}

const sideFrom = (manifest: TraceManifest, actions: readonly Action[]): ComparedRun => ({
  run_id: manifest.run_id,
  steps: actions.at(-1)?.step ?? 0,
  cost_usd: manifest.cost_usd,
  stop_reason: manifest.stop_reason,
  answer: manifest.final_answer,
  setup: manifest.setup,
})
