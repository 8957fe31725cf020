/** What each column must contain so that a row can be read. Columns with arbitrary text are not listed. */

import { APPROVAL_STATUSES } from '../../../domain/approval.ts'
import { CYCLE_STATUSES } from '../../../domain/cycle.ts'
import { CANCELS, DISPATCH_STATUSES } from '../../../domain/dispatch.ts'
import { REACHES } from '../../../domain/effect.ts'
import { FACT_STATUSES } from '../../../domain/fact.ts'
import { LOST_COMMITS } from '../../../domain/lost-commits.ts'
import { MESSAGE_KINDS, POSTED_STATUSES } from '../../../domain/message.ts'
import { FAILURE_CLASSES } from '../../../domain/stop.ts'
import { TRUSTS } from '../../../domain/trust.ts'
import { RESOLUTIONS } from '../../../domain/unknown.ts'
import type { Op } from '../../../ports/store.ts'
import { effect, label, observation, wait } from './record-shapes.ts'
import {
  anything,
  count,
  fields,
  flag,
  instant,
  json,
  listOf,
  number,
  oneOf,
  orAbsent,
  orNull,
  type Shape,
  text,
  that,
  truth,
  whole,
} from './shape.ts'

/** A row as read; integers beyond the safe range are bigints. */
export type StoredRow = Readonly<Record<string, unknown>>

export interface TableColumns {
  /** The columns that identify a row. */
  readonly key: readonly [string, ...string[]]
  readonly columns: Readonly<Record<string, Shape>>
  /** Contract: why the columns contradict each other; undefined if they do not. */
  readonly mismatch?: (row: StoredRow) => string | undefined
}

const metadata = fields({ label: orAbsent(label) })
const sinks = listOf(fields({ to: text, from: text, trusted: truth }))
const origin = fields({ run_id: text, step: count })

const lostCommits = fields({
  ...{ commits: number, records: number, sessions: listOf(text), at_least: truth, up_to: listOf(number) },
})

const agentResult = fields({
  ...{ agent_id: text, dispatch_id: text, session_id: text, status: oneOf(DISPATCH_STATUSES), summary: text },
  ...{ failure_class: orNull(oneOf(FAILURE_CLASSES)), attempts: count },
  recovered_from: orNull(oneOf(FAILURE_CLASSES)),
})

const cycleResult = fields({
  ...{ cycle_id: text, status: oneOf(CYCLE_STATUSES), dispatched: count, succeeded: count, failed: count },
  ...{ parked: count, failed_agents: listOf(text), idle_reason: orNull(text), error: orNull(text) },
  ...{ duration_ms: number, agents: listOf(agentResult) },
})

const everyShape = fields({ every: count })
const atShape = fields({ at: text })
const scheduleSpec: Shape = (value) =>
  typeof value === 'object' && value !== null && 'every' in value ? everyShape(value) : text(value) && atShape(value)

