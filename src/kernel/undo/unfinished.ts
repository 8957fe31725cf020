/**
 * Undos that are half done: how that is said, and what their owner can do.
 * Must not know: how an undo is performed.
 */

import { TirelessError } from '../../domain/error.ts'
import { readablePath } from '../../domain/path-change.ts'
import type { KeptByUndo, NewUndo, Undo } from '../../domain/undo.ts'

const MAX_NAMED = 10

const list = (names: readonly string[]): string =>
  [...names.slice(0, MAX_NAMED), ...(names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : [])].join(', ')

/** Contract: pure; the ways out. */
export const finishOrGiveUp = (id: string): string =>
  `finish it: tireless undo ${id} --yes; or leave the rest as it is: tireless undo ${id} --give-up`

/** Contract: pure; `problem`: what is not the fault of one path; may be empty. */
export function halfDoneError(undo: NewUndo, kept: readonly KeptByUndo[], problem: string): TirelessError {
  return new TirelessError('undo_unfinished', {
    what: 'the undo is half done',
    where: undo.id,
    got: describeLeft(undo, kept, problem),
    fix: `remove the cause, then ${finishOrGiveUp(undo.id)}`,
  })
}

function describeLeft(undo: NewUndo, kept: readonly KeptByUndo[], problem: string): string {
  const isKept = new Set(kept.map(({ workspace, name }) => `${workspace}\n${name}`))
  const changed = undo.workspaces.flatMap(({ workspace, changes }) =>
    changes.filter(({ path }) => !isKept.has(`${workspace}\n${path}`)).map(({ path }) => readablePath(path)),
  )
  const failed = kept.map(({ name, error }) => `${readablePath(name)} (${error ?? 'changed since'})`)
  return [
    ...(problem === '' ? [`changed back: ${changed.length === 0 ? 'nothing' : list(changed)}`] : [problem]),
    ...(failed.length === 0 ? [] : [`not changed back: ${list(failed)}`]),
  ].join('; ')
}

/** Contract: pure; one line for health and doctor. */
export function describeUnfinished({ id, target, stopped }: Undo): string {
  const why = stopped === undefined ? 'it was interrupted' : stopped
  return `the undo ${id} of ${target} is half done: ${why}. Do this: ${finishOrGiveUp(id)}`
}
