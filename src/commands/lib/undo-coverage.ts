/** What of a run cannot be undone: said when it starts, and with its result. */

import { isAbsolute } from 'node:path'
import { recordsOfRun } from '../../domain/journal-record.ts'
import type { PeopleText } from '../../domain/language.ts'
import { type Omission, readablePath } from '../../domain/path-change.ts'
import { hasWritten } from '../../kernel/undo/chosen-runs.ts'
import type { Uncovered } from '../../ports/snapshots.ts'
import { fallbackIfUnreadable } from '../../ports/store.ts'
import type { Needs } from './context.ts'
import type { Progress } from './progress.ts'

/** Installed packages, and repositories elsewhere, are never covered, and so not worth a word each time. */
const REASONS: Readonly<Partial<Record<Omission, PeopleText>>> = {
  too_large: { text: 'too large', zh: '过大' },
  git_too_large: { text: 'repository too large', zh: '仓库过大' },
  unreadable: { text: 'cannot be read', zh: '无法读取' },
  lost: { text: 'stored content lost', zh: '保存的内容已丢失' },
}

const NONE: Readonly<Record<Extract<Uncovered, string>, PeopleText>> = {
  not_listed: {
    text: 'This run cannot be undone: its folder cannot be listed.',
    zh: '这次任务无法撤销：无法列出它的目录。',
  },
  too_many_entries: {
    text: 'This run cannot be undone: its folder has too many files beside each other.',
    zh: '这次任务无法撤销：它的目录里并列的文件太多。',
  },
}

const NO_SNAPSHOTS: PeopleText = {
  text: 'This run cannot be undone: its files have no snapshots in this home.',
  zh: '这次任务无法撤销：它的文件在本主目录没有快照。',
}

const DAMAGED: PeopleText = {
  text: 'This run cannot be undone: its snapshots are missing or damaged. Run tireless doctor.',
  zh: '这次任务无法撤销：它的快照缺失或已损坏。请运行 tireless doctor。',
}

const MAX_NAMED = 5

/** Contract: undefined if everything can be undone. */
function describeUncovered(uncovered: Uncovered): PeopleText | undefined {
  if (typeof uncovered === 'string') return NONE[uncovered]
  const named = [...uncovered].flatMap(([path, why]) => {
    const reason = REASONS[why]
    return reason ? [{ path: readablePath(path), reason }] : []
  })
  if (named.length === 0) return undefined
  const [shown, more] = [named.slice(0, MAX_NAMED), named.length - MAX_NAMED]
  const [en, zh] = [
    shown.map(({ path, reason }) => `${path} (${reason.text})`).join(', '),
    shown.map(({ path, reason }) => `${path}（${reason.zh}）`).join('、'),
  ]
  return {
    text: `This run can be undone only in part; not ${en}${more > 0 ? `, and ${more} more` : ''}.`,
    zh: `这次任务只能撤销一部分；不含 ${zh}${more > 0 ? `，另有 ${more} 项` : ''}。`,
  }
}

/** Contract: says before a run what of its folder no undo covers; nothing if all is covered. */
export async function tellUncovered(
  { snapshots }: Needs<'snapshots'>,
  workspace: string,
  tell: (progress: Progress) => void,
): Promise<void> {
  // On a shared store, the folder may be chosen by the machine that will run the task.
  const found = isAbsolute(workspace) ? describeUncovered(await snapshots.uncovered(workspace)) : undefined
  if (found) tell({ kind: 'note', ...found })
}

/** Contract: one sentence for each reason; empty if the run changed no files, or all that it changed can go back. */
export async function cannotUndo(
  { store, snapshots }: Needs<'snapshots' | 'store'>,
  run: { readonly dispatch_id: string; readonly session_id: string },
): Promise<readonly PeopleText[]> {
  const { dispatch_id: id } = run
  const records = recordsOfRun(await fallbackIfUnreadable(store.journal(run.session_id), []), id)
  if (!hasWritten({ records })) return []
  const spans = await snapshots.spans([id, `merge-${id}`])
  if (spans.length === 0) return [NO_SNAPSHOTS]
  try {
    const found = describeUncovered(
      await snapshots.omittedFrom(...spans.flatMap(({ before, after }) => [before, after])),
    )
    return found ? [found] : []
  } catch {
    return [DAMAGED]
  }
}
