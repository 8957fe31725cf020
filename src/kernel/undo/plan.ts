/**
 * Plans an undo: what would be taken back, and what stays. Changes nothing.
 * Must not know: who asks, and how a plan is shown.
 * Invariant: work that someone else built on is a conflict, and then nothing is undone.
 */

import type { Dispatch } from '../../domain/dispatch.ts'
import type { Fact } from '../../domain/fact.ts'
import { isFolderState, type Omission, parentsOf } from '../../domain/path-change.ts'
import { type KeptByUndo, type NewUndo, type Undo, undoneRuns } from '../../domain/undo.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Documents } from '../../ports/documents.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Snapshots, WriteSpan } from '../../ports/snapshots.ts'
import type { Store } from '../../ports/store.ts'
import {
  type ChosenRun,
  hasWritten,
  isCallOf,
  loadChosenRuns,
  type NotUndone,
  openRuns,
  unstartedRuns,
  whatStays,
} from './chosen-runs.ts'
import { type DocumentConflict, planDocumentUndo, UNDONE_DOCUMENT, versionOfUndo } from './documents.ts'
import { type FactConflict, planFactRedo, planFactUndo } from './plan-facts.ts'
import type { FileConflict, FileUndoOptions, UncertainPath } from './plan-files.ts'
import { planRestorableFiles, type RestorableFiles } from './restorable-files.ts'

export interface UndoDeps {
  readonly store: Store
  readonly snapshots: Snapshots
  readonly documents: Documents
  readonly clock: Clock
  readonly ids: Ids
  /** The id of this home, if several homes share the store. */
  readonly homeId?: string | undefined
}

/** What is to be taken back: the work of runs, or an earlier undo. */
export type UndoTarget =
  | {
      readonly kind: 'runs'
      readonly target: string
      readonly dispatches: readonly Dispatch[]
      /** Takes back what changed between a crash and the restart, too. */
      readonly withUncertain?: boolean
    }
  | { readonly kind: 'undo'; readonly target: string; readonly undo: Undo }

/** Why nothing can be undone now. */
export type UndoConflict =
  | ({ readonly kind: 'file' } & FileConflict)
  | ({ readonly kind: 'document' } & DocumentConflict)
  | ({ readonly kind: 'fact' } & FactConflict)
  | { readonly kind: 'open'; readonly run_id: string; readonly workspace: string | null }
  | { readonly kind: 'unreadable'; readonly workspace: string }
  | { readonly kind: 'damaged'; readonly workspace: string }
  | { readonly kind: 'elsewhere'; readonly run_id: string; readonly host: string }
  /** `where`: the path of both; null: the work of the same runs. */
  | { readonly kind: 'unfinished'; readonly undo: Undo; readonly where: string | null }

export interface UndoPlan {
  readonly undo: NewUndo
  readonly runs: readonly Dispatch[]
  readonly facts: readonly { readonly fact: Fact; readonly to: string }[]
  readonly stays: readonly NotUndone[]
  readonly omitted: readonly { readonly workspace: string; readonly path: string; readonly why: Omission }[]
  /** Paths that changed between a crash and the restart. */
  readonly uncertain: readonly (UncertainPath & { readonly workspace: string })[]
  /** Paths whose content of before is missing or damaged. */
  readonly lost: readonly { readonly workspace: string; readonly path: string }[]
  readonly conflicts: readonly UndoConflict[]
}

const ALL = 100_000

export async function planUndo(deps: UndoDeps, target: UndoTarget): Promise<UndoPlan> {
  const id = `undo-${deps.ids.next()}`
  const plan = target.kind === 'undo' ? await planRedo(deps, id, target) : await planUndoOfRuns(deps, id, target)
  const overlaps = findOverlaps(plan.undo, await deps.store.unfinishedUndos())
  return { ...plan, conflicts: [...plan.conflicts, ...overlaps] }
}

/** Undos that are not finished, and that change the same paths, facts or runs. Others are not in the way. */
function findOverlaps(planned: NewUndo, unfinished: readonly Undo[]): readonly UndoConflict[] {
  return unfinished.flatMap((undo): readonly UndoConflict[] => {
    const runs = new Set([...undo.runs, ...undo.cancelled])
    const facts = new Set(undo.facts.map(({ id }) => id))
    if ([...planned.runs, ...planned.cancelled].some((run) => runs.has(run)) || planned.undoes === undo.id)
      return [{ kind: 'unfinished', undo, where: null }]
    if (planned.facts.some(({ id }) => facts.has(id))) return [{ kind: 'unfinished', undo, where: null }]
    const where = commonPath(planned, undo)
    return where === undefined ? [] : [{ kind: 'unfinished', undo, where }]
  })
}

