/**
 * How far a change of a path has come, from what is there now. Pure. The states on the way that a kill can leave count
 * as the change's own: a folder that was made writable or is about to get its permissions, and nothing where a folder
 * and a file change places.
 */

import { isFolderState, type PathChange, type PathState } from '../../../domain/path-change.ts'
import type { ChangeProgress } from '../../../ports/snapshots.ts'

const OWNER_MAY_WRITE = 0o700

export function progressOf({ before, after }: PathChange, present: PathState): Exclude<ChangeProgress, 'partly'> {
  if (present === after) return 'done'
  if (present === before) return 'to_do'
  return isOnTheWay(before, after, present) ? 'to_do' : 'changed_since'
}

function isOnTheWay(before: PathState, after: PathState, present: PathState): boolean {
  if (present === null) return before !== null && after !== null && isFolderState(before) !== isFolderState(after)
  if (!isFolderState(present)) return false
  if (isFolderState(before)) return bitsOf(present) === (bitsOf(before) | OWNER_MAY_WRITE)
  // The folder was created, whose permissions come last. Setting them loses nothing.
  return isFolderState(after)
}

const bitsOf = (state: PathState): number => Number.parseInt(state?.split(' ')[1] ?? '', 8)

/** What a disk writes as a whole. */
const SECTOR = 512

/**
 * Contract: pure; whether the content is what an interrupted write of `after` over `before` leaves: each sector is that
 * of one of them, or still empty.
 */
export function isMixOf(present: Uint8Array, before: Uint8Array, after: Uint8Array): boolean {
  const { length } = present
  if (length > Math.max(before.length, after.length) || length < Math.min(before.length, after.length)) return false
  for (let at = 0; at < length; at += SECTOR) {
    const sectorOf = (content: Uint8Array): Buffer => Buffer.from(content.subarray(at, Math.min(at + SECTOR, length)))
    const sector = sectorOf(present)
    const isEmpty = at >= before.length && sector.every((byte) => byte === 0)
    if (!isEmpty && !sector.equals(sectorOf(before)) && !sector.equals(sectorOf(after))) return false
  }
  return true
}
