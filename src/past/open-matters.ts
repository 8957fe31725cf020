/** What waits for the owner, with the command to type, and what comes next. */

import type { Approval } from '../domain/approval.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import { CLEAN_LABEL, type Label, UNTRUSTED_LABEL } from '../domain/label.ts'
import type { Need } from '../domain/need.ts'
import { outcomeOf } from '../domain/outcome.ts'
import { shortId } from '../domain/short-id.ts'
import { titleOfRun } from '../domain/title.ts'
import type { UnknownOutcome } from '../domain/unknown-outcome.ts'
import { findOpenNeeds, type OpenNeed } from './open-needs.ts'
import { isWork, labelOfRun, sessionReader } from './past-runs.ts'
import type { PastSources, UpcomingBeat } from './past-sources.ts'
import { countOpenTodos } from './past-todos.ts'

export const MATTER_KINDS = ['approval', 'question', 'unknown', 'other', 'failed', 'paused', 'parked'] as const
export type MatterKind = (typeof MATTER_KINDS)[number]

export interface OpenMatter {
  readonly kind: MatterKind
  readonly id: string
  readonly agent_id: string | null
  readonly title: string
  /** The call that needs approval, the question, the error, or what the run waits for. */
  readonly about: string
  /** Title and content in Chinese; absent: they are the same. */
  readonly zh?: { readonly title: string; readonly about: string }
  readonly since: number
  readonly until: number | null
  /** What the owner can type. */
  readonly commands: readonly string[]
  readonly label: Label
}

export interface OpenMatters {
  readonly matters: readonly OpenMatter[]
  /** Matters that are not listed. */
  readonly left_out: number
  readonly upcoming: readonly UpcomingBeat[]
  /** Todos of all sessions that are not done, and how many of them failed. */
  readonly todos: { readonly open: number; readonly failed: number }
  readonly pending: number
  readonly running: number
}

const MAX_LISTED = 25
const MAX_READ = 200

export async function findOpenMatters(sources: PastSources): Promise<OpenMatters> {
  const { store } = sources
  const needs = await findOpenNeeds(sources)
  const listed = new Set(needs.map(({ need }) => need.run_id))
  const waiting = (await store.dispatches({ status: 'waiting', limit: MAX_READ })).filter(isWork)
  const others = waiting.filter(({ dispatch_id, wait }) => !listed.has(dispatch_id) && wait?.kind !== 'unknown')
  const readSession = sessionReader(sources)
  const describeRun = async (run: Dispatch): Promise<OpenMatter> => {
    const journal = await readSession(run.session_id)
    return matterOfRun(run, labelOfRun(run, journal), lastWords(journal ?? []))
  }
  const describeNeed = ({ need, source }: OpenNeed): OpenMatter | Promise<OpenMatter> => {
    if (source.of === 'approval') return matterOfApproval(sources, source.approval)
    if (source.of === 'unknown') return matterOfUnknown(source.unknown)
    return source.of === 'need' ? matterOfNeed(need) : describeRun(source.run)
  }
  const all = await Promise.all([...needs.map(describeNeed), ...others.map(describeRun)])
  const ordered = all.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
  const { pending, running } = await store.counts()
  const matters = ordered.slice(0, MAX_LISTED)
  const todos = await countOpenTodos(sources)
  const upcoming = await sources.upcoming()
  return { matters, left_out: all.length - matters.length, upcoming, todos, pending, running }
}

const ORDER: readonly MatterKind[] = ['approval', 'unknown', 'question', 'other', 'failed', 'paused', 'parked']

function matterOfUnknown({ id, tool, args, started_at }: UnknownOutcome): OpenMatter {
  return {
    kind: 'unknown',
    id,
    agent_id: null,
    title: tool,
    about: brief(args),
    since: Date.parse(started_at),
    until: null,
    label: UNTRUSTED_LABEL,
    commands: [`unknowns resolve ${shortId(id)} --as happened|not|recheck`],
  }
}

/** It was written by the program itself, which quotes nobody in it. */
function matterOfNeed({ id, agent_id, title, body, asked_at, expires_at, choices }: Need): OpenMatter {
  return {
    kind: 'other',
    id,
    agent_id,
    title: title.text,
    about: body.text,
    zh: { title: title.zh ?? title.text, about: body.zh ?? body.text },
    since: Date.parse(asked_at),
    until: expires_at === null ? null : Date.parse(expires_at),
    label: CLEAN_LABEL,
    commands: choices.map((choice) => `needs answer ${shortId(id)} ${choice.id}`),
  }
}

async function matterOfApproval({ store }: PastSources, approval: Approval): Promise<OpenMatter> {
  const { id, session_id, tool, args, asked_at, expires_at, origin, reason } = approval
  const dispatch = await store.dispatch(origin.run_id)
  const short = shortId(id)
  return {
    ...{ kind: 'approval', id, agent_id: (await store.session(session_id))?.agent_id ?? null },
    title: dispatch ? titleOfRun(dispatch.prompt, dispatch.metadata.behaviour) : tool,
    about: `${tool} ${brief(args)} (${reason})`,
    ...{ since: Date.parse(asked_at), until: Date.parse(expires_at), label: UNTRUSTED_LABEL },
    commands: [`approvals allow ${short}`, `approvals deny ${short}`],
  }
}

/** What the model said last: the question, if the run waits for an answer. */
function lastWords(journal: readonly JournalRecord[]): string {
  const last = journal.findLast((record) => record.kind === 'model_answered')
  return last?.kind === 'model_answered' ? (last.answer.said ?? last.answer.text).trim() : ''
}

function matterOfRun(run: Dispatch, label: Label, words: string): OpenMatter {
  const { dispatch_id: id, session_id, agent_id, prompt, wait, status, updated_at, paused } = run
  const about = outcomeOf(run) ?? ''
  const title = titleOfRun(prompt, run.metadata.behaviour)
  const matter = { id, agent_id, title, about, since: Date.parse(updated_at), label, until: null }
  if (status === 'failed' || status === 'dead')
    return { ...matter, kind: 'failed', commands: [`queue retry ${shortId(id)}`, `trace show ${shortId(id)}`] }
  if (paused) return { ...matter, kind: 'paused', commands: [`queue resume ${shortId(id)}`] }
  const until = wait?.until ?? null
  return wait?.kind === 'observation' && wait.match === 'user_message'
    ? {
        ...matter,
        kind: 'question',
        about: words || about,
        until,
        commands: [`send --session ${shortId(session_id)} "…"`],
      }
    : { ...matter, kind: 'parked', until, commands: [] }
}

const MAX_ARGS = 200

const brief = (args: unknown): string => {
  const text = JSON.stringify(args)
  return text.length > MAX_ARGS ? `${text.slice(0, MAX_ARGS)}…` : text
}
