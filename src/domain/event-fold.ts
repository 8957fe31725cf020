/**
 * Folds the records of a run into its events. The same record may end one phase and start the next, so the fold holds
 * back what a later record can still change.
 */

import { assertNever } from './error.ts'
import type { Event, Phase } from './event.ts'
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
import { isTurnComplete, newEventTurn } from './event-turn.ts'
import { FAILING_PHASES, type FailingPhase, type JournalRecord } from './journal-record.ts'
import { dispatchEndOf } from './stop-reason.ts'

interface RunIds {
  readonly run_id: string
  readonly session_id: string
}

/** Records of a turn. */
type TurnRecord = Exclude<
  JournalRecord,
  { kind: 'run_started' | 'run_ended' | 'diagnosed' | 'migrated' | 'refitted' | 'became' }
>
/** Records of the phase DECIDE. */
type DecideRecord = Exclude<
  TurnRecord,
  { kind: 'input_bound' | 'cut' | 'call_intended' | 'call_settled' | 'failed' | 'step_committed' }
>

export interface EventFold {
  /** Contract: takes every record of the run once, in order. */
  apply(record: JournalRecord): readonly Event[]
  /** Contract: `seq` of the last event; 0 before the first. */
  lastSeq(): number
}

export const createEventFold = (run: RunIds): EventFold => new RunEventFold(run)

export function eventsFromRecords(run: RunIds, records: readonly JournalRecord[]): readonly Event[] {
  const fold = createEventFold(run)
  return records.flatMap((record) => fold.apply(record))
}

class RunEventFold implements EventFold {
  readonly #run: RunIds
  #events: Event[] = []
  #seq = 0
  #stepId = 0
  #ts = 0
  #phase: Phase = 'INIT'
  #open = newEventTurn(Number.NaN)

  constructor(run: RunIds) {
    // Copied, because other holders of the object may change it.
    this.#run = { run_id: run.run_id, session_id: run.session_id }
  }

  apply(record: JournalRecord): readonly Event[] {
    this.#events = []
    this.#ts = record.ts
    if ('turn' in record && record.kind !== 'diagnosed') this.#enterTurn(record.turn)
    this.#endObserve(record)
    this.#applyRecord(record)
    return this.#events
  }

  lastSeq(): number {
    return this.#seq
  }

  #emit(phase: Phase, stage: string, payload: Payload = {}, fault: { ok?: boolean; error?: string } = {}) {
    const { ok = true, error } = fault
    const { run_id, session_id } = this.#run
    this.#seq += 1
    const ts = this.#ts
    const event = { seq: this.#seq, run_id, session_id, step_id: this.#stepId, phase, stage, ts, ok, payload }
    this.#events.push(error === undefined ? event : { ...event, error: truncateEventText(error) })
  }

  #startPhase(next: FailingPhase, payload: Payload = {}): void {
    this.#phase = next
    if (this.#open.started.has(next)) return
    this.#open.started.add(next)
    this.#emit(next, 'start', payload)
  }

  #enterTurn(turn: number): void {
    if (turn === this.#open.turn) return
    this.#stepId += 1
    this.#open = newEventTurn(turn)
  }

