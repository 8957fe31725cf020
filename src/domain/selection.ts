/** Selection: a model that was chosen for a chat, for one person in it, for a channel, or for everything (E13). */

import type { Json } from './json.ts'

export interface Scope {
  readonly chat?: string | undefined
  readonly user?: string | undefined
  readonly channel?: string | undefined
}

export interface Selection {
  readonly scope: string
  readonly model: string
}

/** One spelling per scope. A person is one of a chat. */
export function scopeKey({ chat, user, channel }: Scope): string {
  if (chat !== undefined) return user === undefined ? `chat ${chat}` : `chat ${chat} user ${user}`
  return channel === undefined ? EVERYTHING : `channel ${channel}`
}

const EVERYTHING = 'default'

/** What was chosen for the nearest of a dispatch's scopes: its chat, its chat and user, its channel, everything. */
export function selectedFor(
  metadata: Readonly<Record<string, Json>>,
  selections: readonly Selection[],
): string | undefined {
  const word = (name: string): string | undefined => {
    const value = metadata[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const [chat, user, channel] = [word('chat_id'), word('user_id'), word('channel')]
  const scopes: readonly Scope[] = [
    ...(chat === undefined ? [] : [{ chat }, { chat, user }]),
    ...(channel === undefined ? [] : [{ channel }]),
    {},
  ]
  return scopes
    .map(scopeKey)
    .map((key) => selections.find(({ scope }) => scope === key)?.model)
    .find((model) => model !== undefined)
}
