/** Everything that the records say about one step of a run, in full: events and trace files have shortened texts. */

import type { CallResult, Decision } from '../domain/decision.ts'
import type { Effect } from '../domain/effect.ts'
import type { RecalledFacts } from '../domain/fact.ts'
import type { JournalRecord, ModelAnswer, PromptComposition, RememberedView } from '../domain/journal-record.ts'
import type { Json } from '../domain/json.ts'
import type { Label } from '../domain/label.ts'
import type { Observation } from '../domain/observation.ts'

type RecordOfKind<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

/** Instants are epoch milliseconds. */
export interface StepDetails {
  readonly step_id: number
  /** The number of the step in its session. */
  readonly turn: number
  readonly from: number
  /** Null while the step is open. */
  readonly to: number | null
  readonly input: readonly Observation[]
  readonly feedback: string | null
  readonly observation: Json
  readonly recalled: RecalledFacts | null
  readonly memory: RememberedView | null
  /** What was sent to models, the last one last; the text itself is in `StepRequest`. */
  readonly requests: readonly RequestSummary[]
  readonly answer: ModelAnswer | null
  readonly answered_at: number | null
  readonly cost_usd: number | null
  /** A decision that the behaviour made without a model, and the choice among alternatives. */
  readonly decided: Decision | null
  readonly branch: Pick<RecordOfKind<'branched'>, 'candidates' | 'scores' | 'chosen'> | null
  readonly intent: Pick<RecordOfKind<'intent_fixed'>, 'needs' | 'words'> | null
  readonly calls: readonly CallDetails[]
  readonly failures: readonly Omit<RecordOfKind<'failed'>, 'kind' | 'turn' | 'seq'>[]
  readonly diagnoses: readonly Pick<RecordOfKind<'diagnosed'>, 'about' | 'message'>[]
  readonly end: Omit<RecordOfKind<'step_committed'>, 'kind' | 'turn' | 'seq' | 'ts'> | null
}

interface RequestSummary {
  readonly at: number
  readonly model: string
  readonly compiler: number
  readonly digest: string
  readonly composition: PromptComposition | null
}

interface CallDetails {
  readonly index: number
  /** Null: the call was held back before it started, and its arguments are those of the answer. */
  readonly tool: string | null
  readonly args: Json
  readonly effect: Effect | null
  readonly attempt: number
  readonly approval: string | null
  readonly from: number | null
  readonly to: number | null
  readonly result: Omit<CallResult, 'facts'> | null
  readonly label: Label | null
  readonly outside: boolean
}

type TurnRecord = Extract<JournalRecord, { readonly turn: number }>

const isTurnRecord = (record: JournalRecord): record is TurnRecord => 'turn' in record

/** Contract: pure; undefined if the run has no such step. Steps are counted from 1, as in events. */
export function stepDetailsFrom(records: readonly JournalRecord[], step_id: number): StepDetails | undefined {
  const own = recordsOfStep(records, step_id)
  const [first] = own
  if (!first) return undefined
  const find = <K extends TurnRecord['kind']>(kind: K) =>
    own.findLast((record): record is Extract<TurnRecord, { kind: K }> => record.kind === kind)
  const [bound, answered, committed] = [find('input_bound'), find('model_answered'), find('step_committed')]
  return {
    ...{ step_id, turn: first.turn, from: first.ts, to: committed?.ts ?? null },
    ...{ input: bound?.input ?? [], feedback: bound?.feedback ?? null, observation: bound?.observation ?? null },
    ...{ recalled: bound?.recalled ?? null, memory: bound?.memory ?? null },
    requests: own.flatMap((record) => (record.kind === 'model_requested' ? [summariseRequest(record)] : [])),
    ...{ answer: answered?.answer ?? null, answered_at: answered?.ts ?? null, cost_usd: answered?.usd ?? null },
    decided: find('decided')?.decision ?? null,
    branch: find('branched') ?? null,
    intent: find('intent_fixed') ?? null,
    calls: callsOf(own),
    failures: own.flatMap((record) => (record.kind === 'failed' ? [record] : [])),
    diagnoses: own.flatMap((record) => (record.kind === 'diagnosed' ? [record] : [])),
    end: committed ?? null,
  }
}

/** The last request of the step, and the records up to it. Contract: undefined if no model was asked. */
export function recordsUntilRequest(
  records: readonly JournalRecord[],
  step_id: number,
): readonly JournalRecord[] | undefined {
  const last = recordsOfStep(records, step_id).findLast(({ kind }) => kind === 'model_requested')
  return last && records.filter(({ seq }) => seq <= last.seq)
}

function recordsOfStep(records: readonly JournalRecord[], step_id: number): readonly TurnRecord[] {
  const turns = new Set(records.filter(isTurnRecord).flatMap(({ kind, turn }) => (kind === 'diagnosed' ? [] : [turn])))
  const turn = [...turns][step_id - 1]
  return records.filter(isTurnRecord).filter((record) => record.turn === turn)
}

const summariseRequest = ({ ts, model, compiler, digest, composition }: RecordOfKind<'model_requested'>) => ({
  ...{ at: ts, model, compiler, digest, composition: composition ?? null },
})

function callsOf(own: readonly TurnRecord[]): readonly CallDetails[] {
  const calls = new Map<number, CallDetails>()
  const change = (index: number, known: Partial<CallDetails>): void => {
    calls.set(index, { ...(calls.get(index) ?? NEW_CALL), index, ...known })
  }
  for (const record of own) {
    if (record.kind === 'call_intended') {
      const { index, attempt, effect, call } = record
      change(index, { tool: call.tool, args: call.args, effect, attempt, approval: call.approval ?? null })
      change(index, { from: record.ts })
    } else if (record.kind === 'call_settled') {
      const { status, content } = record.result
      change(record.index, { to: record.ts, result: { status, content } })
      change(record.index, { label: record.label ?? null, outside: record.outside ?? false })
    }
  }
  return [...calls.values()].sort((a, b) => a.index - b.index)
}

const NEW_CALL: CallDetails = {
  ...{ index: 0, tool: null, args: null, effect: null, attempt: 1, approval: null, from: null, to: null },
  ...{ result: null, label: null, outside: false },
}
