/** The difference of two snapshots as text: text files line by line, other files by their sizes. */

import { unifiedDiff } from '../../domain/diff.ts'
import { isFileState, type PathChange, type PathState, readablePath, repositoryOf } from '../../domain/path-change.ts'
import type { Snapshots } from '../../ports/snapshots.ts'

interface ChangedFile {
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly bytes_before: number | null
  readonly bytes_after: number | null
  /** Empty: shown by its sizes, because one of the two is no text. */
  readonly diff: string
}

const MAX_TEXT = 1_000_000

/** Contract: at most `limit`, in the order of the changes; folders and the files of repositories are left out. */
export async function diffPaths(
  snapshots: Pick<Snapshots, 'contentOf'>,
  changes: readonly PathChange[],
  limit: number,
): Promise<readonly ChangedFile[]> {
  const found: ChangedFile[] = []
  for (const change of changes) {
    if (found.length === limit) break
    if (repositoryOf(change.path) !== undefined) continue
    const [before, after] = [await sideOf(snapshots, change.before), await sideOf(snapshots, change.after)]
    if (!before && !after) continue
    const path = readablePath(change.path)
    found.push({
      path,
      change: before ? (after ? 'changed' : 'removed') : 'added',
      bytes_before: before?.bytes ?? null,
      bytes_after: after?.bytes ?? null,
      diff: diffOf(path, before, after),
    })
  }
  return found
}

interface Side {
  readonly bytes: number
  /** Undefined: no text. */
  readonly text: string | undefined
  readonly name: string
}

async function sideOf(snapshots: Pick<Snapshots, 'contentOf'>, state: PathState): Promise<Side | undefined> {
  const content = await snapshots.contentOf(state)
  if (content === null || state === null) return undefined
  const isText = content.length <= MAX_TEXT && !content.includes(0)
  const name = isFileState(state) ? `mode ${state.split(' ')[1]}` : 'link'
  return { bytes: content.length, text: isText ? new TextDecoder().decode(content) : undefined, name }
}

function diffOf(path: string, before: Side | undefined, after: Side | undefined): string {
  if ((before && before.text === undefined) || (after && after.text === undefined)) return ''
  const named = (side: Side | undefined): string =>
    side ? `${path}${before && after && before.name !== after.name ? ` (${side.name})` : ''}` : '/dev/null'
  const text = unifiedDiff(
    { name: named(before), text: before?.text ?? '' },
    { name: named(after), text: after?.text ?? '' },
  )
  // Equal texts have no lines to show: the permissions changed, or an empty file came or went.
  return text === '' ? `--- ${named(before)}\n+++ ${named(after)}\n` : text
}
