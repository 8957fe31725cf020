/** The sizes of workspaces, kept for a while: counting files takes long, and a page that is open asks often. */

import type { Snapshots } from '../../ports/snapshots.ts'
import type { Needs } from './context.ts'

interface WorkspaceSize {
  readonly files: number
  readonly bytes: number
  readonly counted_at: number
}

const sizesBySnapshots = new WeakMap<Snapshots, Map<string, WorkspaceSize>>()
const KEPT_MS = 60_000
/** While a run works in it. */
const KEPT_IN_USE_MS = 5000
const MAX_KEPT = 10_000

interface SizedWorkspace {
  readonly workspace: string
  readonly in_use_by: string | null
  /** When a run last wrote in it. */
  readonly written: number
}

/** Contract: as it is now, or was a minute ago; never as it was before a run wrote. */
export async function sizeOfWorkspace(
  { clock, snapshots }: Needs<'clock' | 'snapshots'>,
  { workspace, in_use_by, written }: SizedWorkspace,
): Promise<WorkspaceSize> {
  const sizes = sizesBySnapshots.get(snapshots) ?? new Map<string, WorkspaceSize>()
  sizesBySnapshots.set(snapshots, sizes)
  const known = sizes.get(workspace)
  const now = clock.now()
  const keptMs = in_use_by === null ? KEPT_MS : KEPT_IN_USE_MS
  if (known && known.counted_at > written && now - known.counted_at < keptMs) return known
  const { files, bytes } = await snapshots.presentFiles(workspace, 0)
  const counted = { files, bytes, counted_at: now }
  if (sizes.size >= MAX_KEPT) sizes.clear()
  sizes.set(workspace, counted)
  return counted
}
