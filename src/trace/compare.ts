/** Two runs of one task, side by side: where they first part, and what became of each. */

import type { CallResult, Decision } from '../domain/decision.ts'
import { TirelessError } from '../domain/error.ts'
import type { Phase } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import { choiceOfAnswer, choiceOfDecision, type RecordOf, shortened, type ToldCall } from '../domain/payload.ts'
import type { Answer, JournalRecord, Setup } from '../domain/record.ts'
import { type Manifest, newManifest, withRecord } from './manifest.ts'

export interface Divergence {
  readonly step: number
  readonly phase: Phase
  /** What each did there; null where it did nothing like it. */
  readonly a: Json
  readonly b: Json
}

export interface Side {
  readonly run_id: string
  readonly steps: number
  readonly cost_usd: number | null
  readonly stop_reason: string | null
  readonly answer: string | null
  readonly setup: Setup | null
}

export interface Comparison {
  readonly first_divergence: Divergence | null
  readonly a: Side
  readonly b: Side
}

/** Contract: refuses (`conflict`) runs of different tasks and runs that are not over. */
export function compareRuns(a: readonly JournalRecord[], b: readonly JournalRecord[]): Comparison {
  const [one, other] = [manifestOf(a), manifestOf(b)]
  refuse(one, other)
  const deeds = [deedsOf(a), deedsOf(b)] as const
  return {
    first_divergence: firstDivergence(...deeds),
    a: sideOf(one, deeds[0]),
    b: sideOf(other, deeds[1]),
  }
}

function manifestOf(records: readonly JournalRecord[]): Manifest {
  const start = records.find((record) => record.kind === 'run_started')
  const run = { run_id: start?.run_id ?? '', session_id: '' }
  return records.reduce(withRecord, newManifest(run))
}

function refuse(a: Manifest, b: Manifest): void {
  const open = [a, b].find(({ status }) => status === 'running')
  if (open)
    throw new TirelessError('conflict', {
      what: `run ${open.run_id} is not over`,
      fix: 'compare it when it is: see trace list',
    })
  if (a.task !== b.task)
    throw new TirelessError('conflict', {
      what: 'the runs had different tasks',
      got: `${JSON.stringify(shortened(a.task ?? '', 100))} and ${JSON.stringify(shortened(b.task ?? '', 100))}`,
      expected: 'two runs of one task, which differ in what they were made with',
    })
}

/** What the mind did in one phase of one step, whole, so that it can be compared. */
interface Deed {
  readonly step: number
  readonly phase: Phase
  readonly did: Json
}

function deedsOf(records: readonly JournalRecord[]): readonly Deed[] {
  const deeds: Deed[] = []
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
        deeds.push({ step, phase: 'DECIDE', did: answerDeed(record.answer) })
        break
      case 'decided':
        decided = record.decision
        if (decided.kind !== 'branch') deeds.push({ step, phase: 'DECIDE', did: decisionDeed(decided) })
        break
      case 'branched':
        deeds.push({ step, phase: 'DECIDE', did: branchDeed(decided, record) })
        break
      case 'failed':
        deeds.push({ step, phase: record.phase, did: { failed: record.code, ruling: record.ruling.kind } })
        break
      case 'call_settled':
        results.set(record.index, record.result)
        break
      case 'step_committed':
        if (results.size > 0) deeds.push({ step, phase: 'ACT', did: resultsDeed(results) })
        deeds.push({ step, phase: 'CHECK_STOP', did: nextDeed(record.next) })
        break
      case 'run_ended':
        deeds.push({ step, phase: 'END', did: { stop_reason: record.stop_reason, answer: record.answer ?? null } })
        break
      default:
        break
    }
  return deeds
}

function answerDeed(answer: Answer): Json {
  const { kind, calls } = choiceOfAnswer(answer)
  return kind === 'final' && calls.length === 0
    ? { kind, answer: answer.said ?? answer.text }
    : { kind, calls: calls.map(callDeed) }
}

function decisionDeed(decision: Decision): Json {
  const { kind, calls } = choiceOfDecision(decision)
  return decision.kind === 'final' ? { kind, answer: decision.answer } : { kind, calls: calls.map(callDeed) }
}

function branchDeed(decision: Decision | undefined, { candidates, chosen }: RecordOf<'branched'>): Json {
  const all = candidates ?? (decision?.kind === 'branch' ? decision.candidates : [])
  const taken = chosen === null ? undefined : all[chosen]
  return taken ? decisionDeed(taken) : { kind: 'branch', chosen }
}

/** However the arguments were written, and in whatever order. */
function callDeed({ tool, args }: ToldCall): Json {
  if (typeof args !== 'string') return { tool, args: sorted(args) }
  try {
    return { tool, args: sorted(JSON.parse(args) as Json) }
  } catch {
    return { tool, args }
  }
}

const resultsDeed = (results: ReadonlyMap<number, CallResult>): Json =>
  [...results].sort(([a], [b]) => a - b).map(([, { status, content }]) => ({ status, content }))

const nextDeed = (next: RecordOf<'step_committed'>['next']): Json =>
  next.kind === 'end' ? { stop_reason: next.stop_reason } : { next: next.kind }

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}

function firstDivergence(a: readonly Deed[], b: readonly Deed[]): Divergence | null {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [one, other] = [a[i], b[i]]
    if (one && other && JSON.stringify(one) === JSON.stringify(other)) continue
    const at = earlier(one, other)
    if (!at) return null
    const [left, right] = [one, other].map((deed) => (deed && isAt(deed, at) ? deed.did : null))
    return { step: at.step, phase: at.phase, ...whereTheyDiffer(left ?? null, right ?? null) }
  }
  return null
}

const MOST = 1000
const BEFORE = 100

const ORDER = ['OBSERVE', 'DECIDE', 'ACT', 'REDUCE', 'CRITIC', 'CHECK_STOP', 'END']
const isAt = (deed: Deed, at: Deed): boolean => deed.step === at.step && deed.phase === at.phase

function earlier(a: Deed | undefined, b: Deed | undefined): Deed | undefined {
  if (!a || !b) return a ?? b
  if (a.step !== b.step) return a.step < b.step ? a : b
  return ORDER.indexOf(a.phase) <= ORDER.indexOf(b.phase) ? a : b
}

/** Of long ones only what lies around the first difference. */
function whereTheyDiffer(a: Json, b: Json): { readonly a: Json; readonly b: Json } {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)]
  let at = 0
  while (at < left.length && left[at] === right[at]) at += 1
  const from = Math.max(0, at - BEFORE)
  const shown = (did: Json, text: string): Json =>
    text.length <= MOST ? did : `${from > 0 ? '…' : ''}${shortened(text.slice(from), MOST)}`
  return { a: shown(a, left), b: shown(b, right) }
}

const sideOf = (manifest: Manifest, deeds: readonly Deed[]): Side => ({
  run_id: manifest.run_id,
  steps: deeds.at(-1)?.step ?? 0,
  cost_usd: manifest.cost_usd,
  stop_reason: manifest.stop_reason,
  answer: manifest.final_answer,
  setup: manifest.setup,
})
