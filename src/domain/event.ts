/**
 * Event: what observers of a run see. Events are computed from the run's records alone, so they are the same live, from
 * the journal and in a replay. A failing observer cannot fail the run (I9).
 */

import type { Decision } from './decision.ts'
import { assertNever } from './error.ts'
import {
  answerPayload,
  callResultPayload,
  decisionForEvent,
  decisionFromAnswer,
  decisionFromBranch,
  diffPayload,
  type EventDecision,
  endPayload,
  inputPayload,
  nextPayload,
  type Payload,
  type RecordOf,
  requestPayload,
  startPayload,
  truncateEventText,
  verdictPayload,
} from './event-payload.ts'
import { FAILING_PHASES, type FailingPhase, type HistoryCut, type JournalRecord } from './journal-record.ts'
import type { Json } from './json.ts'
import { dispatchEndOf } from './stop-reason.ts'

export type Phase = 'INIT' | FailingPhase | 'DECIDE_ERROR' | 'ACT_ERROR' | 'RECOVER' | 'END'

export interface Event {
  /** Counted from 1 in each run, without gaps. */
  readonly seq: number
  readonly run_id: string
  readonly session_id: string
  /** The turn within the run, counted from 1; 0 before the first turn. */
  readonly step_id: number
  readonly phase: Phase
  readonly stage: string
  readonly ts: number
  readonly ok: boolean
  readonly payload: Payload
  readonly error?: string
}

/** Progress that is shown live and not stored. */
export type Delta = { readonly run_id: string; readonly session_id: string } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly tool: string; readonly args: Json }
  /** Output of a running call, piece by piece. */
  | { readonly kind: 'output'; readonly index: number; readonly tool: string; readonly text: string }
  | {
      readonly kind: 'result'
      readonly index: number
      readonly tool: string
      readonly status: string
      readonly content: string
    }
)

export interface EventFold {
  /** Contract: takes every record of the run once, in order. */
  apply(record: JournalRecord): readonly Event[]
}

/** The turn in progress, and which of its events were already emitted. */
interface OpenTurn {
  readonly turn: number
  /** Phases whose `start` was emitted. */
  readonly started: Set<FailingPhase>
  /** The observation whose event is not emitted yet. */
  observed?: { readonly payload: Payload; readonly ts: number } | undefined
  cut?: HistoryCut | undefined
  decision?: Decision
  choice?: EventDecision
  isDecisionEmitted: boolean
  isActEmitted: boolean
  readonly intended: Map<number, string>
  readonly results: Map<number, { readonly ok: boolean; readonly payload: Json }>
  failed: boolean
  /** Diagnoses of critics, held back until the CRITIC phase has started. */
  readonly diagnoses: RecordOf<'diagnosed'>[]
}

