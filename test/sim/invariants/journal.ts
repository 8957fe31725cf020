/** The order of records (domain/journal-record.ts), and what the commit that ends a step must contain (I3). */

import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import type { Batch, Op } from '../../../src/ports/store.ts'
import { type Approvals, checkApproved, checkParked, releaseApproval } from './approvals.ts'
import { checkResultLabel, lowerLabel } from './labels.ts'
import { callsOf, type SessionState, type TurnState } from './session.ts'

type RecordOf<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

/** The process and the batch that wrote a record. */
export interface WriteContext {
  readonly proc: number
  readonly batch: Batch
  readonly dispatch_id: string | undefined
  /** Whether the dispatch of a run ended without a record in the journal: set aside, or never opened again. */
  isOver(run: string): boolean
  resolutionOf(unknown: string): string | null
  isListed(unknown: string): boolean
  readonly approvals: Approvals
  /** Whether such a call needs approval. */
  needsApproval(session_id: string, tool: string, args: string): boolean
  readonly maxSteps: number | null
  fail(invariant: string, message: string): void
}

const GRAMMAR = 'record.ts: order'

export function applyRecord(session: SessionState, record: JournalRecord, write: WriteContext): void {
  const reject = (message: string): void =>
    write.fail(GRAMMAR, `${session.session_id} #${record.seq} ${record.kind}: ${message}`)
  if (record.seq !== session.head + 1) reject(`follows #${session.head}`)
  session.head = record.seq
  if (record.kind === 'run_started') startRun(session, record, write, reject)
  else if (session.run === undefined) reject('no run is open')
  else inRun(session, session.run, record, write, reject)
}

function inRun(
  session: SessionState,
  run: string,
  record: Exclude<JournalRecord, RecordOf<'run_started'>>,
  write: WriteContext,
  reject: Reject,
): void {
  const closing = write.dispatch_id !== run
  if (closing && !(write.isOver(run) && CLOSING.has(record.kind)))
    reject(`belongs to run ${run}, written by dispatch ${write.dispatch_id}`)
  const { open } = session
  if (record.kind === 'run_ended') endRun(session, record, write, reject, closing)
  else if (record.kind === 'input_bound') openTurn(session, record, reject)
  else if (record.kind === 'became') enterBehaviour(session, record, reject)
  else if (record.kind === 'diagnosed' || record.kind === 'migrated' || record.kind === 'refitted') return
  else if (!open) reject('no turn is open')
  else {
    if (record.turn !== open.turn) reject(`turn ${open.turn} is open, not ${record.turn}`)
    if (record.kind === 'step_committed') closeTurn(session, open, record, write, reject)
    else inTurn(session, open, record, write, reject)
  }
}

/** Records that a later run may write to close the run before it. */
const CLOSING: ReadonlySet<JournalRecord['kind']> = new Set(['call_settled', 'step_committed', 'run_ended'])

/** The limit in docs/faults.md. */
const MAX_FAILURES = 3

type Reject = (message: string) => void

function startRun(session: SessionState, record: RecordOf<'run_started'>, write: WriteContext, reject: Reject): void {
  if (session.run !== undefined) reject(`run ${session.run} is still open`)
  if (record.run_id !== write.dispatch_id) reject(`written by dispatch ${write.dispatch_id}`)
  session.run = record.run_id
  session.steps = 0
  Object.assign(session, { behaviour: record.behaviour, answers: 0, moves: 0 })
  if (record.anew) session.cuts += 1
}

function enterBehaviour(session: SessionState, { behaviour }: RecordOf<'became'>, reject: Reject): void {
  const chosen = session.last?.kind === 'become' ? session.last.behaviour : undefined
  if (session.open) reject(`turn ${session.open.turn} is still open`)
  if (behaviour !== chosen) reject(`entered ${behaviour}; the previous step chose ${chosen}`)
  Object.assign(session, { behaviour, answers: 0, moves: session.moves + 1, cuts: session.cuts + 1 })
}

function endRun(
  session: SessionState,
  record: RecordOf<'run_ended'>,
  write: WriteContext,
  reject: Reject,
  closing: boolean,
): void {
  if (session.open) reject(`turn ${session.open.turn} is still open`)
  if (record.run_id !== session.run) reject(`ends ${record.run_id}, but ${session.run} is open`)
  if (!closing && !hasOp(write.batch, 'settle'))
    write.fail('I3', `${session.session_id}: a run ended without its dispatch`)
  session.run = undefined
}

