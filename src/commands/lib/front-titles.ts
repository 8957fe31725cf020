/** Titles of the runs that read the messages of a named chat: the message, because they have no prompt. */

import type { Dispatch } from '../../domain/dispatch.ts'
import { isFrontSession } from '../../domain/reply-to.ts'
import { titleOf } from '../../domain/title.ts'
import { readChatLog } from './chat-log.ts'
import type { Needs } from './context.ts'

/** Contract: the first message that the run got; undefined for other runs, and for messages that were forgotten. */
export async function findFrontTitles(
  context: Needs<'store'>,
  dispatches: readonly Dispatch[],
): Promise<(run_id: string) => string | undefined> {
  const fronts = new Set(dispatches.map(({ session_id }) => session_id).filter(isFrontSession))
  const logs = await Promise.all([...fronts].map((front) => readChatLog(context, front)))
  // The first one last, so that it stays.
  const titles = new Map(logs.flatMap((log) => log.toReversed().map(({ dispatch_id, text }) => [dispatch_id, text])))
  return (run_id) => {
    const text = titles.get(run_id)
    return text === undefined || text === null ? undefined : titleOf(text)
  }
}
