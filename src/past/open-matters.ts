/** What waits for the owner, with the command to type, and what comes next. */

import type { Approval } from '../domain/approval.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import { type Label, UNTRUSTED_LABEL } from '../domain/label.ts'
import { outcomeOf } from '../domain/outcome.ts'
import { shortId } from '../domain/short-id.ts'
import { titleOfRun } from '../domain/title.ts'
import { listDismissed } from './dismissed-failures.ts'
import { isWork, labelOfRun, sessionReader } from './past-runs.ts'
import type { PastSources, UpcomingBeat } from './past-sources.ts'
import { countOpenTodos } from './past-todos.ts'
import { DAY_MS } from './wall-clock.ts'

export type MatterKind = 'approval' | 'question' | 'unknown' | 'failed' | 'paused' | 'parked'

export interface OpenMatter {
  readonly kind: MatterKind
  readonly id: string
  readonly agent_id: string | null
  readonly title: string
  /** The call that needs approval, the question, the error, or what the run waits for. */
  readonly about: string
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
/** Failures before this are no open matters. */
const FAILED_DAYS = 7

export async function findOpenMatters(sources: PastSources): Promise<OpenMatters> {
  const { store } = sources
  const approvals = await store.approvals({ status: 'open', limit: MAX_READ })
  const waiting = (await store.dispatches({ status: 'waiting', limit: MAX_READ })).filter(isWork)
  const unknowns = await store.unknowns({ status: 'open' })
  const asking = new Set(approvals.map(({ session_id }) => session_id))
  const runs = [...waiting.filter(({ session_id }) => !asking.has(session_id)), ...(await openFailures(sources))]
  const readSession = sessionReader(sources)
  const ofRuns = await Promise.all(
    runs
      .filter(({ wait }) => wait?.kind !== 'unknown')
      .map(async (run) => {
        const journal = await readSession(run.session_id)
        return matterOfRun(run, labelOfRun(run, journal), lastWords(journal ?? []))
      }),
  )
  const all = [
    ...(await Promise.all(approvals.map((approval) => matterOfApproval(sources, approval)))),
    ...unknowns.map(
      ({ id, tool, args, started_at }): OpenMatter => ({
        ...{ kind: 'unknown', id, agent_id: null, title: tool, about: brief(args), since: Date.parse(started_at) },
        ...{ until: null, label: UNTRUSTED_LABEL },
        commands: [`unknowns resolve ${shortId(id)} --as happened|not|recheck`],
      }),
    ),
    ...ofRuns.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)),
  ]
  const { pending, running } = await store.counts()
  const matters = all.slice(0, MAX_LISTED)
  const todos = await countOpenTodos(sources)
  const upcoming = await sources.upcoming()
  return { matters, left_out: all.length - matters.length, upcoming, todos, pending, running }
}

const ORDER: readonly MatterKind[] = ['approval', 'unknown', 'question', 'failed', 'paused', 'parked']

/** Failed and dead runs of the last days that no later run made good and the owner has not put aside. */
async function openFailures({ store, now }: PastSources): Promise<readonly Dispatch[]> {
  const active = { from: now() - FAILED_DAYS * DAY_MS, to: now() + 1 }
  const newest = (await store.dispatches({ active, limit: MAX_READ })).filter(isWork)
  const dismissed = new Set(await listDismissed(store))
  const madeGood = new Set<string>()
  return newest.filter((dispatch) => {
    const task = `${dispatch.agent_id} ${titleOfRun(dispatch.prompt, dispatch.metadata.behaviour)}`
    if (dispatch.status === 'done') madeGood.add(task)
    const isFailed = dispatch.status === 'failed' || dispatch.status === 'dead'
    return isFailed && !madeGood.has(task) && !dismissed.has(dispatch.dispatch_id)
  })
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