function openTurn(session: SessionState, record: RecordOf<'input_bound'>, reject: Reject): void {
  if (session.open) reject(`turn ${session.open.turn} is still open`)
  if (record.turn !== session.turns + 1) reject(`turn ${record.turn} follows ${session.turns}`)
  for (const { id } of record.input) if (session.consumed.has(id)) reject(`${id} was consumed in an earlier turn`)
  if (new Set(record.input.map(({ id }) => id)).size !== record.input.length) reject('an observation is bound twice')
  const last = session.steps > 0 ? session.last : undefined
  const feedback = last?.kind === 'continue' || last?.kind === 'park' ? last.feedback : undefined
  if (record.feedback !== feedback) reject(`the feedback is ${record.feedback}; the previous step left ${feedback}`)
  for (const { label } of record.input) lowerLabel(session, label)
  session.turns = record.turn
  session.open = {
    turn: record.turn,
    input: record.input,
    hasCause:
      record.input.length > 0 ||
      session.last?.kind === 'continue' ||
      session.last?.kind === 'become' ||
      feedback !== undefined,
    requests: 0,
    failures: 0,
    failed: false,
    awaitsAnswer: false,
    calls: new Map(),
    settled: new Set(),
  }
}

function inTurn(
  session: SessionState,
  open: TurnState,
  record: Exclude<
    JournalRecord,
    RecordOf<'run_started' | 'run_ended' | 'input_bound' | 'step_committed' | 'diagnosed' | 'migrated' | 'refitted'>
  >,
  write: WriteContext,
  reject: Reject,
): void {
  const decided = open.answer !== undefined || open.decided !== undefined
  switch (record.kind) {
    case 'model_requested':
      if (decided) write.fail('I4', `${session.session_id} turn ${open.turn} has an answer and requests another`)
      open.requests += 1
      open.awaitsAnswer = true
      open.prepared ??= record.prepared ?? ''
      open.digest = record.digest
      return
    case 'cut':
      session.cuts += 1
      return
    case 'branched':
      return
    case 'failed':
      open.failed = true
      // No provider of the simulator rejects a request as too long.
      if (record.code === 'model_oversize') write.fail('flood', `${session.session_id}: ${record.message}`)
      if (decided || record.phase !== 'DECIDE' || !open.awaitsAnswer) return
      open.awaitsAnswer = false
      // The run waits for money that other runs have reserved: the provider was not called.
      if (record.code === 'budget_busy') return
      open.failures += 1
      if (open.failures > MAX_FAILURES) reject(`the provider failed ${open.failures} times, and was called again`)
      return
    case 'model_answered':
      if (!open.awaitsAnswer || decided) reject(decided ? 'the turn has an answer' : 'no request is open')
      open.awaitsAnswer = false
      open.answer = record.answer
      open.answeredBy = write.proc
      session.answered.add(open.turn)
      session.answers += 1
      return
    case 'decided':
      if (decided || open.requests > 0) reject('the turn has a decision already, or a request')
      open.decided = record.decision
      if (record.decision.kind === 'act')
        for (const { approval } of record.decision.calls)
          if (approval !== undefined) session.decidedApprovals.add(approval)
      return
    case 'call_intended':
      intend(session, open, record, write, reject)
      return
    case 'call_settled':
      settle(session, open, record, write, reject)
      if (record.result.status === 'parked') checkParked(session, open, record.index, write)
      if (record.result.status === 'not_started') releaseApproval(session, open, record.index)
      return
  }
}

function intend(
  session: SessionState,
  open: TurnState,
  record: RecordOf<'call_intended'>,
  write: WriteContext,
  reject: Reject,
): void {
  if (record.index >= callsOf(open)) reject(`there is no call ${record.index}`)
  for (let i = 0; i < record.index; i++) {
    // Only pure calls may run side by side.
    const beside = record.effect.recovery === 'pure' && open.calls.get(i)?.effect.recovery === 'pure'
    if (!open.settled.has(i) && !beside) reject(`call ${i} before it is not settled`)
  }
  if (open.settled.has(record.index)) reject(`call ${record.index} is settled`)
  const key = `${session.session_id}.${record.turn}.${record.index}`
  const known = open.calls.get(record.index)
  if (record.attempt !== (known?.attempts ?? 0) + 1) reject(`attempt ${record.attempt} follows ${known?.attempts ?? 0}`)
  if (known) {
    const unknown = known.attempts === 1 ? key : `${key}.${known.attempts}`
    if (write.resolutionOf(unknown) !== 'not')
      write.fail('tool once: at most once', `${key} is attempted again, although ${unknown} was not resolved as "not"`)
    known.attempts = record.attempt
    known.intendedBy = write.proc
    return
  }
  const call = {
    key,
    turn: record.turn,
    tool: record.call.tool,
    args: JSON.stringify(record.call.args),
    effect: record.effect,
    label: session.label,
    attempts: record.attempt,
    intendedBy: write.proc,
    closed: false,
  }
  checkApproved(session, open, { ...call, index: record.index }, write)
  open.calls.set(record.index, call)
  session.calls.set(key, call)
}

