/**
 * Event: what is told to whoever watches. A pure function of a run's records, in order: live, from the journal and in a replay
 * they are the same. Telling cannot fail the teller (I9).
 */

import type { Decision } from './decision.ts'
import { assertNever } from './error.ts'
import type { Json } from './json.ts'
import {
  answerPayload,
  type Choice,
  choiceOfAnswer,
  choiceOfDecision,
  chosenOf,
  diffPayload,
  endPayload,
  inputPayload,
  nextPayload,
  type Payload,
  type RecordOf,
  requestPayload,
  resultOf,
  shortened,
  startPayload,
  verdictOf,
} from './payload.ts'
import { type Cut, FAILING_PHASES, type FailingPhase, type JournalRecord } from './record.ts'
import { endingOf } from './stop.ts'

export type Phase = 'INIT' | FailingPhase | 'DECIDE_ERROR' | 'ACT_ERROR' | 'RECOVER' | 'END'

export interface Event {
  /** Counts the events of its run, from 1, without gaps. */
  readonly seq: number
  readonly run_id: string
  readonly session_id: string
  /** Counts the turns of its run, from 1; 0 before the first. */
  readonly step_id: number
  readonly phase: Phase
  readonly stage: string
  readonly ts: number
  readonly ok: boolean
  readonly payload: Payload
  readonly error?: string
}

/** Progress that is shown while it happens and kept nowhere. */
export type Delta = { readonly run_id: string; readonly session_id: string } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly tool: string; readonly args: Json }
  /** What a call has written so far, piece by piece. */
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
  /** Contract: given every record of the run once, in order. */
  of(record: JournalRecord): readonly Event[]
}

/** What is known of the turn under way, and what of it was told already. */
interface Turn {
  readonly turn: number
  /** Phases whose `start` was told. */
  readonly begun: Set<FailingPhase>
  /** What was observed, until it is told. */
  observed?: { readonly payload: Payload; readonly ts: number }
  cut?: Cut
  decision?: Decision
  choice?: Choice
  ready: boolean
  acted: boolean
  readonly intended: Map<number, string>
  readonly results: Map<number, { readonly ok: boolean; readonly told: Json }>
  failed: boolean
  /** Of critics: they are told in their phase, which is told when it is over. */
  readonly diagnoses: RecordOf<'diagnosed'>[]
}

