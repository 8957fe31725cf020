/** Model selection: the model chosen for a chat, a person in it, a channel, or everything (E13). */

import type { Json } from './json.ts'

interface SelectionScope {
  readonly chat?: string | undefined
  readonly user?: string | undefined
  readonly channel?: string | undefined
}

export interface ModelSelection {
  readonly scope: string
  readonly model: string
}

/**
 * The key under which a selection is stored. A user belongs to a chat; a chat may be named with or without its channel.
 */
export const scopeKey = (scope: SelectionScope): string =>
  (['channel', 'chat', 'user'] as const)
    .flatMap((part) => (scope[part] === undefined ? [] : [`${part} ${scope[part]}`]))
    .join(' ') || DEFAULT_SCOPE

const DEFAULT_SCOPE = 'default'

/** The model of the first of these scopes that has a selection: chat, user in the chat, channel, everything. */
export function selectedModelFor(
  metadata: Readonly<Record<string, Json>>,
  selections: readonly ModelSelection[],
): string | undefined {
  const textField = (name: string): string | undefined => {
    const value = metadata[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const [chat, user, channel] = [textField('chat_id'), textField('user_id'), textField('channel')]
  const scopes: readonly SelectionScope[] = [
    ...(chat === undefined ? [] : [{ channel, chat }, { chat }, { channel, chat, user }, { chat, user }]),
    ...(channel === undefined ? [] : [{ channel }]),
    {},
  ]
  return scopes
    .map(scopeKey)
    .map((key) => selections.find(({ scope }) => scope === key)?.model)
    .find((model) => model !== undefined)
}
