/** What each column must contain so that a row can be read. Columns with arbitrary text are not listed. */

import { APPROVAL_STATUSES } from '../../../domain/approval.ts'
import { CYCLE_STATUSES } from '../../../domain/cycle.ts'
import { CANCEL_MODES, DISPATCH_STATUSES } from '../../../domain/dispatch.ts'
import { REACHES } from '../../../domain/effect.ts'
import { FACT_STATUSES } from '../../../domain/fact.ts'
import { TRUSTS } from '../../../domain/label.ts'
import { LOST_COMMITS } from '../../../domain/lost-commits.ts'
import { MESSAGE_KINDS, OUTBOX_STATUSES } from '../../../domain/message.ts'
import { NEED_KINDS, NEED_STATUSES } from '../../../domain/need.ts'
import { FAILURE_CLASSES } from '../../../domain/stop-reason.ts'
import { TODO_STATUSES } from '../../../domain/todo.ts'
import { UNDO_STATUSES } from '../../../domain/undo.ts'
import { RESOLUTIONS } from '../../../domain/unknown-outcome.ts'
import type { Op } from '../../../ports/store.ts'
import { cardShape, filesShape } from './message-shapes.ts'
import { needAnswerShape, needBodyShape, newNeedShape } from './need-shape.ts'
import { effectShape, labelShape, observationShape, waitShape } from './record-shapes.ts'
import { receiptShape, todoShape, todosOpShape } from './todo-shapes.ts'
import { undoEndShape, undoShape, undoStopShape } from './undo-shape.ts'
import {
  describeInvalid,
  listOf,
  oneOf,
  orAbsent,
  orNull,
  type StoredShape,
  storedAny,
  storedBoolean,
  storedCount,
  storedFlag,
  storedInstant,
  storedInteger,
  storedJson,
  storedNumber,
  storedObject,
  storedShape,
  storedText,
} from './value-shapes.ts'

/** A row as the database returns it; integers beyond the safe range are bigints. */
export type StoredRow = Readonly<Record<string, unknown>>

export interface TableColumns {
  /** The columns that identify a row. */
  readonly key: readonly [string, ...string[]]
  readonly columns: Readonly<Record<string, StoredShape>>
  /** Contract: why the columns contradict each other; undefined if they do not. */
  readonly mismatch?: (row: StoredRow) => string | undefined
}

const metadata = storedObject({ label: orAbsent(labelShape) })
const sinks = listOf(storedObject({ to: storedText, from: storedText, trusted: storedBoolean }))
const origin = storedObject({ run_id: storedText, step: storedCount })

const lostCommits = storedObject({
  ...{
    commits: storedNumber,
    records: storedNumber,
    sessions: listOf(storedText),
    at_least: storedBoolean,
    up_to: listOf(storedNumber),
  },
})

const agentResult = storedObject({
  ...{
    agent_id: storedText,
    dispatch_id: storedText,
    session_id: storedText,
    status: oneOf(DISPATCH_STATUSES),
    summary: storedText,
  },
  ...{ failure_class: orNull(oneOf(FAILURE_CLASSES)), attempts: storedCount },
  recovered_from: orNull(oneOf(FAILURE_CLASSES)),
  files: orAbsent(listOf(storedText)),
})

const cycleResult = storedObject({
  ...{
    cycle_id: storedText,
    status: oneOf(CYCLE_STATUSES),
    dispatched: storedCount,
    succeeded: storedCount,
    failed: storedCount,
  },
  ...{
    parked: storedCount,
    failed_agents: listOf(storedText),
    idle_reason: orNull(storedText),
    error: orNull(storedText),
  },
  ...{ duration_ms: storedNumber, agents: listOf(agentResult) },
})

const everyShape = storedObject({ every: storedCount })
const atShape = storedObject({ at: storedText })
const scheduleSpec: StoredShape = (value) =>
  typeof value === 'object' && value !== null && 'every' in value
    ? everyShape(value)
    : storedText(value) && atShape(value)

