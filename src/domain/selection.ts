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

/** One spelling per scope. A person is one of a chat; a chat may be said with its channel. */
export const scopeKey = (scope: Scope): string =>
  (['channel', 'chat', 'user'] as const)
    .flatMap((part) => (scope[part] === undefined ? [] : [`${part} ${scope[part]}`]))
    .join(' ') || EVERYTHING

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
    ...(chat === undefined ? [] : [{ channel, chat }, { chat }, { channel, chat, user }, { chat, user }]),
    ...(channel === undefined ? [] : [{ channel }]),
    {},
  ]
  return scopes
    .map(scopeKey)
    .map((key) => selections.find(({ scope }) => scope === key)?.model)
    .find((model) => model !== undefined)
}