  /**
   * Called with the next record, because it may say that `observe` itself failed; then `observation_ready` is not
   * emitted.
   */
  #endObserve(next: JournalRecord): void {
    const { observed } = this.#open
    if (!observed) return
    // Set to undefined, not deleted: V8 is slow with objects that lose a key.
    this.#open.observed = undefined
    if (next.kind === 'failed' && next.phase === 'OBSERVE') return
    this.#ts = observed.ts
    this.#emit('OBSERVE', 'observation_ready', observed.payload)
    this.#ts = next.ts
  }

  #setDecision(choice: EventDecision): void {
    this.#startPhase('DECIDE')
    this.#open.choice = choice
    this.#open.isDecisionEmitted = false
  }

  /** Emits the decision. Called only with a later record, because a `branched` record may replace the decision. */
  #endDecide(): void {
    if (!this.#open.choice || this.#open.isDecisionEmitted) return
    this.#open.isDecisionEmitted = true
    this.#emit('DECIDE', 'decision_ready', this.#open.choice.payload)
  }

  #endAct(): void {
    this.#endDecide()
    if (!this.#open.choice || this.#open.isActEmitted) return
    this.#open.isActEmitted = true
    this.#startPhase('ACT')
    if (this.#open.choice.kind !== 'act') {
      this.#emit('ACT', 'skipped', { reason: `the decision is ${this.#open.choice.kind}` })
      return
    }
    const results = [...this.#open.results].sort(([a], [b]) => a - b).map(([, result]) => result)
    this.#emit(
      'ACT',
      'action_results',
      { results: results.map(({ payload }) => payload) },
      { ok: results.every(({ ok }) => ok) },
    )
  }

  #addResult(record: RecordOf<'call_settled'>): void {
    const tool = this.#open.intended.get(record.index) ?? this.#open.choice?.calls[record.index]?.tool ?? record.call_id
    this.#open.results.set(record.index, {
      ok: record.result.status === 'ok',
      payload: callResultPayload(tool, record),
    })
  }

  #endReduce(patch: RecordOf<'step_committed'>['patch']): void {
    this.#startPhase('REDUCE')
    this.#emit('REDUCE', 'state_reduced', diffPayload(patch))
  }

  #beginCritic(critics: readonly string[]): void {
    this.#startPhase('CRITIC', { critics })
    this.#emitDiagnoses()
  }

  #emitDiagnoses(): void {
    for (const diagnosis of this.#open.diagnoses.splice(0)) this.#emitDiagnosis(diagnosis, 'CRITIC')
  }

  #emitDiagnosis({ about, message }: RecordOf<'diagnosed'>, where: Phase): void {
    this.#emit(where, 'diagnostic', { about, message: truncateEventText(message) }, { ok: false })
  }

  #recordFailure({ phase: where, code, message, ruling, rule }: RecordOf<'failed'>): void {
    const reached = FAILING_PHASES.indexOf(where)
    if (reached > FAILING_PHASES.indexOf('DECIDE')) this.#endDecide()
    if (reached > FAILING_PHASES.indexOf('ACT')) this.#endAct()
    if (reached > FAILING_PHASES.indexOf('REDUCE')) this.#endReduce(undefined)
    if (where === 'CRITIC') this.#beginCritic([])
    else this.#startPhase(where)
    const fault = { ok: false, error: message }
    this.#emit(where === 'DECIDE' || where === 'ACT' ? `${where}_ERROR` : where, 'error', { code }, fault)
    const by = rule === undefined ? {} : { rule }
    this.#emit('RECOVER', ruling.kind, { phase: where, code, ruling: { ...ruling }, ...by }, fault)
    this.#open.failed ||= ruling.kind !== 'retry'
    // A retry starts these phases again; DECIDE and ACT continue where they stopped.
    for (const again of ['REDUCE', 'CRITIC', 'CHECK_STOP'] as const) this.#open.started.delete(again)
  }

  #commitStep({ next, patch, verdicts }: RecordOf<'step_committed'>): void {
    if (isTurnComplete(this.#open)) {
      this.#endAct()
      this.#endReduce(patch)
      if (verdicts || this.#open.diagnoses.length > 0) {
        this.#beginCritic(verdicts?.map(({ critic }) => critic) ?? [])
        this.#emit('CRITIC', 'outputs_ready', { verdicts: verdicts?.map(verdictPayload) ?? [] })
      }
    }
    this.#emitDiagnoses()
    this.#startPhase('CHECK_STOP')
    this.#emit('CHECK_STOP', next.kind === 'end' ? 'stop' : 'continue', nextPayload(next))
    // Frees the memory of the turn: the fold of a parked run may be kept for a long time.
    this.#open = newEventTurn(this.#open.turn)
  }

  #endRun(record: RecordOf<'run_ended'>): void {
    this.#emitDiagnoses()
    this.#phase = 'END'
    const ok = dispatchEndOf(record.stop_reason, record.failure_class).status === 'done'
    this.#emit('END', 'end', endPayload(record), record.error === undefined ? { ok } : { ok, error: record.error })
  }

  #applyRecord(record: JournalRecord): void {
    switch (record.kind) {
      case 'run_started':
        this.#phase = 'INIT'
        this.#emit('INIT', 'start', startPayload(record))
        break
      case 'diagnosed':
        if (record.about.startsWith('critic')) this.#open.diagnoses.push(record)
        else this.#emitDiagnosis(record, this.#phase)
        break
      case 'run_ended':
        this.#endRun(record)
        break
      case 'migrated':
      case 'refitted':
      case 'became':
        break
      default:
        this.#applyTurnRecord(record)
    }
  }

  #applyTurnRecord(record: TurnRecord): void {
    switch (record.kind) {
      case 'input_bound':
        this.#startPhase('OBSERVE')
        this.#open.observed = { payload: inputPayload(record), ts: this.#ts }
        break
      case 'cut':
        this.#open.cut = record.cut
        break
      case 'call_intended':
        this.#endDecide()
        this.#open.intended.set(record.index, record.call.tool)
        if (this.#open.choice?.kind === 'act') this.#startPhase('ACT')
        break
      case 'call_settled':
        this.#endDecide()
        this.#addResult(record)
        break
      case 'failed':
        this.#recordFailure(record)
        break
      case 'step_committed':
        this.#commitStep(record)
        break
      default:
        this.#applyDecideRecord(record)
    }
  }

  #applyDecideRecord(record: DecideRecord): void {
    switch (record.kind) {
      case 'model_requested':
        this.#startPhase('DECIDE')
        this.#emit('DECIDE', 'model_input', requestPayload(record, this.#open.cut))
        this.#open.cut = undefined
        break
      case 'model_answered':
        this.#setDecision(decisionFromAnswer(record.answer))
        this.#emit('DECIDE', 'model_output', answerPayload(record))
        break
      case 'decided':
        this.#open.decision = record.decision
        this.#setDecision(decisionForEvent(record.decision))
        break
      case 'branched':
        this.#setDecision(decisionFromBranch(this.#open.decision, record))
        break
      case 'intent_fixed': {
        const needs = record.needs.map((need) => ({ ...need }))
        this.#emit('DECIDE', 'intent_fixed', { needs, usage: { ...record.usage } })
        break
      }
      default:
        assertNever(record)
    }
  }
}
