/** Says why an undo is refused, and what to do. */

import { TirelessError } from '../../domain/error.ts'
import { readablePath } from '../../domain/path-change.ts'
import { shortId } from '../../domain/short-id.ts'
import type { UndoConflict } from '../../kernel/undo/plan.ts'
import { finishOrGiveUp } from '../../kernel/undo/unfinished.ts'

const MAX_LISTED = 10

/** What the runs of conflicts work on, by their ids. */
export type RunTitles = ReadonlyMap<string, string>

/** Contract: throws `conflict` if there is any. */
export function refuseConflicts(
  conflicts: readonly UndoConflict[],
  target: string,
  titles: RunTitles = new Map(),
): void {
  if (conflicts.length === 0) return
  const lines = [...new Set(conflicts.map((conflict) => describeConflict(conflict, titles)))]
  const more = lines.length > MAX_LISTED ? [`and ${lines.length - MAX_LISTED} more`] : []
  const isOpen = conflicts.some(({ kind }) => kind === 'open')
  throw new TirelessError('conflict', {
    what: `${isOpen ? 'work is still under way' : whyNot(conflicts)}, so nothing was undone`,
    where: target,
    got: [...lines.slice(0, MAX_LISTED), ...more].join('; '),
    fix: isOpen ? stopFirst(conflicts) : undoFirst(conflicts),
  })
}

const isElsewhere = ({ kind }: UndoConflict): boolean => kind === 'elsewhere'
const isDamaged = ({ kind }: UndoConflict): boolean => kind === 'damaged'

function whyNot(conflicts: readonly UndoConflict[]): string {
  if (conflicts.some(isElsewhere)) return 'files are on another machine'
  if (conflicts.some(isDamaged)) return 'snapshots that it needs are missing or damaged'
  if (conflicts.some(({ kind }) => kind === 'unfinished')) return 'an undo of the same work is half done'
  return 'later work builds on this'
}

function stopFirst(conflicts: readonly UndoConflict[]): string {
  const runs = [...new Set(conflicts.flatMap((one) => (one.kind === 'open' ? [one.run_id] : [])))]
  return `wait for it, or stop it first: ${runs.map((run) => `tireless queue cancel ${shortId(run)}`).join(', ')}`
}

function undoFirst(conflicts: readonly UndoConflict[]): string {
  if (conflicts.some(isElsewhere)) return 'undo it in the home on that machine'
  if (conflicts.some(isDamaged))
    return 'run tireless doctor --fix, which repairs what it can and leaves out the rest; then undo again'
  const unfinished = conflicts.find((one) => one.kind === 'unfinished')
  if (unfinished) return finishOrGiveUp(unfinished.undo.id)
  const writers = [...new Set(conflicts.flatMap((one) => (one.kind === 'file' && one.by !== null ? [one.by] : [])))]
  return writers.length === 0
    ? 'put the later change aside first, or correct the work by hand (tireless workspace diff shows it)'
    : `undo the later work first: ${writers.map((id) => `tireless undo ${shortId(id)}`).join(', ')}`
}

function describeConflict(conflict: UndoConflict, titles: RunTitles): string {
  switch (conflict.kind) {
    case 'file':
      return [
        `${readablePath(conflict.path)} was changed later by ${writerName(conflict.by, titles)}`,
        `(${conflict.workspace})`,
      ].join(' ')
    case 'document':
      return describeDocument(conflict)
    case 'fact':
      return `the fact ${JSON.stringify(conflict.fact.key)} was replaced later${inSession(conflict.by)}`
    case 'open':
      return conflict.workspace === null
        ? `${runName(conflict.run_id, titles)} has not ended`
        : `${runName(conflict.run_id, titles)} works in ${conflict.workspace}`
    case 'unreadable':
      return `the files of ${conflict.workspace} cannot be read, or are too many`
    case 'damaged':
      return `the snapshots of ${conflict.workspace} are missing or damaged`
    case 'unfinished':
      return describeUnfinished(conflict)
    case 'elsewhere':
      return `run ${shortId(conflict.run_id)} wrote its files on the machine ${conflict.host}`
  }
}

const describeUnfinished = ({ undo, where }: Extract<UndoConflict, { kind: 'unfinished' }>): string =>
  [
    `the undo ${undo.id} of ${undo.target} is not finished`,
    ...(where === null ? [] : [`and changes ${readablePath(where)}, too`]),
  ].join(' ')

const writerName = (by: string | null, titles: RunTitles): string =>
  by === null ? 'you or another program' : runName(by, titles)

function runName(id: string, titles: RunTitles): string {
  const title = titles.get(id)
  return title === undefined ? `run ${shortId(id)}` : `run ${shortId(id)} “${title}”`
}

/** The runs that conflicts name. */
export const runsIn = (conflicts: readonly UndoConflict[]): readonly string[] => [
  ...new Set(
    conflicts.flatMap((one) => (one.kind === 'open' ? [one.run_id] : one.kind === 'file' && one.by ? [one.by] : [])),
  ),
]

const inSession = (by: { readonly session_id: string } | undefined): string =>
  by ? ` in session ${by.session_id}` : ''

function describeDocument({ version, by }: Extract<UndoConflict, { kind: 'document' }>): string {
  return by
    ? `STATE.md: version ${by.version} by ${by.author} changed the same lines as version ${version}`
    : `STATE.md: the text before version ${version} is no longer kept`
}
