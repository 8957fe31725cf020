/**
 * Which paths an undo changes: the work of the chosen writers is composed over time, and each path goes back to what it
 * was before the first of them.
 * Must not know: what else is undone, and how files are stored.
 * Invariants: a path that someone else changed after a chosen writer is never changed; it is a conflict. What changed
 * between a crash and the restart may be anybody's: it stays, unless it is asked for, or nothing is there any more.
 */

import {
  isFolderState,
  type Omission,
  type PathChange,
  type PathState,
  parentsOf,
  repositoryOf,
} from '../../domain/path-change.ts'
import type { Snapshots, WriteSpan } from '../../ports/snapshots.ts'

/** Another writer changed the path after the chosen ones. */
export interface FileConflict {
  readonly workspace: string
  readonly path: string
  /** The run, undo or merge; null: a person, or another program. */
  readonly by: string | null
}

/** A path that changed between a crash and the restart. `goes_back`: the path, or a part of its changes, goes back. */
export interface UncertainPath {
  readonly path: string
  readonly does: 'stays' | 'goes_back'
}

export interface FileUndo {
  readonly workspace: string
  /** From what is there now to what was there before. */
  readonly changes: readonly PathChange[]
  readonly conflicts: readonly FileConflict[]
  readonly uncertain: readonly UncertainPath[]
  /** What the snapshots do not cover, and so stays as it is. */
  readonly omitted: ReadonlyMap<string, Omission>
}

export interface FileUndoOptions {
  /** Takes back what is not certain to be the writers' work, too. */
  readonly withUncertain?: boolean
  /** The only paths that the chosen writers changed, if that is known better than from snapshots. */
  readonly only?: ReadonlySet<string>
}

/** When chosen writers held the workspace, joined where they overlap: a merge happens while its parent runs. */
function joinSpans(spans: readonly WriteSpan[]): readonly WriteSpan[] {
  const joined: WriteSpan[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (!last || span.isUncertain || last.isUncertain || span.from > last.to) joined.push(span)
    else if (span.to > last.to)
      joined.splice(-1, 1, { ...last, to: span.to, after: span.after, linked: { ...span.linked, ...last.linked } })
  }
  return joined
}

/** An uncertain time ends when another writer begins: by then, the interrupted calls had been ended. */
function endAtNextWriter(span: WriteSpan, all: readonly WriteSpan[]): WriteSpan {
  const next = all.find(
    ({ writer, workspace, from }) =>
      writer !== span.writer && workspace === span.workspace && from > span.from && from < span.to,
  )
  return next ? { ...span, to: next.from, after: next.before } : span
}

interface Effect {
  readonly before: PathState
  after: PathState
  /** When a chosen writer last changed it. */
  at: number
  readonly file: string | undefined
}

/** What may be a chosen writer's work, or not. */
interface Uncertain {
  /** Before that, and before what the writers did ahead of it. */
  readonly before: PathState
  /** After that. */
  readonly after: PathState
}

type Reads = Pick<Snapshots, 'compare' | 'omittedFrom' | 'spans'>

/** Contract: `spans` are those of the chosen writers in one workspace; `present` is a snapshot of its files now. */
export async function planFileUndo(
  snapshots: Reads,
  spans: readonly [WriteSpan, ...WriteSpan[]],
  present: string,
  { withUncertain = false, only }: FileUndoOptions = {},
): Promise<FileUndo> {
  const [{ workspace }] = spans
  const effects = new Map<string, Effect>()
  const uncertain = new Map<string, Uncertain>()
  const touched = new Map<string, number>()
  let last: WriteSpan | undefined
  /** What others left at paths that the chosen writers did not change. */
  const foreign = new Map<string, PathState>()
  for (const span of joinSpans(await chosenSpans(snapshots, spans, withUncertain))) {
    for (const { path, after } of last ? await snapshots.compare(last.after, span.before) : []) {
      const effect = effects.get(path)
      if (effect) touched.set(path, effect.at)
      else foreign.set(path, after)
    }
    for (const { path, before, after } of await snapshots.compare(span.before, span.after)) {
      if (only && !only.has(path)) foreign.set(path, after)
      else if (span.isUncertain) {
        uncertain.set(path, { before: (uncertain.get(path) ?? effects.get(path) ?? { before }).before, after })
        effects.delete(path)
        touched.delete(path)
      } else {
        const earlier = effects.get(path) ?? { before, file: span.linked?.[path] }
        effects.set(path, { before: earlier.before, after, at: span.to, file: earlier.file })
      }
    }
    last = span
  }
  const since = await snapshots.compare(last?.after ?? present, present)
  const now = new Map(since.map(({ path, after }) => [path, after]))
  const stays = restoreRemoved(effects, uncertain, now)
  for (const [path, state] of now) foreign.set(path, state)
  for (const path of effects.keys()) foreign.delete(path)
  for (const [path, { after }] of stays) foreign.set(path, now.has(path) ? (now.get(path) ?? null) : after)
  const changes: PathChange[] = []
  const presentState = (path: string, after: PathState): PathState => (now.has(path) ? (now.get(path) ?? null) : after)
  for (const [path, { before, after, at, file }] of effects) {
    const current = presentState(path, after)
    const change = { path, before: current, after: before, ...(file === undefined ? {} : { file }) }
    if (current === before) touched.delete(path)
    else if (current !== after) touched.set(path, at)
    else if (!touched.has(path)) changes.push(change)
    if (isInTheWay(change, foreign)) touched.set(path, at)
  }
  const conflicts = await nameWriters(snapshots, { workspace, chosen: spans, effects }, touched)
  const isLook = (conflict: FileConflict): boolean => isOnlyLookedAt(conflict, foreign)
  for (const { path } of conflicts.filter(isLook)) {
    const effect = effects.get(path)
    if (effect) changes.push({ path, before: presentState(path, effect.after), after: effect.before })
  }
  const goesBack = new Set(changes.map(({ path }) => path))
  return {
    workspace,
    changes,
    conflicts: conflicts.filter((conflict) => !isLook(conflict)),
    uncertain: [...uncertain]
      .filter(([path, { before, after }]) => goesBack.has(path) || presentState(path, after) !== before)
      .map(([path]) => ({ path, does: goesBack.has(path) ? 'goes_back' : 'stays' })),
    omitted: await snapshots.omittedFrom(present),
  }
}

