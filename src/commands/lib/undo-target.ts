/** What `undo` is asked to take back: a run, a session, the runs of a day, or an earlier undo. */

import type { Dispatch } from '../../domain/dispatch.ts'
import { TirelessError } from '../../domain/error.ts'
import { recordsOfRun } from '../../domain/journal-record.ts'
import { shortId } from '../../domain/short-id.ts'
import { type Undo, undosInForce } from '../../domain/undo.ts'
import type { UndoTarget } from '../../kernel/undo/plan.ts'
import { resolvePeriod } from '../../past/period-arguments.ts'
import { fallbackIfUnreadable } from '../../ports/store.ts'
import type { Needs } from './context.ts'

type Context = Needs<'past' | 'store'>

const ALL = 100_000
const DAY = /^\d{4}-\d\d-\d\d$/

/** An undo that stopped in the middle: asked for again, it is finished. */
interface UnfinishedTarget {
  readonly kind: 'unfinished'
  readonly undo: Undo
}

/** Contract: throws `not_found` if nothing has that name, `conflict` for an undo that was taken back itself. */
export async function resolveUndoTarget(context: Context, target: string): Promise<UndoTarget | UnfinishedTarget> {
  const found = await findUndoTarget(context, target)
  if (found.kind !== 'runs') return found.undo.status === 'running' ? { kind: 'unfinished', undo: found.undo } : found
  const same = (await context.store.unfinishedUndos()).find(
    ({ target: asked, undoes, runs, cancelled }) =>
      asked === found.target &&
      undoes === null &&
      found.dispatches.length > 0 &&
      found.dispatches.every(({ dispatch_id: id }) => runs.includes(id) || cancelled.includes(id)),
  )
  return same ? { kind: 'unfinished', undo: same } : found
}

async function findUndoTarget(context: Context, target: string): Promise<UndoTarget> {
  const { store, past } = context
  const undos = await store.undos({ limit: ALL })
  const undo = undos.find(
    ({ id }) => id === target || shortId(id) === target || (target.length > 8 && id.startsWith(target)),
  )
  if (undo) {
    const isOver = undo.status !== 'running' && !undosInForce(undos).some(({ id }) => id === undo.id)
    if (isOver) throw takenBack(undo.id)
    return { kind: 'undo', target: undo.id, undo }
  }
  const run = await store.dispatch(target)
  if (run) return { kind: 'runs', target, dispatches: [run] }
  const sessions = (await store.sessions({ archived: true, limit: ALL })).map(({ session_id }) => session_id)
  const session =
    sessions.find((id) => id === target) ?? sessions.find((id) => target.length >= 4 && id.startsWith(target))
  if (session !== undefined) {
    const all = await store.dispatches({ limit: ALL })
    return { kind: 'runs', target: session, dispatches: all.filter(({ session_id }) => session_id === session) }
  }
  const days = DAY.test(target) ? { from: target, to: target } : { when: target }
  const found = resolvePeriod(days, past.now(), past.clock())
  if ('problem' in found || !found.period) throw unknownTarget(target)
  return { kind: 'runs', target, dispatches: await runsStartedIn(context, found.period) }
}

async function runsStartedIn(
  { store }: Context,
  period: { readonly from: number; readonly to: number },
): Promise<readonly Dispatch[]> {
  const started: Dispatch[] = []
  for (const dispatch of await store.dispatches({ active: period, limit: ALL })) {
    const journal = await fallbackIfUnreadable(store.journal(dispatch.session_id), [])
    const [first] = recordsOfRun(journal, dispatch.dispatch_id)
    if (first && first.ts >= period.from && first.ts < period.to) started.push(dispatch)
  }
  return started
}

const unknownTarget = (got: string): TirelessError =>
  new TirelessError('not_found', {
    ...{ what: 'nothing to undo has this name', got },
    expected: 'a run, a session, a day (today, yesterday, 2026-11-15) or an undo',
    fix: 'run tireless trace list, or tireless workspace log',
  })

const takenBack = (got: string): TirelessError =>
  new TirelessError('conflict', {
    ...{ what: 'this undo was taken back already', got },
    fix: 'undo the later one, whose id the last undo printed',
  })
