/**
 * Plans the merge of a copied workspace into its original, path by path: what the copy changed is taken over, unless
 * the original changed it, too. Texts that both changed are merged by lines.
 */

import { isUtf8 } from 'node:buffer'
import { mergeText } from '../../../domain/merge-text.ts'
import { type Omission, type PathState, parentsOf, repositoryOf } from '../../../domain/path-change.ts'
import type { TreeReader } from './compare-trees.ts'
import type { ObjectStore } from './object-store.ts'

/** The folder of the original in which conflicting versions of copies are kept; nothing in it is ever merged. */
export const CONFLICTS = '.conflicts'

/** What a path was (`before`) and is to become. */
interface PlannedPath {
  readonly path: string
  readonly before: PathState
  readonly after: PathState
}

export interface MergePlan {
  /** The snapshot of the copy. */
  readonly theirs: string
  readonly changes: readonly PlannedPath[]
  /** `theirs`: the version of the copy. */
  readonly conflicts: readonly { readonly path: string; readonly theirs: PathState }[]
}

interface MergedTrees {
  readonly base: string
  readonly ours: string
  readonly theirs: string
}

export async function planMerge(
  store: ObjectStore,
  reader: TreeReader,
  { base, ours, theirs }: MergedTrees,
): Promise<MergePlan> {
  const changed = [...(await reader.changes(base, theirs))].filter(([path]) => isMerged(path))
  const wanted = changed.map(([path, { before, after }]) => ({ path, before, after }))
  const { changes, conflicts } = await settlePaths(store, reader, ours, wanted)
  const unknown = await newlyUnreadable(reader, { base, theirs })
  return { theirs, changes, conflicts: [...conflicts, ...unknown.map((path) => ({ path, theirs: null }))] }
}

/** What the copy made and nobody can read is not merged; it is named. */
async function newlyUnreadable(
  reader: TreeReader,
  { base, theirs }: Pick<MergedTrees, 'base' | 'theirs'>,
): Promise<readonly string[]> {
  const before = await reader.omitted(base)
  return [...(await reader.omitted(theirs))]
    .filter(([path, why]) => why === 'unreadable' && !before.has(path) && isMerged(path))
    .map(([path]) => path)
}

/** Commits stay in the copy: its repository is its own. */
const isMerged = (path: string): boolean =>
  repositoryOf(path) === undefined && path !== CONFLICTS && !path.startsWith(`${CONFLICTS}/`)

/** Contract: which of the wanted changes the tree `ours` still needs, and which it cannot take. */
export async function settlePaths(
  store: ObjectStore,
  reader: TreeReader,
  ours: string,
  wanted: readonly PlannedPath[],
): Promise<Pick<MergePlan, 'changes' | 'conflicts'>> {
  const changes: PlannedPath[] = []
  const conflicts: { path: string; theirs: PathState }[] = []
  const omitted = await reader.omitted(ours)
  for (const { path, before, after } of wanted) {
    // Something is there that is in no snapshot: it must not be replaced.
    if (isAt(path, omitted)) {
      conflicts.push({ path, theirs: after })
      continue
    }
    const present = await reader.stateAt(ours, path)
    if (present === after || (isFolder(present) && isFolder(after))) continue
    const merged = isEqual(present, before) ? after : await mergeFiles(store, reader, { before, present, after })
    if (merged !== undefined) changes.push({ path, before: present, after: merged })
    // A folder that the copy removed stays if the original has something new in it.
    else if (!(after === null && isFolder(before))) conflicts.push({ path, theirs: after })
  }
  return { changes, conflicts }
}

const isAt = (path: string, omitted: ReadonlyMap<string, Omission>): boolean =>
  [...parentsOf(path), path].some((at) => omitted.has(at))

export const isFolder = (state: PathState): boolean => state?.startsWith('d ') ?? false
const isEqual = (a: PathState, b: PathState): boolean => a === b || (isFolder(a) && isFolder(b))

interface ThreeStates {
  readonly before: PathState
  readonly present: PathState
  readonly after: PathState
}

/** Contract: the state of the merged file; undefined on a conflict. */
async function mergeFiles(
  store: ObjectStore,
  reader: TreeReader,
  { before, present, after }: ThreeStates,
): Promise<string | undefined> {
  const [base, ours, theirs] = [fileOf(before), fileOf(present), fileOf(after)]
  if (!base || !ours || !theirs) return undefined
  const bits = theirs.bits === base.bits ? ours.bits : theirs.bits
  if (theirs.id === base.id || theirs.id === ours.id) return `f ${bits} ${ours.id}`
  if (ours.id === base.id) return `f ${bits} ${theirs.id}`
  const contents = await Promise.all([before, present, after].map((state) => reader.content(state)))
  const [a, b, c] = contents.map((content) => (content && isText(content) ? content.toString('utf8') : undefined))
  const merged = a === undefined || b === undefined || c === undefined ? null : mergeText(a, b, c)
  if (merged === null) return undefined
  return `f ${bits} ${await store.write((batch) => batch.writeBlob(Buffer.from(merged)))}`
}

const isText = (content: Buffer): boolean => isUtf8(content) && !content.includes(0)

function fileOf(state: PathState): { readonly bits: string; readonly id: string } | undefined {
  const [kind, bits, id] = state?.split(' ') ?? []
  return kind === 'f' && bits !== undefined && id !== undefined ? { bits, id } : undefined
}
