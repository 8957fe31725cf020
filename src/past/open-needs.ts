/**
 * What waits for the owner: the one list of it, behind `needs list`, the page, `status` and "what waits for me?".
 * Approvals, unknown outcomes, questions and failures are read from their own rows; all else is in the table of needs.
 */

import type { Approval } from '../domain/approval.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import { LOST_COMMITS, type LostCommits } from '../domain/lost-commits.ts'
import type { Need, NeedKind } from '../domain/need.ts'
import { titleOfRun } from '../domain/title.ts'
import type { UnknownOutcome } from '../domain/unknown-outcome.ts'
import { fallbackIfUnreadable } from '../ports/store.ts'
import { listDismissed } from './dismissed-failures.ts'
import { needOfApproval, needOfFailure, needOfLostCommits, needOfQuestion, needOfUnknown } from './need-views.ts'
import { isWork } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'
import { DAY_MS } from './wall-clock.ts'

type NeedSources = Pick<PastSources, 'store' | 'now'>

/** The row behind the need. */
type NeedSource =
  | { readonly of: 'approval'; readonly approval: Approval }
  | { readonly of: 'unknown'; readonly unknown: UnknownOutcome }
  | { readonly of: 'question'; readonly run: Dispatch }
  | { readonly of: 'failure'; readonly run: Dispatch }
  | { readonly of: 'need' }

export interface OpenNeed {
  readonly need: Need
  readonly source: NeedSource
}

/** Most rows of each kind that are listed; the others follow when these are answered. */
const MAX_READ = 500
/** Upper limit when counting. */
const MAX_COUNTED = 10_000
/** Older failures are history. */
const FAILED_DAYS = 7

/** Most urgent first: what holds up a run, then what holds up all of them, then what can wait. */
const ORDER: readonly NeedKind[] = [
  'approval',
  'unknown',
  'question',
  'login',
  'limit',
  'space',
  'clock',
  'folder',
  'failure',
  'proposal',
]

/** Contract: what is most urgent first; of each kind, stored ones newest first. */
export async function findOpenNeeds(sources: NeedSources): Promise<readonly OpenNeed[]> {
  const { store } = sources
  const { approvals, questions, unknowns } = await readWaiting(sources, MAX_READ)
  const agentOf = async (session_id: string): Promise<string | null> =>
    (await fallbackIfUnreadable(store.session(session_id), undefined))?.agent_id ?? null
  const found: OpenNeed[] = []
  for (const approval of approvals) {
    const need = needOfApproval(approval, await agentOf(approval.session_id))
    found.push({ need, source: { of: 'approval', approval } })
  }
  for (const unknown of unknowns) {
    const need = needOfUnknown(unknown, await agentOf(unknown.session_id))
    found.push({ need, source: { of: 'unknown', unknown } })
  }
  for (const run of questions) found.push({ need: needOfQuestion(run), source: { of: 'question', run } })
  for (const need of await readStoredNeeds(sources)) found.push({ need, source: { of: 'need' } })
  for (const { run, count } of await findOpenFailures(sources))
    found.push({ need: needOfFailure(run, count), source: { of: 'failure', run } })
  return found.toSorted((a, b) => ORDER.indexOf(a.need.kind) - ORDER.indexOf(b.need.kind))
}

/** Contract: those that have no row elsewhere, newest first; lost commits before them. */
export async function readStoredNeeds({ store, now }: NeedSources): Promise<readonly Need[]> {
  const lost = (await fallbackIfUnreadable(store.setting(LOST_COMMITS), null)) as LostCommits | null
  const { items } = await store.needs({ status: 'open', limit: MAX_READ })
  return lost === null ? items : [needOfLostCommits(lost, now()), ...items]
}

/** Kinds that say that something is wrong, and not only that an answer is missing. */
const TROUBLE: ReadonlySet<NeedKind> = new Set<NeedKind>(['failure', 'space', 'folder', 'limit'])

/** Contract: what is wrong until the owner has looked, for health. Lost commits are told apart. */
export async function listTroubles({ store }: Pick<NeedSources, 'store'>): Promise<readonly Need[]> {
  return (await store.needs({ status: 'open', limit: MAX_READ })).items.filter(({ kind }) => TROUBLE.has(kind))
}