async function chosenSpans(
  snapshots: Reads,
  spans: readonly WriteSpan[],
  withUncertain: boolean,
): Promise<readonly WriteSpan[]> {
  if (!spans.some(({ isUncertain }) => isUncertain)) return spans
  const all = await snapshots.spans()
  return spans.map((span) => {
    if (!span.isUncertain) return span
    const { isUncertain: _, ...ended } = endAtNextWriter(span, all)
    return withUncertain ? ended : { ...ended, isUncertain: true }
  })
}

/**
 * Putting back what is gone loses nothing, whoever removed it; and what was there in between is no work to keep.
 * Returns the uncertain paths that stay.
 */
function restoreRemoved(
  effects: Map<string, Effect>,
  uncertain: ReadonlyMap<string, Uncertain>,
  now: ReadonlyMap<string, PathState>,
): ReadonlyMap<string, Uncertain> {
  const stays = new Map(uncertain)
  for (const [path, { before, after }] of uncertain) {
    const later = effects.get(path)
    if (later) stays.delete(path)
    if (before === null || after !== null) continue
    const isGone = !now.has(path) || now.get(path) === null
    const isBlocked = parentsOf(path).some((parent) => {
      const state = now.get(parent) ?? uncertain.get(parent)?.after ?? null
      return state !== null && !isFolderState(state)
    })
    if (isBlocked) continue
    if (later) effects.set(path, { ...later, before })
    else if (isGone) {
      effects.set(path, { before, after: null, at: 0, file: undefined })
      stays.delete(path)
    }
  }
  return stays
}

/**
 * `git status` and other programs rewrite the index of a repository whenever a person looks at it. If anything else of
 * the repository changed, a commit may need what the index names.
 */
function isOnlyLookedAt({ path, by }: FileConflict, foreign: ReadonlyMap<string, PathState>): boolean {
  const repository = repositoryOf(path)
  if (by !== null || path !== `${repository}/index`) return false
  return ![...foreign.keys()].some((other) => other.startsWith(`${repository}/`))
}

/** Whether others put something into a folder that is to become a file, or a file where a folder is needed. */
function isInTheWay({ path, before, after }: PathChange, foreign: ReadonlyMap<string, PathState>): boolean {
  if (after === null || before === after) return false
  const isBlocked = parentsOf(path).some((parent) => {
    const state = foreign.get(parent) ?? null
    return state !== null && !isFolderState(state)
  })
  if (isBlocked || !isFolderState(before) || isFolderState(after)) return isBlocked
  return [...foreign].some(([other, state]) => state !== null && other.startsWith(`${path}/`))
}

interface Written {
  readonly workspace: string
  readonly chosen: readonly WriteSpan[]
  readonly effects: ReadonlyMap<string, Effect>
}

/** Contract: who changed each touched path after the chosen writers did, and left it otherwise; null: it is unknown. */
async function nameWriters(
  snapshots: Pick<Snapshots, 'compare' | 'spans'>,
  { workspace, chosen, effects }: Written,
  touched: ReadonlyMap<string, number>,
): Promise<readonly FileConflict[]> {
  if (touched.size === 0) return []
  const writers = new Set(chosen.map(({ writer }) => writer))
  const others = (await snapshots.spans()).filter((span) => span.workspace === workspace && !writers.has(span.writer))
  const found = new Map<string, string | null>()
  // A writer whose snapshots are lost cannot be named; that must not keep the others from being undone.
  for (const { writer, before, after, to } of others)
    for (const { path, after: left } of await snapshots.compare(before, after).catch(() => []))
      if (to > (touched.get(path) ?? Number.POSITIVE_INFINITY))
        found.set(path, left === effects.get(path)?.after ? null : writer)
  return [...touched.keys()].map((path) => ({ workspace, path, by: found.get(path) ?? null }))
}
