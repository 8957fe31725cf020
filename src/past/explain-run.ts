/** Why a run did what it did: its task, the model's own words, calls, failures, approvals, and the policy's reasons. */

import type { Approval } from '../domain/approval.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import { recordsOfRun } from '../domain/journal-record.ts'
import { type PastRun, readPastRun, sessionReader } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'

export interface ExplainedCall {
  readonly tool: string
  readonly args: string
  readonly status: string
  /** The beginning of the result. */
  readonly result: string
}

export interface ExplainedStep {
  readonly turn: number
  readonly at: number
  /** What the model wrote before its calls, or in its notes. */
  readonly words: string
  readonly calls: readonly ExplainedCall[]
  readonly failures: readonly string[]
}

/** One decision of the policy that did not simply allow the call. */
interface PolicyReason {
  readonly tool: string
  readonly ruling: string
  readonly reason: string
}

export interface ExplainedRun {
  readonly run: PastRun
  /** What started it: a schedule, a cycle, a person, another run. */
  readonly started_by: 'cycle' | 'schedule' | 'run' | 'person' | 'model'
  readonly steps: readonly ExplainedStep[]
  /** Steps that are not listed. */
  readonly left_out: number
  readonly approvals: readonly Pick<Approval, 'id' | 'tool' | 'status' | 'reason' | 'answer_reason'>[]
  readonly policy: readonly PolicyReason[]
  readonly stop_reason: string | null
  readonly error: string | null
}

const MAX_STEPS = 12
const MAX_WORDS = 400
const MAX_RESULT = 300
const MAX_APPROVALS = 20
/** Entries of the audit that are read, newest last. */
const MAX_AUDIT = 5000

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** Contract: undefined if there is no such run. */
export async function explainRun(sources: PastSources, run_id: string): Promise<ExplainedRun | undefined> {
  const { store } = sources
  const dispatch = await store.dispatch(run_id)
  if (!dispatch) return undefined
  const journal = await sessionReader(sources)(dispatch.session_id)
  const run = await readPastRun(sources, dispatch, { journal })
  if (!run) return undefined
  const records = recordsOfRun(journal ?? [], run_id)
  const steps = stepsOf(records)
  const ended = records.findLast((record) => record.kind === 'run_ended')
  const approvals = await store.approvals({ session_id: dispatch.session_id, limit: MAX_APPROVALS })
  return {
    ...{ run, started_by: starterOf(dispatch) },
    // The last steps say most about how it ended.
    ...{ steps: steps.slice(-MAX_STEPS), left_out: Math.max(0, steps.length - MAX_STEPS) },
    approvals: approvals.filter(({ origin }) => origin.run_id === run_id),
    policy: await policyReasons(sources, dispatch.session_id),
    stop_reason: ended?.kind === 'run_ended' ? ended.stop_reason : null,
    error: dispatch.error ?? null,
  }
}

/** Contract: pure; what started the run. */
export function starterOf({ cycle_id, metadata, parent_id }: Dispatch): ExplainedRun['started_by'] {
  if (parent_id !== null) return 'run'
  if (metadata.words === 'model') return 'model'
  if (metadata.schedule_id !== undefined) return 'schedule'
  return cycle_id === null ? 'person' : 'cycle'
}

interface OpenStep {
  readonly turn: number
  readonly at: number
  words: string
  readonly calls: Map<number, ExplainedCall>
  readonly failures: string[]
}

/** Contract: pure; the steps of a run in order. */
function stepsOf(records: readonly JournalRecord[]): readonly ExplainedStep[] {
  const steps = new Map<number, OpenStep>()
  for (const record of records) {
    if (!('turn' in record)) continue
    const step = steps.get(record.turn) ?? {
      ...{ turn: record.turn, at: record.ts, words: '', failures: [], calls: new Map<number, ExplainedCall>() },
    }
    steps.set(record.turn, step)
    addRecord(step, record)
  }
  return [...steps.values()].map((step) => ({ ...step, calls: [...step.calls.values()] }))
}

function addRecord(step: OpenStep, record: JournalRecord): void {
  if (record.kind === 'model_answered') {
    const { text, said, notes = {} } = record.answer
    step.words = cut([...Object.values(notes), said ?? text].join(' ').replaceAll(/\s+/g, ' ').trim(), MAX_WORDS)
  } else if (record.kind === 'call_intended') {
    const { tool, args } = record.call
    step.calls.set(record.index, { tool, args: cut(JSON.stringify(args), MAX_RESULT), status: 'started', result: '' })
  } else if (record.kind === 'call_settled') {
    const call = step.calls.get(record.index)
    const result = cut(record.result.content.trim(), MAX_RESULT)
    if (call) step.calls.set(record.index, { ...call, status: record.result.status, result })
  } else if (record.kind === 'failed') step.failures.push(`${record.phase}: ${cut(record.message, MAX_RESULT)}`)
}

async function policyReasons({ store }: PastSources, session_id: string): Promise<readonly PolicyReason[]> {
  const { last } = await store.audit(1, { limit: 1 })
  const { links } = await store.audit(Math.max(1, last - MAX_AUDIT + 1), { limit: MAX_AUDIT })
  const reasons = links.flatMap(({ body }) => {
    // Most entries belong to other sessions, and need not be parsed.
    if (!body.includes(session_id)) return []
    const entry = JSON.parse(body) as Readonly<Record<string, unknown>>
    const isOfSession = entry.what === 'call' && entry.session_id === session_id && entry.ruling !== 'allow'
    return isOfSession ? [{ tool: String(entry.tool), ruling: String(entry.ruling), reason: String(entry.reason) }] : []
  })
  return reasons.slice(-MAX_APPROVALS)
}