interface NeedCounts {
  readonly approvals: number
  readonly questions: number
  readonly unknowns: number
}

type CountSources = Pick<NeedSources, 'store'>

/** Contract: how many calls, questions and interrupted calls wait for the owner. */
export async function countWaiting(sources: CountSources): Promise<NeedCounts> {
  const { approvals, questions, unknowns } = await readWaiting(sources, MAX_COUNTED)
  return { approvals: approvals.length, questions: questions.length, unknowns: unknowns.length }
}

/** A run that waits for a message is a question, unless it waits for an approval. */
async function readWaiting({ store }: CountSources, limit: number) {
  const approvals = await store.approvals({ status: 'open', limit })
  const asking = new Set(approvals.map(({ session_id }) => session_id))
  const waiting = await store.dispatches({ status: 'waiting', limit })
  const questions = waiting.filter((run) => isQuestion(run) && !asking.has(run.session_id))
  const unknowns = await store.unknowns({ status: 'open' })
  return { approvals, questions, unknowns }
}

const isQuestion = ({ wait }: Dispatch): boolean => wait?.kind === 'observation' && wait.match === 'user_message'

interface OpenFailure {
  readonly run: Dispatch
  readonly count: number
}

/**
 * Failed and dead runs of the last days that no later run made good and the owner has not put aside, newest first. The
 * failures of one agent at one task are one matter.
 */
async function findOpenFailures({ store, now }: NeedSources): Promise<readonly OpenFailure[]> {
  const since = now() - FAILED_DAYS * DAY_MS
  const failed = await store.dispatches({ status: 'failed', limit: MAX_READ })
  const dead = await store.dispatches({ status: 'dead', limit: MAX_READ })
  const all = [...failed, ...dead].filter((run) => isWork(run) && Date.parse(run.updated_at) >= since)
  if (all.length === 0) return []
  const dismissed = new Set(await listDismissed(store))
  const newest = await store.dispatches({ active: { from: since, to: now() + 1 }, limit: MAX_READ })
  const madeGood = new Map<string, number>()
  for (const run of newest.filter(({ status }) => status === 'done'))
    madeGood.set(taskOf(run), Math.max(madeGood.get(taskOf(run)) ?? 0, Date.parse(run.created_at)))
  const open = all.filter(
    (run) => !dismissed.has(run.dispatch_id) && Date.parse(run.created_at) >= (madeGood.get(taskOf(run)) ?? 0),
  )
  const newestFirst = open.toSorted((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at))
  return [...Map.groupBy(newestFirst, taskOf).values()].flatMap((runs) => {
    const [run] = runs
    return run ? [{ run, count: runs.length }] : []
  })
}

const taskOf = ({ agent_id, prompt, metadata }: Dispatch): string =>
  `${agent_id} ${titleOfRun(prompt, metadata.behaviour)}`

/** Contract: the need with this id, open or not. */
export async function findNeed(sources: NeedSources, id: string): Promise<Need | undefined> {
  const open = (await findOpenNeeds(sources)).find(({ need }) => need.id === id)
  return open?.need ?? (await listEndedNeeds(sources)).find((need) => need.id === id) ?? sources.store.need(id)
}

/** Contract: what was answered or has ended by itself, latest first. Runs that went on are not among them. */
export async function listEndedNeeds({ store }: NeedSources): Promise<readonly Need[]> {
  const answered = await store.needs({ status: 'answered', limit: MAX_READ })
  const withdrawn = await store.needs({ status: 'withdrawn', limit: MAX_READ })
  const approvals = (await store.approvals({ limit: MAX_READ })).filter(({ status }) => status !== 'open')
  const unknowns = (await store.unknowns({})).filter(({ status }) => status === 'resolved').slice(0, MAX_READ)
  const ended = [
    ...answered.items,
    ...withdrawn.items,
    ...approvals.map((approval) => needOfApproval(approval, null)),
    ...unknowns.map((unknown) => needOfUnknown(unknown, null)),
  ]
  return ended.toSorted((a, b) => Date.parse(b.ended_at ?? '') - Date.parse(a.ended_at ?? ''))
}
