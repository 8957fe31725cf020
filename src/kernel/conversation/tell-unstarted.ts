/**
 * Tells a chat that a dispatch of it is over although no run could say so: it was cancelled before its run began, or
 * set aside after crashes.
 * Must not know: channels, and how a message is delivered.
 * Invariant: says nothing about a dispatch whose run has ended, because that run has replied itself.
 */

import type { Dispatch } from '../../domain/dispatch.ts'
import { recordsOfRun } from '../../domain/journal-record.ts'
import { languageOf } from '../../domain/language.ts'
import { renderUnstarted } from '../../domain/reply-text.ts'
import { titleOf } from '../../domain/title.ts'
import type { Clock } from '../../ports/clock.ts'
import { commitOne, fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { readTalk } from './expectations.ts'
import { talkOps } from './talk.ts'

/** Contract: called once for a dispatch, after it was cancelled or set aside; ignores any other. */
export async function tellUnstarted(deps: { readonly store: Store; readonly clock: Clock }, id: string): Promise<void> {
  const dispatch = await fallbackIfUnreadable(deps.store.dispatch(id), undefined)
  if (!dispatch || (dispatch.status !== 'cancelled' && dispatch.status !== 'dead')) return
  const { targets } = await readTalk(deps.store, dispatch)
  if (targets.length === 0 || (await hasReplied(deps.store, dispatch))) return
  const task = dispatch.prompt || (await unreadText(deps.store, dispatch))
  const text = renderUnstarted(dispatch.status, titleOf(task), languageOf(task))
  const ops = await talkOps(deps, { id: `reply-${id}-unstarted`, text, replyTo: targets })
  if (ops.length > 0) await commitOne(deps.store, ops)
}

/** A session in front of a chat has no task: it was to read this message. */
async function unreadText(store: Store, { session_id }: Dispatch): Promise<string> {
  const last = (await fallbackIfUnreadable(store.inbox(session_id), [])).findLast(({ type }) => type === 'user_message')
  return last?.type === 'user_message' ? last.text : ''
}

async function hasReplied(store: Store, { session_id, dispatch_id }: Dispatch): Promise<boolean> {
  const records = recordsOfRun(await fallbackIfUnreadable(store.journal(session_id), []), dispatch_id)
  return records.some(({ kind }) => kind === 'run_ended')
}