function settle(
  session: SessionState,
  open: TurnState,
  record: RecordOf<'call_settled'>,
  write: WriteContext,
  reject: Reject,
): void {
  if (record.index >= callsOf(open)) reject(`there is no call ${record.index}`)
  if (open.settled.has(record.index)) reject(`call ${record.index} is settled twice`)
  for (let i = 0; i < record.index; i++) if (!open.settled.has(i)) reject(`call ${i} before it is not settled`)
  open.settled.add(record.index)
  const call = open.calls.get(record.index)
  if (call) {
    call.settled = record.result
    checkResultLabel(session, call, record, write.fail)
  } else if (open.answer?.finish === 'calls' && record.result.status === 'unknown')
    reject('the outcome is unknown, but the call was never intended')
}

function closeTurn(
  session: SessionState,
  open: TurnState,
  record: RecordOf<'step_committed'>,
  write: WriteContext,
  reject: Reject,
): void {
  const { next } = record
  const decided = open.answer !== undefined || open.decided !== undefined
  const cutShort =
    next.kind === 'end' && ['cancelled', 'budget_time', 'env_capability_mismatch'].includes(next.stop_reason)
  const failed = open.failed || cutShort || (next.kind === 'end' && next.stop_reason === 'unrecoverable_error')
  const isForced = next.kind === 'become' && open.input.some(({ route }) => route)
  if (!decided && !failed && !isForced) reject('the turn has no decision')
  for (const call of open.calls.values()) {
    call.closed = true
    if (!call.settled && !write.isListed(unknownIdOf(call)))
      write.fail('I4', `${call.key} was intended; its turn has ended, and it is neither settled nor listed as unknown`)
  }
  if (!failed) for (let i = 0; i < callsOf(open); i++) if (!open.settled.has(i)) reject(`call ${i} is not settled`)
  if (next.kind === 'park' && !hasOp(write.batch, 'park'))
    write.fail('I3', `${session.session_id}: a step says park, but its batch does not park the dispatch`)
  if (next.kind === 'end' && write.dispatch_id === session.run && !hasOp(write.batch, 'settle'))
    write.fail('I3', `${session.session_id}: a step ends its run without ending the dispatch`)
  const acknowledged = new Set(write.batch.ops.flatMap((op) => (op.op === 'acknowledge' ? op.observation_ids : [])))
  for (const { id } of open.input.filter(isFromInbox)) {
    if (decided) session.consumed.add(id)
    if (decided !== acknowledged.has(id))
      write.fail(
        'I3',
        `${session.session_id}: ${id} was ${decided ? 'consumed but unread' : 'acknowledged but not consumed'}`,
      )
  }
  const goesOn = next.kind === 'continue' || (next.kind === 'park' && next.feedback !== undefined)
  if (goesOn || next.kind === 'end') session.steps += 1
  if (write.maxSteps !== null && (session.steps > write.maxSteps || (session.steps === write.maxSteps && goesOn)))
    write.fail('budget', `${session.session_id}: step ${session.steps} of ${write.maxSteps} ends with ${next.kind}`)
  session.last = next
  session.open = undefined
}

/** The overflow notice is made by the program and is not in the inbox. */
const isFromInbox = (observation: Observation): boolean =>
  observation.type !== 'system_event' || observation.name !== 'inbox_overflow'

export const unknownIdOf = ({ key, attempts }: { readonly key: string; readonly attempts: number }): string =>
  attempts === 1 ? key : `${key}.${attempts}`

const hasOp = (batch: Batch, op: Op['op']): boolean => batch.ops.some((one) => one.op === op)
