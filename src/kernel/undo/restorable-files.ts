/**
 * What an undo can do with the files that it is to take back: paths that a snapshot left out stay as they are, because
 * "not in the snapshot" does not mean "removed"; paths whose content of before is no longer stored are found before
 * anything changes, and stay; others get their old times.
 * Must not know: how files are stored.
 */

import { TirelessError } from '../../domain/error.ts'
import { isFolderState, type Omission, type PathChange, parentsOf } from '../../domain/path-change.ts'
import type { Snapshots, WriteSpan } from '../../ports/snapshots.ts'
import { type FileUndo, type FileUndoOptions, planFileUndo } from './plan-files.ts'

export interface RestorableFiles extends FileUndo {
  /** Paths that stay, because their content of before is missing or damaged. */
  readonly lost: readonly string[]
}

type Reads = Pick<Snapshots, 'compare' | 'lostOf' | 'omittedFrom' | 'spans'>

/** Contract: as `planFileUndo`; undefined if the snapshots themselves are lost, so that it is unknown what they had. */
export async function planRestorableFiles(
  snapshots: Reads,
  spans: readonly [WriteSpan, ...WriteSpan[]],
  present: string,
  options: FileUndoOptions = {},
): Promise<RestorableFiles | undefined> {
  try {
    const planned = await planFileUndo(snapshots, spans, present, options)
    const omitted = await snapshots.omittedFrom(present, ...spans.flatMap(({ before, after }) => [before, after]))
    const covered = planned.changes.filter((change) => !isUncovered(change, omitted))
    const lost = await snapshots.lostOf(covered)
    const isLostPath = new Set(lost)
    const changes = await withTimes(
      snapshots,
      spans,
      covered.filter(({ path }) => !isLostPath.has(path)),
    )
    const goesBack = new Set(changes.map(({ path }) => path))
    const conflicts = planned.conflicts.filter(({ path }) => !isUncovered({ path, after: null }, omitted))
    // A path that is named as lost or not covered is not named a second time.
    const uncertain = planned.uncertain.filter(({ path, does }) =>
      does === 'goes_back' ? goesBack.has(path) : !isUncovered({ path, after: null }, omitted),
    )
    return { ...planned, changes, conflicts, uncertain, omitted, lost }
  } catch (thrown) {
    if (isLost(thrown)) return undefined
    throw thrown
  }
}

const isLost = (thrown: unknown): boolean => thrown instanceof TirelessError && thrown.code === 'snapshot_lost'

/** Contract: whether nothing is known of the path, or of something below it that would have to go. */
function isUncovered(
  { path, after }: Pick<PathChange, 'path' | 'after'>,
  omitted: ReadonlyMap<string, Omission>,
): boolean {
  if ([...parentsOf(path), path].some((at) => omitted.has(at))) return true
  // A folder that goes stays if it has other entries; one that becomes a file cannot.
  return after !== null && !isFolderState(after) && [...omitted.keys()].some((at) => at.startsWith(`${path}/`))
}

async function withTimes(
  snapshots: Reads,
  spans: readonly WriteSpan[],
  changes: readonly PathChange[],
): Promise<readonly PathChange[]> {
  const times = new Map<string, number>()
  for (const { before, after } of spans)
    for (const change of await snapshots.compare(before, after))
      if (change.before !== null && change.beforeTime !== undefined)
        times.set(
          `${change.path}\n${change.before}`,
          times.get(`${change.path}\n${change.before}`) ?? change.beforeTime,
        )
  return changes.map((change) => {
    const afterTime = times.get(`${change.path}\n${change.after}`)
    return afterTime === undefined ? change : { ...change, afterTime }
  })
}
