/**
 * Performs an undo, finishes one that stopped in the middle, or gives it up.
 * Must not know: how the plan was made.
 * Invariants: the undo is recorded before anything changes; every step can be repeated; the last commit ends it, with
 * all changes of the store. A path that is neither as the plan found it nor as the undo leaves it is never changed. No
 * dispatch is claimed meanwhile (the caller sees to it). Only a process of its home finishes it: that home has the
 * files, and its lock shows that no other process is at it.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { PathChange } from '../../domain/path-change.ts'
import type { KeptByUndo, NewUndo, Undo } from '../../domain/undo.ts'
import type { ChangeProgress, PathLeft } from '../../ports/snapshots.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'
import { takeBackVersions } from './documents.ts'
import type { UndoDeps } from './plan.ts'
import { halfDoneError } from './unfinished.ts'

/** Undos that this process performs now: they are not finished, and nothing is wrong with them. */
const inProgress = new Set<string>()
export const isInProgress = ({ id }: Pick<Undo, 'id'>): boolean => inProgress.has(id)

/** Contract: resolves when the undo is done, with what it kept; throws `undo_unfinished` if it is half done. */
export async function performUndo(deps: UndoDeps, undo: NewUndo): Promise<readonly KeptByUndo[]> {
  const { snapshots, store, clock } = deps
  for (const { workspace } of undo.workspaces)
    if ((await snapshots.take(workspace, { run_id: undo.id, turn: 0, before: true })) === undefined)
      throw new TirelessError('conflict', {
        what: 'no snapshot of the present files could be taken, so nothing was undone',
        where: workspace,
        fix: 'see tireless doctor and tireless logs; is the disk full?',
      })
  return whileInProgress(undo, async () => {
    try {
      await commitOne(store, [{ op: 'undo_begin', undo: { ...undo, home: deps.homeId }, now: clock.now() }])
    } catch (cause) {
      const { problem: got } = asTirelessError(cause)
      const what = 'the undo could not be recorded, so nothing was undone'
      throw new TirelessError('conflict', { what, got, fix: 'see tireless doctor; is the disk full?' }, { cause })
    }
    return carryOut(deps, undo)
  })
}

async function whileInProgress<T>({ id }: NewUndo, work: () => Promise<T>): Promise<T> {
  inProgress.add(id)
  try {
    return await work()
  } finally {
    inProgress.delete(id)
  }
}

/** Contract: as `performUndo`, for an undo that stopped in the middle. What was written since stays. */
export function finishUndo(deps: UndoDeps, undo: Undo): Promise<readonly KeptByUndo[]> {
  return whileInProgress(undo, async () => {
    for (const { workspace } of undo.workspaces)
      if ((await deps.snapshots.take(workspace, { run_id: undo.id, turn: 1 })) === undefined)
        throw halfDoneError(undo, [], `no snapshot of the present files of ${workspace} could be taken first`)
    return carryOut(deps, undo)
  })
}

/** Contract: the undo is over; what it changed stays changed, the rest stays as it is. Returns that rest. */
export async function giveUpUndo(deps: UndoDeps, undo: Undo): Promise<readonly KeptByUndo[]> {
  const { snapshots, store, clock } = deps
  const kept: KeptByUndo[] = []
  for (const { workspace, changes } of undo.workspaces) {
    try {
      // A file that is half written is no state to leave it in; unfinished files beside it go.
      const left = await snapshots.restore(workspace, changes, undo.id, 'partly')
      kept.push(...left.map((one) => keptPath(workspace, one)))
    } catch {
      // The folder is gone: there is nothing to clean up.
    }
    kept.push(...(await keptOf(deps, undo, { workspace, changes })))
    await snapshots.take(workspace, { run_id: undo.id, turn: 1 })
  }
  await commitOne(store, [{ op: 'undo_end', id: undo.id, how: 'given_up', kept, now: clock.now() }])
  return kept
}

async function keptOf(
  { snapshots }: UndoDeps,
  { id }: Undo,
  { workspace, changes }: NewUndo['workspaces'][number],
): Promise<readonly KeptByUndo[]> {
  const progress = await snapshots.progress(workspace, changes, id).catch(() => new Map<string, ChangeProgress>())
  const notDone = changes.filter(({ path }) => progress.get(path) !== 'done')
  return notDone.map(({ path }) => ({
    workspace,
    name: path,
    why: progress.get(path) === 'changed_since' ? 'changed_since' : 'given_up',
    error: null,
  }))
}

/** What finishing an undo would do. */
interface FinishPlan {
  readonly workspaces: readonly { readonly workspace: string; readonly changes: readonly PathChange[] }[]
  readonly kept: readonly KeptByUndo[]
  /** Folders that are gone, or cannot be read. */
  readonly missing: readonly string[]
}

