/**
 * The runs that an undo takes back, with what the journal says of them: their turns, and what reached outside.
 * Must not know: how files, documents and facts are undone.
 */

import { type Dispatch, isTerminal } from '../../domain/dispatch.ts'
import { writesWorkspace } from '../../domain/effect.ts'
import { type JournalRecord, recordsOfRun } from '../../domain/journal-record.ts'
import { readReplyTo } from '../../domain/reply-to.ts'
import { iso } from '../../ports/clock.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'

export interface ChosenRun {
  readonly dispatch: Dispatch
  readonly records: readonly JournalRecord[]
  readonly turns: ReadonlySet<number>
}

const ALL = 100_000

/** Contract: the runs and their descendants, oldest first. */
export async function loadChosenRuns(store: Store, dispatches: readonly Dispatch[]): Promise<readonly ChosenRun[]> {
  const all = await store.dispatches({ limit: ALL })
  const chosen = new Map(dispatches.map((dispatch) => [dispatch.dispatch_id, dispatch]))
  for (let found = -1; found !== chosen.size; ) {
    found = chosen.size
    for (const child of all)
      if (child.parent_id !== null && chosen.has(child.parent_id)) chosen.set(child.dispatch_id, child)
  }
  const journals = new Map<string, readonly JournalRecord[]>()
  const runs: ChosenRun[] = []
  for (const dispatch of chosen.values()) {
    const { session_id, dispatch_id } = dispatch
    const journal = journals.get(session_id) ?? (await fallbackIfUnreadable(store.journal(session_id), []))
    journals.set(session_id, journal)
    const records = recordsOfRun(journal, dispatch_id)
    runs.push({
      dispatch,
      records,
      turns: new Set(records.flatMap((record) => ('turn' in record ? [record.turn] : []))),
    })
  }
  return runs.toSorted((a, b) => (a.dispatch.created_at < b.dispatch.created_at ? -1 : 1))
}

const hasStarted = ({ dispatch, records }: ChosenRun): boolean => records.length > 0 || dispatch.attempts > 0

/** Runs that have begun and not ended. */
export const openRuns = (runs: readonly ChosenRun[]): readonly ChosenRun[] =>
  runs.filter((run) => !isTerminal(run.dispatch.status) && hasStarted(run))

/** Dispatches that have not begun. */
export const unstartedRuns = (runs: readonly ChosenRun[]): readonly ChosenRun[] =>
  runs.filter((run) => !isTerminal(run.dispatch.status) && !hasStarted(run))

/** Contract: whether a call with this key (SESSION.TURN.INDEX) was made by one of the runs. */
export function isCallOf(runs: readonly ChosenRun[], key: string): boolean {
  const [, session, turn] = /^(.*)\.(\d+)\.\d+$/.exec(key) ?? []
  return runs.some(({ dispatch, turns }) => dispatch.session_id === session && turns.has(Number(turn)))
}

/** Something that no undo can take back. */
export interface NotUndone {
  readonly kind: 'message' | 'reply' | 'outside' | 'forgotten' | 'cancelled' | 'no_snapshots'
  readonly run_id: string
  readonly what: string
  readonly at: string | null
}

const MESSAGE_TOOLS = new Set(['send_message', 'ask_user'])
const MAX_ARGS = 120

/** Contract: calls that reached outside and were not refused, messages, forgotten facts, and the reply of the run. */
export function whatStays({ dispatch, records }: ChosenRun): readonly NotUndone[] {
  const { dispatch_id: run_id } = dispatch
  const failed = new Set(
    records.flatMap((r) => (r.kind === 'call_settled' && r.result.status !== 'ok' ? [`${r.turn}.${r.index}`] : [])),
  )
  const stays = records.flatMap((record): readonly NotUndone[] => {
    if (record.kind !== 'call_intended' || failed.has(`${record.turn}.${record.index}`)) return []
    const { call, effect } = record
    const reachesOut = !['none', 'workspace'].includes(effect.reach) && effect.recovery !== 'pure'
    const kind = call.tool === 'forget' ? 'forgotten' : MESSAGE_TOOLS.has(call.tool) ? 'message' : 'outside'
    if (kind === 'outside' && !reachesOut) return []
    return [{ kind, run_id, what: `${call.tool} ${JSON.stringify(call.args).slice(0, MAX_ARGS)}`, at: iso(record.ts) }]
  })
  const isAnswered = dispatch.result !== null && readReplyTo(dispatch.metadata.reply_to) !== undefined
  return isAnswered ? [...stays, { kind: 'reply', run_id, what: dispatch.result, at: dispatch.updated_at }] : stays
}

export const hasWritten = ({ records }: Pick<ChosenRun, 'records'>): boolean =>
  records.some((record) => record.kind === 'call_intended' && writesWorkspace(record.effect))