/** A path that both change, or that is in a folder that the other changes from or to something else. */
function commonPath(one: NewUndo, other: NewUndo): string | undefined {
  for (const { workspace, changes } of one.workspaces) {
    const others = other.workspaces.find((also) => also.workspace === workspace)?.changes ?? []
    const paths = new Set(others.map(({ path }) => path))
    const inside = new Set(others.flatMap(({ path }) => parentsOf(path)))
    for (const { path, before, after } of changes) {
      const isFolder = isFolderState(before ?? after) && isFolderState(after ?? before)
      if (paths.has(path) || (!isFolder && inside.has(path))) return path
    }
  }
  return undefined
}

async function planUndoOfRuns(
  deps: UndoDeps,
  id: string,
  { target, dispatches, withUncertain = false }: Extract<UndoTarget, { kind: 'runs' }>,
): Promise<UndoPlan> {
  const { store, documents, clock } = deps
  const undone = undoneRuns(await store.undos({ limit: ALL }))
  const left = dispatches.filter(({ dispatch_id }) => !undone.has(dispatch_id))
  const runs = (await loadChosenRuns(store, left)).filter(({ dispatch }) => !undone.has(dispatch.dispatch_id))
  const ids = runs.map(({ dispatch }) => dispatch.dispatch_id)
  const spans = await deps.snapshots.spans([...ids, ...ids.map((run) => `merge-${run}`)])
  const files = await planFiles(deps, spans, () => ({ withUncertain }))
  const cycles = await cyclesOf(store, runs)
  const document = await planDocumentUndo(documents, ({ reason, cycle_id, author }) => {
    const [, call] = /^edit_state (.+)$/.exec(reason) ?? []
    return call === undefined ? author === 'system' && cycles.has(cycle_id ?? '') : isCallOf(runs, call)
  })
  const all = await store.facts({ over: true, now: clock.now(), limit: ALL })
  const facts = planFactUndo(all, (fact) => isCallOf(runs, fact.id), { undo: id, now: clock.now() })
  const cancelled = unstartedRuns(runs).map(({ dispatch }) => dispatch.dispatch_id)
  return {
    undo: {
      ...{ id, target, runs: ids.filter((run) => !cancelled.includes(run)), undoes: null, cancelled },
      workspaces: files.workspaces,
      documents: document.versions.length === 0 ? [] : [{ name: UNDONE_DOCUMENT, versions: document.versions }],
      facts: facts.changes,
    },
    runs: runs.map(({ dispatch }) => dispatch),
    facts: describeFacts(all, facts.changes),
    stays: [...runs.flatMap(whatStays), ...runs.flatMap((run) => withoutSnapshots(run, spans))],
    omitted: files.omitted,
    uncertain: files.uncertain,
    lost: files.lost,
    conflicts: [
      ...openRuns(runs).map(
        ({ dispatch }) => ({ kind: 'open', run_id: dispatch.dispatch_id, workspace: null }) as const,
      ),
      ...(await writtenElsewhere(deps, runs, spans)),
      ...files.conflicts,
      ...document.conflicts.map((conflict) => ({ kind: 'document', ...conflict }) as const),
      ...facts.conflicts.map((conflict) => ({ kind: 'fact', ...conflict }) as const),
    ],
  }
}

async function planRedo(
  deps: UndoDeps,
  id: string,
  { target, undo }: Extract<UndoTarget, { kind: 'undo' }>,
): Promise<UndoPlan> {
  const { store, documents, clock } = deps
  const changed = changedBy(undo)
  const files = await planFiles(deps, await deps.snapshots.spans([undo.id]), (workspace) => ({
    only: changed.get(workspace) ?? new Set(),
  }))
  const written = await versionOfUndo(documents, undo.id)
  const document = await planDocumentUndo(documents, ({ version }) => version === written?.version)
  const all = await store.facts({ over: true, now: clock.now(), limit: ALL })
  const isDone = undo.status === 'done'
  // The commit that ends an undo changes facts and cancels dispatches; one that was given up has not come to it.
  const facts = isDone ? planFactRedo(all, undo) : { changes: [], conflicts: [] }
  const runs = await Promise.all(undo.runs.map((run) => store.dispatch(run)))
  return {
    undo: {
      ...{ id, target, runs: undo.runs, undoes: undo.id, cancelled: [] },
      workspaces: files.workspaces,
      documents: document.versions.length === 0 ? [] : [{ name: UNDONE_DOCUMENT, versions: document.versions }],
      facts: facts.changes,
    },
    runs: runs.filter((run) => run !== undefined),
    facts: describeFacts(all, facts.changes),
    stays: (isDone ? undo.cancelled : []).map((run_id) => ({
      ...({ kind: 'cancelled', run_id, what: run_id } as const),
      at: undo.ended_at,
    })),
    omitted: files.omitted,
    uncertain: files.uncertain,
    lost: files.lost,
    conflicts: [
      ...(await undoneElsewhere(deps, undo)),
      ...files.conflicts,
      ...document.conflicts.map((conflict) => ({ kind: 'document', ...conflict }) as const),
      ...facts.conflicts.map((conflict) => ({ kind: 'fact', ...conflict }) as const),
    ],
  }
}