/** Contract: changes nothing. */
export async function planFinish({ snapshots }: UndoDeps, undo: Undo): Promise<FinishPlan> {
  const workspaces: { workspace: string; changes: readonly PathChange[] }[] = []
  const kept: KeptByUndo[] = []
  const missing: string[] = []
  for (const { workspace, changes } of undo.workspaces) {
    const progress = await snapshots.progress(workspace, changes, undo.id).catch(() => undefined)
    if (!progress) {
      missing.push(workspace)
      continue
    }
    const isAt = (...states: readonly ChangeProgress[]) =>
      changes.filter(({ path }) => states.includes(progress.get(path) ?? 'to_do'))
    workspaces.push({ workspace, changes: isAt('to_do', 'partly') })
    for (const { path } of isAt('changed_since'))
      kept.push(keptPath(workspace, { path, why: 'changed_since', error: null }))
  }
  return { workspaces, kept, missing }
}

/**
 * Contract: finishes the undos of this home that a kill interrupted, where nobody has written since; the others stay
 * for their owner. Never rejects because of an undo.
 */
export async function finishInterruptedUndos(
  deps: UndoDeps,
): Promise<readonly { readonly id: string; readonly error: string | null }[]> {
  const ended: { id: string; error: string | null }[] = []
  for (const undo of await deps.store.unfinishedUndos()) {
    if (isElsewhere(undo, deps) || undo.stopped !== undefined || isInProgress(undo)) continue
    try {
      const { kept, missing } = await planFinish(deps, undo)
      const why = missing.length > 0 ? `${missing.join(', ')} cannot be read` : 'files were changed since a crash'
      if (kept.length + missing.length > 0) throw await stop(deps, undo, kept, why)
      await finishUndo(deps, undo)
      ended.push({ id: undo.id, error: null })
    } catch (thrown) {
      ended.push({ id: undo.id, error: asTirelessError(thrown).message })
    }
  }
  return ended
}

export const isElsewhere = ({ home }: NewUndo, { homeId }: Pick<UndoDeps, 'homeId'>): boolean =>
  home !== undefined && homeId !== undefined && home !== homeId

async function carryOut(deps: UndoDeps, undo: NewUndo): Promise<readonly KeptByUndo[]> {
  const kept: KeptByUndo[] = []
  const problems: string[] = []
  for (const { workspace, changes } of undo.workspaces)
    try {
      const left = await deps.snapshots.restore(workspace, changes, undo.id)
      kept.push(...left.map((one) => keptPath(workspace, one)))
      if ((await deps.snapshots.take(workspace, { run_id: undo.id, turn: 1 })) === undefined)
        problems.push(`no snapshot of the files of ${workspace} could be taken afterwards`)
    } catch (thrown) {
      problems.push(asTirelessError(thrown).problem)
    }
  if (kept.some(({ why }) => why === 'failed') || problems.length > 0)
    throw await stop(deps, undo, kept, problems.join('; '))
  return endWork(deps, undo, kept)
}

/** Documents, facts and dispatches: what is not in files. */
async function endWork(
  deps: UndoDeps,
  undo: NewUndo,
  keptFiles: readonly KeptByUndo[],
): Promise<readonly KeptByUndo[]> {
  const kept = [...keptFiles]
  try {
    for (const { name, versions } of undo.documents)
      if ((await takeBackVersions(deps.documents, undo.id, versions)).length > 0)
        kept.push({ workspace: null, name, why: 'changed_since', error: null })
    await commitEnd(deps, undo, kept)
    return kept
  } catch (thrown) {
    throw await stop(deps, undo, keptFiles, asTirelessError(thrown).problem)
  }
}

/**
 * Contract: the error that says that the undo is half done, once that is recorded. Without a record, because the store
 * fails too, the next start takes it for interrupted by a kill: that is right, as it compares every path first.
 */
async function stop(
  deps: UndoDeps,
  undo: NewUndo,
  kept: readonly KeptByUndo[],
  problem: string,
): Promise<TirelessError> {
  const error = halfDoneError(undo, kept, problem)
  await commitOne(deps.store, [{ op: 'undo_stop', id: undo.id, why: error.parts.got ?? '', kept }]).catch(() => {})
  return error
}

const keptPath = (workspace: string, { path, why, error }: PathLeft): KeptByUndo => {
  return { workspace, name: path, why, error }
}

const MAX_ATTEMPTS = 5

/** A run elsewhere may change a fact meanwhile; then that fact stays as it is. */
async function commitEnd({ store, clock }: UndoDeps, undo: NewUndo, kept: readonly KeptByUndo[]): Promise<void> {
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
        { op: 'undo_end', id: undo.id, how: 'done', kept, now },
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