export const TABLES = {
  workers: {
    key: ['epoch'],
    columns: { joined_at: storedInstant, lease_until: storedInstant, left_at: orNull(storedInstant) },
  },
  sessions: {
    key: ['session_id'],
    columns: {
      metadata: storedJson(metadata),
      created_at: storedInstant,
      archived_at: orNull(storedInstant),
      head: storedCount,
      last: orNull(storedCount),
    },
    mismatch: ({ head, last }) =>
      (head === 0) === (last === null) ? undefined : 'the columns head and last must both be set, or neither',
  },
  dispatches: {
    key: ['dispatch_id'],
    columns: {
      ...{ priority: storedInteger, status: oneOf(DISPATCH_STATUSES), metadata: storedJson(metadata) },
      ...{ epoch: orNull(storedCount), token: storedCount },
      ...{
        attempts: storedCount,
        crashes: storedCount,
        head_at_claim: storedCount,
        wait: orNull(storedJson(waitShape(storedInstant))),
      },
      ...{
        due: orNull(storedInstant),
        failure_class: orNull(oneOf(FAILURE_CLASSES)),
        cancel: orNull(oneOf(CANCEL_MODES)),
      },
      ...{ paused: storedFlag, created_at: storedInstant, updated_at: storedInstant },
    },
    mismatch: describeBadDispatch,
  },
  tally: { key: ['status'], columns: { status: oneOf(DISPATCH_STATUSES), n: storedCount } },
  inbox: {
    key: ['session', 'id'],
    columns: { id: storedText, body: storedJson(observationShape(storedInstant)), read_at: orNull(storedInstant) },
    mismatch: ({ id, body }) =>
      JSON.parse(String(body)).id === id ? undefined : 'the body belongs to another observation',
  },
  unknowns: {
    key: ['id'],
    columns: {
      ...{ args: storedJson(storedAny), reach: oneOf(REACHES) },
      ...{ status: oneOf(['open', 'told_model', 'resolved']), resolution: orNull(oneOf(RESOLUTIONS)) },
    },
    mismatch: ({ status, resolution }) =>
      status === 'resolved' && resolution === null ? 'it is resolved without a resolution' : undefined,
  },
  selections: { key: ['scope'], columns: { chosen_at: storedInstant } },
  cycles: {
    key: ['cycle_id'],
    columns: {
      ...{ due: orNull(storedInstant), started_at: storedInstant, ended_at: orNull(storedInstant) },
      ...{ result: orNull(storedJson(cycleResult)), open: storedJson(listOf(storedText)) },
    },
    mismatch: ({ ended_at, result }) =>
      (ended_at === null) === (result === null)
        ? undefined
        : 'the columns ended_at and result must both be set, or neither',
  },
  settings: {
    key: ['name'],
    columns: { name: storedText, value: storedJson(storedAny) },
    mismatch: ({ name, value }) =>
      name === LOST_COMMITS ? describeInvalid(storedJson(lostCommits), value) : undefined,
  },
  spend: {
    key: ['day', 'kernel_id', 'agent_id', 'model'],
    columns: {
      day: storedShape('a day such as 2030-01-31', (value) => /^\d{4}-\d\d-\d\d$/.test(String(value))),
      ...{ usd: storedCount, reserved: storedCount, calls: storedCount },
      ...{ input_tokens: storedCount, output_tokens: storedCount, cached_tokens: storedCount },
    },
  },
  reservations: { key: ['id'], columns: { usd: storedCount } },
  schedules: {
    key: ['id'],
    columns: { spec: storedJson(scheduleSpec), paused: storedFlag, created_at: storedInstant },
  },
  marks: { key: ['schedule_id'], columns: { until: storedInstant, fired: orNull(storedInstant) } },
  approvals: {
    key: ['id'],
    columns: {
      ...{ args: storedJson(storedAny), effect: storedJson(effectShape), origin: storedJson(origin) },
      ...{ sinks: storedJson(sinks), asked_at: storedInstant },
      ...{ expires_at: storedInstant, status: oneOf(APPROVAL_STATUSES), answered_at: orNull(storedInstant) },
    },
  },
  grants: {
    key: ['id'],
    columns: { to: storedJson(listOf(storedText)), granted_at: storedInstant, expires_at: orNull(storedInstant) },
  },
  labels: { key: ['of'], columns: { trust: oneOf(TRUSTS), private: storedFlag } },
  audit: { key: ['n'], columns: { body: storedJson(storedObject({ ts: storedInstant, what: storedText })) } },
  facts: {
    key: ['id'],
    columns: {
      ...{ turn: storedCount, trust: oneOf(TRUSTS), private: storedFlag, status: oneOf(FACT_STATUSES) },
      ...{ created_at: storedInstant, expires_at: orNull(storedInstant) },
    },
  },
  documents: {
    key: ['kernel_id', 'name', 'version'],
    columns: { version: storedCount, bytes: storedCount, ts: storedInstant },
  },
  outbox: {
    key: ['id'],
    columns: {
      ...{ kind: oneOf(MESSAGE_KINDS), status: oneOf(OUTBOX_STATUSES), attempts: storedCount },
      ...{ due: storedInstant, created_at: storedInstant, sent_at: orNull(storedInstant) },
      ...{ card: orNull(storedJson(cardShape)), files: orNull(storedJson(filesShape)) },
      ...{ parts_sent: storedCount, revision: storedCount },
    },
  },
  todos: {
    key: ['session', 'code'],
    columns: { code: storedText, status: oneOf(TODO_STATUSES), body: storedJson(todoShape), updated_at: storedInstant },
    mismatch: describeBadTodo,
  },
  todo_receipts: {
    key: ['op_id'],
    columns: { op_id: storedText, body: storedJson(receiptShape), at: storedInstant },
    mismatch: ({ op_id, body }) =>
      JSON.parse(String(body)).op_id === op_id ? undefined : 'the body is of another call',
  },
  undos: {
    key: ['id'],
    columns: {
      ...{ id: storedText, status: oneOf(UNDO_STATUSES), body: storedJson(undoShape) },
      ...{ created_at: storedInstant, ended_at: orNull(storedInstant) },
    },
  },
  needs: {
    key: ['id'],
    columns: {
      id: storedText,
      kind: oneOf(NEED_KINDS),
      same_as: storedText,
      status: oneOf(NEED_STATUSES),
      body: storedJson(needBodyShape),
      answer: orNull(storedJson(needAnswerShape)),
      asked_at: storedInstant,
      ended_at: orNull(storedInstant),
    },
    mismatch: ({ status, answer, ended_at }) => {
      if ((status === 'open') !== (ended_at === null)) return 'its status and its end contradict each other'
      return (status === 'answered') === (answer !== null)
        ? undefined
        : 'its status and its answer contradict each other'
    },
  },
  heard: { key: ['channel', 'message_id'], columns: { ts: storedInstant } },
} as const satisfies Record<string, TableColumns>