export function createEventFold(run: { readonly run_id: string; readonly session_id: string }): EventFold {
  const { run_id, session_id } = run
  let events: Event[] = []
  let seq = 0
  let step_id = 0
  let ts = 0
  let phase: Phase = 'INIT'
  let open = newTurn(Number.NaN)

  function emit(in_phase: Phase, stage: string, payload: Payload = {}, fault: { ok?: boolean; error?: string } = {}) {
    const { ok = true, error } = fault
    seq += 1
    const event = { seq, run_id, session_id, step_id, phase: in_phase, stage, ts, ok, payload }
    events.push(error === undefined ? event : { ...event, error: truncateEventText(error) })
  }

  function startPhase(next: FailingPhase, payload: Payload = {}): void {
    phase = next
    if (open.started.has(next)) return
    open.started.add(next)
    emit(next, 'start', payload)
  }

  function enterTurn(turn: number): void {
    if (turn === open.turn) return
    step_id += 1
    open = newTurn(turn)
  }

  /**
   * Called with the next record, because it may say that `observe` itself failed; then `observation_ready` is not
   * emitted.
   */
  function endObserve(next: JournalRecord): void {
    const { observed } = open
    if (!observed) return
    // Set to undefined, not deleted: V8 is slow with objects that lose a key.
    open.observed = undefined
    if (next.kind === 'failed' && next.phase === 'OBSERVE') return
    ts = observed.ts
    emit('OBSERVE', 'observation_ready', observed.payload)
    ts = next.ts
  }

  function setDecision(choice: EventDecision): void {
    startPhase('DECIDE')
    open.choice = choice
    open.isDecisionEmitted = false
  }

  /** Emits the decision. Called only with a later record, because a `branched` record may replace the decision. */
  function endDecide(): void {
    if (!open.choice || open.isDecisionEmitted) return
    open.isDecisionEmitted = true
    emit('DECIDE', 'decision_ready', open.choice.payload)
  }

  function endAct(): void {
    endDecide()
    if (!open.choice || open.isActEmitted) return
    open.isActEmitted = true
    startPhase('ACT')
    if (open.choice.kind !== 'act') {
      emit('ACT', 'skipped', { reason: `the decision is ${open.choice.kind}` })
      return
    }
    const results = [...open.results].sort(([a], [b]) => a - b).map(([, result]) => result)
    emit(
      'ACT',
      'action_results',
      { results: results.map(({ payload }) => payload) },
      { ok: results.every(({ ok }) => ok) },
    )
  }

  function addResult(record: RecordOf<'call_settled'>): void {
    const tool = open.intended.get(record.index) ?? open.choice?.calls[record.index]?.tool ?? record.call_id
    open.results.set(record.index, { ok: record.result.status === 'ok', payload: callResultPayload(tool, record) })
  }

  function endReduce(patch: RecordOf<'step_committed'>['patch']): void {
    startPhase('REDUCE')
    emit('REDUCE', 'state_reduced', diffPayload(patch))
  }

  function beginCritic(critics: readonly string[]): void {
    startPhase('CRITIC', { critics })
    emitDiagnoses()
  }

  function emitDiagnoses(): void {
    for (const diagnosis of open.diagnoses.splice(0)) emitDiagnosis(diagnosis, 'CRITIC')
  }

  function emitDiagnosis({ about, message }: RecordOf<'diagnosed'>, where: Phase): void {
    emit(where, 'diagnostic', { about, message: truncateEventText(message) }, { ok: false })
  }

  function recordFailure({ phase: where, code, message, ruling }: RecordOf<'failed'>): void {
    const reached = FAILING_PHASES.indexOf(where)
    if (reached > FAILING_PHASES.indexOf('DECIDE')) endDecide()
    if (reached > FAILING_PHASES.indexOf('ACT')) endAct()
    if (reached > FAILING_PHASES.indexOf('REDUCE')) endReduce(undefined)
    if (where === 'CRITIC') beginCritic([])
    else startPhase(where)
    const fault = { ok: false, error: message }
    emit(where === 'DECIDE' || where === 'ACT' ? `${where}_ERROR` : where, 'error', { code }, fault)
    emit('RECOVER', ruling.kind, { phase: where, code, ruling: { ...ruling } }, fault)
    open.failed ||= ruling.kind !== 'retry'
    // A retry starts these phases again; DECIDE and ACT continue where they stopped.
    for (const again of ['REDUCE', 'CRITIC', 'CHECK_STOP'] as const) open.started.delete(again)
  }

  function commitStep({ next, patch, verdicts }: RecordOf<'step_committed'>): void {
    if (isComplete(open)) {
      endAct()
      endReduce(patch)
      if (verdicts || open.diagnoses.length > 0) {
        beginCritic(verdicts?.map(({ critic }) => critic) ?? [])
        emit('CRITIC', 'outputs_ready', { verdicts: verdicts?.map(verdictPayload) ?? [] })
      }
    }
    emitDiagnoses()
    startPhase('CHECK_STOP')
    emit('CHECK_STOP', next.kind === 'end' ? 'stop' : 'continue', nextPayload(next))
    // Frees the memory of the turn: the fold of a parked run may be kept for a long time.
    open = newTurn(open.turn)
  }

  function endRun(record: RecordOf<'run_ended'>): void {
    emitDiagnoses()
    phase = 'END'
    const ok = dispatchEndOf(record.stop_reason, record.failure_class).status === 'done'
    emit('END', 'end', endPayload(record), record.error === undefined ? { ok } : { ok, error: record.error })
  }

  function applyRecord(record: JournalRecord): void {
    switch (record.kind) {
      case 'run_started':
        phase = 'INIT'
        emit('INIT', 'start', startPayload(record))
        break
      case 'input_bound':
        startPhase('OBSERVE')
        open.observed = { payload: inputPayload(record), ts }
        break
      case 'cut':
        open.cut = record.cut
        break
      case 'model_requested':
        startPhase('DECIDE')
        emit('DECIDE', 'model_input', requestPayload(record, open.cut))
        open.cut = undefined
        break
      case 'model_answered':
        setDecision(decisionFromAnswer(record.answer))
        emit('DECIDE', 'model_output', answerPayload(record))
        break
      case 'decided':
        open.decision = record.decision
        setDecision(decisionForEvent(record.decision))
        break
      case 'branched':
        setDecision(decisionFromBranch(open.decision, record))
        break
      case 'intent_fixed':
        emit('DECIDE', 'intent_fixed', { needs: record.needs.map((need) => ({ ...need })), usage: { ...record.usage } })
        break
      case 'call_intended':
        endDecide()
        open.intended.set(record.index, record.call.tool)
        if (open.choice?.kind === 'act') startPhase('ACT')
        break
      case 'call_settled':
        endDecide()
        addResult(record)
        break
      case 'failed':
        recordFailure(record)
        break
      case 'step_committed':
        commitStep(record)
        break
      case 'diagnosed':
        if (record.about.startsWith('critic')) open.diagnoses.push(record)
        else emitDiagnosis(record, phase)
        break
      case 'run_ended':
        endRun(record)
        break
      case 'migrated':
      case 'refitted':
        break
      default:
        assertNever(record)
    }
  }

  return {
    apply(record) {
      events = []
      ts = record.ts
      if ('turn' in record && record.kind !== 'diagnosed') enterTurn(record.turn)
      endObserve(record)
      applyRecord(record)
      return events
    },
  }
}

export function eventsFromRecords(
  run: { readonly run_id: string; readonly session_id: string },
  records: readonly JournalRecord[],
): readonly Event[] {
  const fold = createEventFold(run)
  return records.flatMap((record) => fold.apply(record))
}

/** True if the turn has a decision, no failure, and no call without a result: then REDUCE and CRITIC ran, too. */
function isComplete({ choice, failed, intended, results }: OpenTurn): boolean {
  return choice !== undefined && !failed && [...intended.keys()].every((index) => results.has(index))
}

function newTurn(turn: number): OpenTurn {
  return {
    turn,
    started: new Set(),
    isDecisionEmitted: false,
    isActEmitted: false,
    intended: new Map(),
    results: new Map(),
    failed: false,
    diagnoses: [],
  }
}
