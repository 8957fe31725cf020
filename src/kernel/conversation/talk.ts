/**
 * What a run says in a conversation before it ends: a question, a message. It goes to the chats at once; the sessions
 * in front of them read it with their next message.
 * Must not know: channels, and how a message is delivered.
 */

import { clipText } from '../../domain/clean-summary.ts'
import type { Observation } from '../../domain/observation.ts'
import { chatOf, frontSessionId, type ReplyTo } from '../../domain/reply-to.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Op, Store } from '../../ports/store.ts'

const MAX_TEXT = 8000

interface Utterance {
  /** Idempotency key. */
  readonly id: string
  readonly text: string
  readonly replyTo: readonly ReplyTo[]
}

/** Contract: changes nothing; the operations that post the text. It names only sessions that exist. */
export async function talkOps(
  { store, clock }: { readonly store: Pick<Store, 'session'>; readonly clock: Clock },
  { id, text, replyTo }: Utterance,
): Promise<readonly Op[]> {
  const now = clock.now()
  const posts = replyTo.flatMap((to, at): Op[] => {
    if ('session' in to) return []
    const message = { id: at === 0 ? id : `${id}-${at}`, ...chatOf(to), kind: 'reply' } as const
    return [{ op: 'post', message: { ...message, text: clipText(text, MAX_TEXT) }, due: now, now }]
  })
  const fronts = [...new Set(replyTo.map(frontSessionId))]
  const known = await Promise.all(fronts.map((front) => store.session(front)))
  const observation: Observation = {
    ...{ id, type: 'system_event', name: 'said', ts: now, quiet: true },
    payload: { text },
    // A run that asks may have read anything.
    label: { trust: 'untrusted', private: true },
  }
  const copies = fronts
    .filter((_, at) => known[at] !== undefined)
    .map((session_id): Op => ({ op: 'publish', session_id, observation, successor_id: id, now }))
  return [...posts, ...copies]
}