export function eventFold(run: { readonly run_id: string; readonly session_id: string }): EventFold {
  const { run_id, session_id } = run
  let events: Event[] = []
  let seq = 0
  let step_id = 0
  let ts = 0
  let phase: Phase = 'INIT'
  let open = newTurn(Number.NaN)

  function tell(in_phase: Phase, stage: string, payload: Payload = {}, fault: { ok?: boolean; error?: string } = {}) {
    const { ok = true, error } = fault
    seq += 1
    const told = { seq, run_id, session_id, step_id, phase: in_phase, stage, ts, ok, payload }
    events.push(error === undefined ? told : { ...told, error: shortened(error) })
  }

  function begin(started: FailingPhase, payload: Payload = {}): void {
    phase = started
    if (open.begun.has(started)) return
    open.begun.add(started)
    tell(started, 'start', payload)
  }

  function enter(turn: number): void {
    if (turn === open.turn) return
    step_id += 1
    open = newTurn(turn)
  }

  /** Told with the next record: input is bound also where `observe` has failed, as the record behind it says. */
  function endObserve(next: JournalRecord): void {
    const { observed } = open
    if (!observed) return
    delete open.observed
    if (next.kind === 'failed' && next.phase === 'OBSERVE') return
    ts = observed.ts
    tell('OBSERVE', 'observation_ready', observed.payload)
    ts = next.ts
  }

  function decided(choice: Choice): void {
    begin('DECIDE')
    open.choice = choice
    open.ready = false
  }

  /** Held back until the record behind it, which may say more of it. */
  function endDecide(): void {
    if (!open.choice || open.ready) return
    open.ready = true
    tell('DECIDE', 'decision_ready', open.choice.payload)
  }

  function endAct(): void {
    endDecide()
    if (!open.choice || open.acted) return
    open.acted = true
    begin('ACT')
    if (open.choice.kind !== 'act') {
      tell('ACT', 'skipped', { reason: `the decision is ${open.choice.kind}` })
      return
    }
    const results = [...open.results].sort(([a], [b]) => a - b).map(([, result]) => result)
    tell('ACT', 'action_results', { results: results.map(({ told }) => told) }, { ok: results.every(({ ok }) => ok) })
  }

  function settled(record: RecordOf<'call_settled'>): void {
    const tool = open.intended.get(record.index) ?? open.choice?.calls[record.index]?.tool ?? record.call_id
    open.results.set(record.index, { ok: record.result.status === 'ok', told: resultOf(tool, record) })
  }

  function endReduce(patch: RecordOf<'step_committed'>['patch']): void {
    begin('REDUCE')
    tell('REDUCE', 'state_reduced', diffPayload(patch))
  }

  function beginCritic(critics: readonly string[]): void {
    begin('CRITIC', { critics })
    tellDiagnoses()
  }

  function tellDiagnoses(): void {
    for (const diagnosis of open.diagnoses.splice(0)) diagnose(diagnosis, 'CRITIC')
  }

  function diagnose({ about, message }: RecordOf<'diagnosed'>, where: Phase): void {
    tell(where, 'diagnostic', { about, message: shortened(message) }, { ok: false })
  }

  function failed({ phase: where, code, message, ruling }: RecordOf<'failed'>): void {
    const reached = FAILING_PHASES.indexOf(where)
    if (reached > FAILING_PHASES.indexOf('DECIDE')) endDecide()
    if (reached > FAILING_PHASES.indexOf('ACT')) endAct()
    if (reached > FAILING_PHASES.indexOf('REDUCE')) endReduce(undefined)
    if (where === 'CRITIC') beginCritic([])
    else begin(where)
    const fault = { ok: false, error: message }
    tell(where === 'DECIDE' || where === 'ACT' ? `${where}_ERROR` : where, 'error', { code }, fault)
    tell('RECOVER', ruling.kind, { phase: where, code, ruling: { ...ruling } }, fault)
    open.failed ||= ruling.kind !== 'retry'
    // Tried again, they begin again; of DECIDE and ACT it is only what is left of them that is.
    for (const again of ['REDUCE', 'CRITIC', 'CHECK_STOP'] as const) open.begun.delete(again)
  }

  function committed({ next, patch, verdicts }: RecordOf<'step_committed'>): void {
    if (isWhole(open)) {
      endAct()
      endReduce(patch)
      if (verdicts || open.diagnoses.length > 0) {
        beginCritic(verdicts?.map(({ critic }) => critic) ?? [])
        tell('CRITIC', 'outputs_ready', { verdicts: verdicts?.map(verdictOf) ?? [] })
      }
    }
    tellDiagnoses()
    begin('CHECK_STOP')
    tell('CHECK_STOP', next.kind === 'end' ? 'stop' : 'continue', nextPayload(next))
    // Whoever keeps the fold of a run that rests keeps nothing else of it.
    open = newTurn(open.turn)
  }

  function ended(record: RecordOf<'run_ended'>): void {
    tellDiagnoses()
    phase = 'END'
    const ok = endingOf(record.stop_reason, record.failure_class).status === 'done'
    tell('END', 'end', endPayload(record), record.error === undefined ? { ok } : { ok, error: record.error })
  }

  function take(record: JournalRecord): void {
    switch (record.kind) {
      case 'run_started':
        phase = 'INIT'
        tell('INIT', 'start', startPayload(record))
        break
      case 'input_bound':
        begin('OBSERVE')
        open.observed = { payload: inputPayload(record), ts }
        break
      case 'cut':
        open.cut = record.cut
        break
      case 'model_requested':
        begin('DECIDE')
        tell('DECIDE', 'model_input', requestPayload(record, open.cut))
        delete open.cut
        break
      case 'model_answered':
        decided(choiceOfAnswer(record.answer))
        tell('DECIDE', 'model_output', answerPayload(record))
        break
      case 'decided':
        open.decision = record.decision
        decided(choiceOfDecision(record.decision))
        break
      case 'branched':
        decided(chosenOf(open.decision, record))
        break
      case 'intent_fixed':
        tell('DECIDE', 'intent_fixed', { needs: record.needs.map((need) => ({ ...need })), usage: { ...record.usage } })
        break
      case 'call_intended':
        endDecide()
        open.intended.set(record.index, record.call.tool)
        if (open.choice?.kind === 'act') begin('ACT')
        break
      case 'call_settled':
        endDecide()
        settled(record)
        break
      case 'failed':
        failed(record)
        break
      case 'step_committed':
        committed(record)
        break
      case 'diagnosed':
        if (record.about.startsWith('critic')) open.diagnoses.push(record)
        else diagnose(record, phase)
        break
      case 'run_ended':
        ended(record)
        break
      case 'migrated':
      case 'refitted':
        break
      default:
        assertNever(record)
    }
  }

  return {
    of(record) {
      events = []
      ts = record.ts
      if ('turn' in record && record.kind !== 'diagnosed') enter(record.turn)
      endObserve(record)
      take(record)
      return events
    },
  }
}

export function eventsOf(
  run: { readonly run_id: string; readonly session_id: string },
  records: readonly JournalRecord[],
): readonly Event[] {
  const fold = eventFold(run)
  return records.flatMap((record) => fold.of(record))
}

/** Decided, every call that began is over, and nothing failed: what comes after ACT was done too. */
function isWhole({ choice, failed, intended, results }: Turn): boolean {
  return choice !== undefined && !failed && [...intended.keys()].every((index) => results.has(index))
}

function newTurn(turn: number): Turn {
  return {
    turn,
    begun: new Set(),
    ready: false,
    acted: false,
    intended: new Map(),
    results: new Map(),
    failed: false,
    diagnoses: [],
  }
}
