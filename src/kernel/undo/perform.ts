/**
 * Performs an undo, and finishes one that a killed process began.
 * Must not know: how the plan was made.
 * Invariants: the undo is recorded before anything changes; every step can be repeated; the last commit ends it, with
 * all changes of the store. No dispatch is claimed meanwhile (the caller sees to it). Only a process of its home
 * finishes it: that home has the files, and its lock shows that no other process is at it.
 */

import { TirelessError } from '../../domain/error.ts'
import type { NewUndo } from '../../domain/undo.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'
import { takeBackVersions } from './documents.ts'
import type { UndoDeps } from './plan.ts'

/** Contract: resolves when the undo is done. */
export async function performUndo(deps: UndoDeps, undo: NewUndo): Promise<void> {
  for (const { workspace } of undo.workspaces)
    await deps.snapshots.take(workspace, { run_id: undo.id, turn: 0, before: true })
  const recorded = { ...undo, home: deps.homeId }
  await commitOne(deps.store, [{ op: 'undo_begin', undo: recorded, now: deps.clock.now() }])
  await finish(deps, undo)
}

/** Contract: finishes the undo that a killed process of this home began, if there is one; returns its id. */
export async function finishInterruptedUndo(deps: UndoDeps): Promise<string | undefined> {
  const undo = await deps.store.unfinishedUndo()
  if (!undo || isElsewhere(undo, deps)) return undefined
  await finish(deps, undo)
  return undo.id
}

/** Contract: throws `conflict` if another home has not finished an undo. */
export async function refuseWhileUndoingElsewhere(deps: UndoDeps): Promise<void> {
  const undo = await deps.store.unfinishedUndo()
  if (undo?.home === undefined || !isElsewhere(undo, deps)) return
  const [seen] = await deps.store.homes([undo.home], deps.clock.now())
  throw new TirelessError('conflict', {
    what: 'another undo is not finished, so nothing was undone',
    got: `${undo.id} in the home on ${seen?.host || 'another machine'}`,
    fix: 'wait for it; if no process runs there, start Tireless there, which finishes it',
  })
}

const isElsewhere = ({ home }: NewUndo, { homeId }: UndoDeps): boolean =>
  home !== undefined && homeId !== undefined && home !== homeId

async function finish(deps: UndoDeps, undo: NewUndo): Promise<void> {
  for (const { workspace, changes } of undo.workspaces) {
    await deps.snapshots.restore(workspace, changes, undo.id)
    await deps.snapshots.take(workspace, { run_id: undo.id, turn: 1 })
  }
  for (const { versions } of undo.documents) await takeBackVersions(deps.documents, undo.id, versions)
  await commitEnd(deps, undo)
}

const MAX_ATTEMPTS = 5

/** A run elsewhere may change a fact meanwhile; then that fact stays as it is. */
async function commitEnd({ store, clock }: UndoDeps, undo: NewUndo): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const now = clock.now()
    const facts = await stillFitting(store, undo, now)
    const cancel = undo.cancelled.map(
      (dispatch_id): Op => ({ op: 'cancel', dispatch_id, how: 'immediate', now, reason: `undone by ${undo.id}` }),
    )
    try {
      await commitOne<readonly Op[]>(store, [
        ...(facts.length === 0 ? [] : [{ op: 'change_facts', changes: facts } as const]),
        ...cancel,
        { op: 'undo_end', id: undo.id, now },
      ])
      return
    } catch (thrown) {
      if (!(thrown instanceof TirelessError && thrown.code === 'conflict') || attempt === MAX_ATTEMPTS) throw thrown
    }
  }
}

async function stillFitting(store: Store, { facts }: NewUndo, now: number): Promise<NewUndo['facts']> {
  if (facts.length === 0) return []
  const present = new Map(
    (await store.facts({ over: true, now, limit: 100_000 })).map(({ id, status }) => [id, status]),
  )
  return facts.filter(({ id, from }) => present.get(id) === from)
}
