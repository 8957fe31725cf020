/**
 * Merges a copied workspace into its original. The plan is on disk before the first write, so that a merge that is
 * repeated after a kill ends as the first one would have.
 */

import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readablePath } from '../../../domain/path-change.ts'
import { replaceFile } from '../../../files/whole-files.ts'
import type { MergeResult } from '../../../ports/snapshots.ts'
import { TreeReader } from './compare-trees.ts'
import type { ObjectStore } from './object-store.ts'
import { CONFLICTS, isFolder, type MergePlan, planMerge, settlePaths } from './plan-merge.ts'
import { removePath, writePath } from './write-paths.ts'

interface MergeOptions {
  readonly store: ObjectStore
  /** The file of the plan. */
  readonly file: string
  /** Folder of the original. */
  readonly into: string
  /** Name of the folder for conflicting versions. */
  readonly name: string
  /** Called before the first write. `isRepeated`: a kill interrupted the merge before. */
  readonly begin: (isRepeated: boolean) => void
  readonly trees: { readonly base: string; readonly ours: string; readonly theirs: string }
}

export async function mergeWorkspace(options: MergeOptions): Promise<MergeResult> {
  const { store, file, trees } = options
  const reader = new TreeReader(store)
  const saved = await readPlan(file, trees.theirs)
  const plan = saved ?? (await planMerge(store, reader, trees))
  options.begin(saved !== undefined)
  if (!saved) await savePlan(file, plan)
  const due = saved ? await settlePaths(store, reader, trees.ours, plan.changes) : plan
  const blocked = await applyChanges(options, reader, due)
  const conflicts = [...plan.conflicts, ...(saved ? due.conflicts : []), ...blocked]
  const blockedPaths = new Set(conflicts.map(({ path }) => path))
  const kept: { path: string; kept_at: string | null }[] = []
  for (const conflict of conflicts) kept.push(await keepVersion(options, reader, conflict))
  return {
    files: plan.changes
      .filter(({ path, before, after }) => !isFolder(after ?? before) && !blockedPaths.has(path))
      .map(({ path }) => readablePath(path))
      .sort(),
    conflicts: kept.sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
}

/** Removals first, the deepest ahead, so that a file can take the place of a folder. */
async function applyChanges(
  { into }: MergeOptions,
  reader: TreeReader,
  { changes }: Pick<MergePlan, 'changes'>,
): Promise<MergePlan['conflicts']> {
  const byPath = changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  for (const { path, before, after } of byPath.toReversed())
    if (after === null || (before !== null && isFolder(before) !== isFolder(after))) await removePath(into, path)
  const blocked: { path: string; theirs: string }[] = []
  for (const { path, after } of byPath) {
    if (after === null) continue
    const isWritten = await writePath(into, path, after, (await reader.content(after)) ?? Buffer.alloc(0))
    if (!isWritten) blocked.push({ path, theirs: after })
  }
  return blocked
}

/** Keeps the copy's version of a path where the owner of the original finds it. */
async function keepVersion(
  { into, name }: MergeOptions,
  reader: TreeReader,
  { path, theirs }: MergePlan['conflicts'][number],
): Promise<{ path: string; kept_at: string | null }> {
  const at = `${CONFLICTS}/${name}/${path}`
  const content = await reader.content(theirs)
  const isKept = theirs !== null && content !== null && (await writePath(into, at, theirs, content))
  return { path: readablePath(path), kept_at: isKept ? readablePath(at) : null }
}

/** A plan for another version of the copy is no plan: the copy was changed after it was made. */
async function readPlan(file: string, theirs: string): Promise<MergePlan | undefined> {
  try {
    const plan = JSON.parse(await readFile(file, 'utf8')) as MergePlan
    return plan.theirs === theirs ? plan : undefined
  } catch {
    return undefined
  }
}

async function savePlan(file: string, plan: MergePlan): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  replaceFile(file, JSON.stringify(plan))
}