/** Checks JSON parts of ops before they are written. */
export const OP_SHAPES: Partial<Record<Op['op'], StoredShape>> = {
  enqueue: storedObject({ dispatches: listOf(storedObject({ metadata })) }),
  park: storedObject({ wait: waitShape(storedInstant) }),
  publish: storedObject({ observation: observationShape(storedInstant) }),
  ask: storedObject({ approval: storedObject({ effect: effectShape, sinks, origin }) }),
  grant: storedObject({ grant: storedObject({ to: listOf(storedText) }) }),
  schedule_put: storedObject({ entry: storedObject({ spec: scheduleSpec }) }),
  todos: todosOpShape,
  post: storedObject({ message: storedObject({ card: orAbsent(cardShape), files: orAbsent(filesShape) }) }),
  revise: storedObject({ text: storedText, card: orAbsent(cardShape) }),
  need_open: storedObject({ need: newNeedShape }),
  need_answer: storedObject({ answer: needAnswerShape }),
  undo_begin: storedObject({ undo: undoShape }),
  undo_stop: undoStopShape,
  undo_end: undoEndShape,
  cycle_end: storedObject({ result: cycleResult, open: listOf(storedText) }),
}

export type TableName = keyof typeof TABLES
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

function describeBadDispatch({ status, wait, due, epoch }: StoredRow): string | undefined {
  if ((status === 'waiting') !== (wait !== null)) return 'its status and its wait contradict each other'
  if (due !== (wait === null ? null : JSON.parse(String(wait)).until)) return 'its due time differs from its wait'
  if ((status === 'running') !== (epoch !== null)) return 'its status and its worker contradict each other'
  return undefined
}

function describeBadTodo({ code, status, body }: StoredRow): string | undefined {
  const todo = JSON.parse(String(body))
  return todo.code === code && todo.status === status ? undefined : 'the body has another code or status'
}
