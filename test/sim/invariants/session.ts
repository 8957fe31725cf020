/** The state of a session, read from the journal on disk without the engine's fold, so that the two can disagree. */

import type { CallResult, Decision, Next } from '../../../src/domain/decision.ts'
import type { Effect } from '../../../src/domain/effect.ts'
import type { ModelAnswer } from '../../../src/domain/journal-record.ts'
import { CLEAN_LABEL, type Label } from '../../../src/domain/label.ts'
import type { Observation } from '../../../src/domain/observation.ts'

export interface CallState {
  readonly key: string
  readonly turn: number
  readonly tool: string
  readonly args: string
  readonly effect: Effect
  /** The label of its session when the call was intended. */
  readonly label: Label
  /** Number of intents on disk. */
  attempts: number
  /** The process that wrote the last intent. */
  intendedBy: number
  settled?: CallResult
  /** Its turn has ended. */
  closed: boolean
}

export interface TurnState {
  readonly turn: number
  readonly input: readonly Observation[]
  /** Whether the turn has a reason: input, a previous step that said `continue`, or another attempt. */
  readonly hasCause: boolean
  requests: number
  failures: number
  /** Whether a phase of it failed. */
  failed: boolean
  /** The text that the behaviour wrote for the first request, and the digest of the last request. */
  prepared?: string
  digest?: string
  /** Whether a request is on disk without an answer or a failure. */
  awaitsAnswer: boolean
  answer?: ModelAnswer
  answeredBy?: number
  decided?: Decision
  readonly calls: Map<number, CallState>
  readonly settled: Set<number>
}

export interface SessionState {
  readonly session_id: string
  readonly n: number
  head: number
  /** How often its conversation started anew: its history was cut, or the behaviour changed. */
  cuts: number
  /** The behaviour of the open or last run. */
  behaviour: string
  /** Answers of the model since the behaviour was entered. */
  answers: number
  /** How often the open run changed its behaviour. */
  moves: number
  /** The lowest label of its input. */
  label: Label
  /** The run that is open in the journal. */
  run: string | undefined
  turns: number
  /** Steps of the open run. */
  steps: number
  open: TurnState | undefined
  last: Next | undefined
  /** Every call that was ever intended, by its key. */
  readonly calls: Map<string, CallState>
  /** Observations whose turn was committed with an answer. */
  readonly consumed: Set<string>
  /** Turns that have an answer on disk. */
  readonly answered: Set<number>
  /** Approvals that a decision acts on, and those under which a call was run. */
  readonly decidedApprovals: Set<string>
  readonly usedApprovals: Set<string>
}

export function newSession(n: number, session_id: string): SessionState {
  return {
    session_id,
    n,
    head: 0,
    cuts: 0,
    behaviour: '',
    answers: 0,
    moves: 0,
    label: CLEAN_LABEL,
    run: undefined,
    turns: 0,
    steps: 0,
    open: undefined,
    last: undefined,
    calls: new Map(),
    consumed: new Set(),
    answered: new Set(),
    decidedApprovals: new Set(),
    usedApprovals: new Set(),
  }
}

/** Number of calls in the turn's decision. */
export function callsOf(turn: TurnState): number {
  if (turn.answer) return turn.answer.calls.length
  return turn.decided?.kind === 'act' ? turn.decided.calls.length : turn.decided && 'via' in turn.decided ? 1 : 0
}