/** The paths that an undo changed: what it kept is not its work. */
function changedBy({ workspaces, kept = [] }: Undo): ReadonlyMap<string, ReadonlySet<string>> {
  const isKept = new Set(kept.map((one: KeptByUndo) => `${one.workspace}\n${one.name}`))
  return new Map(
    workspaces.map(({ workspace, changes }) => [
      workspace,
      new Set(changes.map(({ path }) => path).filter((path) => !isKept.has(`${workspace}\n${path}`))),
    ]),
  )
}

interface PlannedFiles extends Pick<UndoPlan, 'uncertain' | 'lost' | 'omitted' | 'conflicts'> {
  readonly workspaces: NewUndo['workspaces']
}

async function planFiles(
  deps: UndoDeps,
  spans: readonly WriteSpan[],
  optionsOf: (workspace: string) => FileUndoOptions,
): Promise<PlannedFiles> {
  const undos: RestorableFiles[] = []
  const conflicts: UndoConflict[] = []
  const running = await deps.store.dispatches({ status: 'running', limit: ALL })
  for (const [workspace, [first, ...rest]] of Map.groupBy(spans, (span) => span.workspace)) {
    if (!first) continue
    for (const { dispatch_id, session_id } of running)
      if ((await deps.store.session(session_id))?.workspace === workspace)
        conflicts.push({ kind: 'open', run_id: dispatch_id, workspace })
    const present = await deps.snapshots.look(workspace)
    if (present === undefined) {
      conflicts.push({ kind: 'unreadable', workspace })
      continue
    }
    const planned = await planRestorableFiles(deps.snapshots, [first, ...rest], present, optionsOf(workspace))
    if (planned === undefined) conflicts.push({ kind: 'damaged', workspace })
    else undos.push(planned)
  }
  return {
    workspaces: undos
      .map(({ workspace, changes }) => ({ workspace, changes }))
      .filter(({ changes }) => changes.length > 0),
    conflicts: [
      ...conflicts,
      ...undos.flatMap((undo) => undo.conflicts.map((one) => ({ kind: 'file', ...one }) as const)),
    ],
    lost: undos.flatMap(({ workspace, lost }) => lost.map((path) => ({ workspace, path }))),
    uncertain: undos.flatMap(({ workspace, uncertain }) => uncertain.map((one) => ({ workspace, ...one }))),
    omitted: undos.flatMap(({ workspace, omitted }) => [...omitted].map(([path, why]) => ({ workspace, path, why }))),
  }
}

/** Cycles of which all runs are chosen: what they wrote of their runs into STATE.md goes, too. */
async function cyclesOf(store: Store, runs: readonly ChosenRun[]): Promise<ReadonlySet<string>> {
  const chosen = new Set(runs.map(({ dispatch }) => dispatch.dispatch_id))
  const cycles = new Set(runs.flatMap(({ dispatch }) => dispatch.cycle_id ?? []))
  for (const cycle of cycles)
    if (!(await store.dispatchesOf(cycle)).every(({ dispatch_id }) => chosen.has(dispatch_id))) cycles.delete(cycle)
  return cycles
}

/** On a shared store, the snapshots of a run are in the home that has its files. */
async function writtenElsewhere(
  { store, clock, homeId }: UndoDeps,
  runs: readonly ChosenRun[],
  spans: readonly WriteSpan[],
): Promise<readonly UndoConflict[]> {
  const missing = runs.flatMap((run) => withoutSnapshots(run, spans).map(() => run.dispatch))
  const away = missing.flatMap(({ dispatch_id, home = homeId }) =>
    home === undefined || home === homeId ? [] : [{ dispatch_id, home }],
  )
  const homes = await store.homes(
    away.map(({ home }) => home),
    clock.now(),
  )
  return away.map(({ dispatch_id }, i) => ({ kind: 'elsewhere', run_id: dispatch_id, host: homes[i]?.host ?? '' }))
}

/** What an undo put away is in the home that performed it, too. */
async function undoneElsewhere(
  { store, clock, homeId }: UndoDeps,
  { id, runs, home, workspaces }: Undo,
): Promise<readonly UndoConflict[]> {
  if (home === undefined || homeId === undefined || home === homeId || workspaces.length === 0) return []
  const [seen] = await store.homes([home], clock.now())
  return [{ kind: 'elsewhere', run_id: runs[0] ?? id, host: seen?.host ?? '' }]
}

function withoutSnapshots(run: ChosenRun, spans: readonly WriteSpan[]): readonly NotUndone[] {
  const { dispatch_id: run_id, updated_at: at } = run.dispatch
  if (!hasWritten(run) || spans.some(({ writer }) => writer === run_id)) return []
  return [{ kind: 'no_snapshots', run_id, what: run_id, at }]
}

function describeFacts(all: readonly Fact[], changes: NewUndo['facts']): UndoPlan['facts'] {
  return changes.flatMap(({ id, to }) => {
    const fact = all.find((other) => other.id === id)
    return fact ? [{ fact, to }] : []
  })
}
