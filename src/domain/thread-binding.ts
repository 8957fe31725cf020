/** Thread binding: the session to which the messages of a chat's thread go, kept as a setting of the store. Pure. */

import type { Json } from './json.ts'
import type { ReplyTo } from './reply-to.ts'

/** Beginning of the names of these settings. */
export const THREAD_SETTING = 'thread '

/** Contract: the name of the setting; undefined if the target is no thread. */
export const threadSetting = (to: ReplyTo): string | undefined =>
  'channel' in to && to.thread !== undefined
    ? `${THREAD_SETTING}${JSON.stringify([to.channel, to.chat, to.thread])}`
    : undefined

/** Contract: the value of the setting, by which the binding of a deleted session is found. */
export const threadBinding = (sessionId: string): Json => sessionId

export const readThreadBinding = (stored: Json): string | undefined => (typeof stored === 'string' ? stored : undefined)
