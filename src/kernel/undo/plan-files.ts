/**
 * Which paths an undo changes: the work of the chosen writers is composed over time, and each path goes back to what it
 * was before the first of them.
 * Must not know: what else is undone, and how files are stored.
 * Invariant: a path that someone else changed after a chosen writer is never changed; it is a conflict.
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

export interface FileUndo {
  readonly workspace: string
  /** From what is there now to what was there before. */
  readonly changes: readonly PathChange[]
  readonly conflicts: readonly FileConflict[]
  /** What the snapshots do not cover, and so stays as it is. */
  readonly omitted: ReadonlyMap<string, Omission>
}

/** When chosen writers held the workspace, joined where they overlap: a merge happens while its parent runs. */
function joinSpans(spans: readonly WriteSpan[]): readonly WriteSpan[] {
  const joined: WriteSpan[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (!last || span.from > last.to) joined.push(span)
    else if (span.to > last.to) joined.splice(-1, 1, { ...last, to: span.to, after: span.after })
  }
  return joined
}

interface Effect {
  readonly before: PathState
  after: PathState
  /** When a chosen writer last changed it. */
  at: number
}

/** Contract: `spans` are those of the chosen writers in one workspace; `present` is a snapshot of its files now. */
export async function planFileUndo(
  snapshots: Pick<Snapshots, 'compare' | 'omittedFrom' | 'spans'>,
  spans: readonly [WriteSpan, ...WriteSpan[]],
  present: string,
): Promise<FileUndo> {
  const [{ workspace }] = spans
  const effects = new Map<string, Effect>()
  const touched = new Map<string, number>()
  let last: WriteSpan | undefined
  /** What others left at paths that the chosen writers did not change. */
  const foreign = new Map<string, PathState>()
  for (const span of joinSpans(spans)) {
    for (const { path, after } of last ? await snapshots.compare(last.after, span.before) : []) {
      const effect = effects.get(path)
      if (effect) touched.set(path, effect.at)
      else foreign.set(path, after)
    }
    for (const { path, before, after } of await snapshots.compare(span.before, span.after))
      effects.set(path, { before: (effects.get(path) ?? { before }).before, after, at: span.to })
    last = span
  }
  const since = await snapshots.compare(last?.after ?? present, present)
  const now = new Map(since.map(({ path, after }) => [path, after]))
  for (const [path, state] of now) foreign.set(path, state)
  for (const path of effects.keys()) foreign.delete(path)
  const changes: PathChange[] = []
  const presentState = (path: string, after: PathState): PathState => (now.has(path) ? (now.get(path) ?? null) : after)
  for (const [path, { before, after, at }] of effects) {
    const current = presentState(path, after)
    if (current === before) touched.delete(path)
    else if (current !== after) touched.set(path, at)
    else if (!touched.has(path)) changes.push({ path, before: current, after: before })
    if (isInTheWay({ path, before: current, after: before }, foreign)) touched.set(path, at)
  }
  const conflicts = await nameWriters(snapshots, { workspace, chosen: spans, effects }, touched)
  const isLook = (conflict: FileConflict): boolean => isOnlyLookedAt(conflict, foreign)
  for (const { path } of conflicts.filter(isLook)) {
    const effect = effects.get(path)
    if (effect) changes.push({ path, before: presentState(path, effect.after), after: effect.before })
  }
  return {
    ...{ workspace, changes, conflicts: conflicts.filter((conflict) => !isLook(conflict)) },
    omitted: await snapshots.omittedFrom(present),
  }
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
  for (const { writer, before, after, to } of others)
    for (const { path, after: left } of await snapshots.compare(before, after))
      if (to > (touched.get(path) ?? Number.POSITIVE_INFINITY))
        found.set(path, left === effects.get(path)?.after ? null : writer)
  return [...touched.keys()].map((path) => ({ workspace, path, by: found.get(path) ?? null }))
}