export const TABLES = {
  workers: { key: ['epoch'], columns: { joined_at: instant, lease_until: instant, left_at: orNull(instant) } },
  sessions: {
    key: ['session_id'],
    columns: {
      metadata: json(metadata),
      created_at: instant,
      archived_at: orNull(instant),
      head: count,
      last: orNull(count),
    },
    mismatch: ({ head, last }) =>
      (head === 0) === (last === null) ? undefined : 'the journal needs both head and last, or neither',
  },
  dispatches: {
    key: ['dispatch_id'],
    columns: {
      ...{ priority: whole, status: oneOf(DISPATCH_STATUSES), metadata: json(metadata) },
      ...{ epoch: orNull(count), token: count },
      ...{ attempts: count, crashes: count, head_at_claim: count, wait: orNull(json(wait(instant))) },
      ...{ due: orNull(instant), failure_class: orNull(oneOf(FAILURE_CLASSES)), cancel: orNull(oneOf(CANCELS)) },
      ...{ paused: flag, created_at: instant, updated_at: instant },
    },
    mismatch: describeBadDispatch,
  },
  tally: { key: ['status'], columns: { status: oneOf(DISPATCH_STATUSES), n: count } },
  inbox: {
    key: ['session', 'id'],
    columns: { id: text, body: json(observation(instant)), read_at: orNull(instant) },
    mismatch: ({ id, body }) =>
      JSON.parse(String(body)).id === id ? undefined : 'the body belongs to another observation',
  },
  unknowns: {
    key: ['id'],
    columns: {
      ...{ args: json(anything), reach: oneOf(REACHES) },
      ...{ status: oneOf(['open', 'told_model', 'resolved']), resolution: orNull(oneOf(RESOLUTIONS)) },
    },
    mismatch: ({ status, resolution }) =>
      status === 'resolved' && resolution === null ? 'it is resolved without a resolution' : undefined,
  },
  selections: { key: ['scope'], columns: { chosen_at: instant } },
  cycles: {
    key: ['cycle_id'],
    columns: {
      ...{ due: orNull(instant), started_at: instant, ended_at: orNull(instant) },
      ...{ result: orNull(json(cycleResult)), open: json(listOf(text)) },
    },
    mismatch: ({ ended_at, result }) =>
      (ended_at === null) === (result === null) ? undefined : 'it needs both end and result, or neither',
  },
  settings: {
    key: ['name'],
    columns: { name: text, value: json(anything) },
    mismatch: ({ name, value }) => (name === LOST_COMMITS ? json(lostCommits)(value) : undefined),
  },
  spend: {
    key: ['day', 'kernel_id', 'agent_id', 'model'],
    columns: {
      day: that('a day such as 2030-01-31', (value) => /^\d{4}-\d\d-\d\d$/.test(String(value))),
      ...{ usd: count, reserved: count, calls: count },
      ...{ input_tokens: count, output_tokens: count, cached_tokens: count },
    },
  },
  reservations: { key: ['id'], columns: { usd: count } },
  schedules: { key: ['id'], columns: { spec: json(scheduleSpec), paused: flag, created_at: instant } },
  marks: { key: ['schedule_id'], columns: { until: instant, fired: orNull(instant) } },
  approvals: {
    key: ['id'],
    columns: {
      ...{ args: json(anything), effect: json(effect), origin: json(origin) },
      ...{ sinks: json(sinks), asked_at: instant },
      ...{ expires_at: instant, status: oneOf(APPROVAL_STATUSES), answered_at: orNull(instant) },
    },
  },
  grants: { key: ['id'], columns: { to: json(listOf(text)), granted_at: instant, expires_at: orNull(instant) } },
  labels: { key: ['of'], columns: { trust: oneOf(TRUSTS), private: flag } },
  audit: { key: ['n'], columns: { body: json(fields({ ts: instant, what: text })) } },
  facts: {
    key: ['id'],
    columns: {
      ...{ turn: count, trust: oneOf(TRUSTS), private: flag, status: oneOf(FACT_STATUSES) },
      ...{ created_at: instant, expires_at: orNull(instant) },
    },
  },
  documents: { key: ['kernel_id', 'name', 'version'], columns: { version: count, bytes: count, ts: instant } },
  outbox: {
    key: ['id'],
    columns: {
      ...{ kind: oneOf(MESSAGE_KINDS), status: oneOf(POSTED_STATUSES), attempts: count },
      ...{ due: instant, created_at: instant, sent_at: orNull(instant) },
    },
  },
  heard: { key: ['channel', 'message_id'], columns: { ts: instant } },
} as const satisfies Record<string, TableColumns>

/** Checks JSON parts of ops before they are written. */
export const OP_SHAPES: Partial<Record<Op['op'], Shape>> = {
  enqueue: fields({ dispatches: listOf(fields({ metadata })) }),
  park: fields({ wait: wait(instant) }),
  publish: fields({ observation: observation(instant) }),
  ask: fields({ approval: fields({ effect, sinks, origin }) }),
  grant: fields({ grant: fields({ to: listOf(text) }) }),
  schedule_put: fields({ entry: fields({ spec: scheduleSpec }) }),
  cycle_end: fields({ result: cycleResult, open: listOf(text) }),
}

export type TableName = keyof typeof TABLES
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

function describeBadDispatch({ status, wait, due, epoch }: StoredRow): string | undefined {
  if ((status === 'waiting') !== (wait !== null)) return 'its status and its wait contradict each other'
  if (due !== (wait === null ? null : JSON.parse(String(wait)).until)) return 'its due time differs from its wait'
  if ((status === 'running') !== (epoch !== null)) return 'its status and its worker contradict each other'
  return undefined
}
