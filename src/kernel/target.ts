/**
 * Target: whom notices go to: what was said in a chat or on the terminal, else what is configured, else nobody.
 * Must not know: what is told.
 */

import type { Json } from '../domain/json.ts'
import type { Op } from '../ports/store.ts'
import type { Settings } from './settings.ts'

export interface Target {
  readonly channel: string
  readonly chat_id: string | null
  /** Whether the configuration says so, or somebody has said so since. */
  readonly by: 'config' | 'person'
}

/** The name of what was said, among the store's settings. */
export const BOUND = 'notice'

/** Contract: pure. `bound`: what was said, null where nothing was. */
export function targetOf({ channel, chat_id }: Pick<Settings, 'channel' | 'chat_id'>, bound: Json): Target | null {
  if (isBound(bound)) return bound.channel === null ? null : { ...bound, channel: bound.channel, by: 'person' }
  return channel === null ? null : { channel, chat_id, by: 'config' }
}

/** From now on notices go there; `off`: to nobody; null: where the configuration says. */
export function bind(to: Pick<Target, 'channel' | 'chat_id'> | 'off' | null): Extract<Op, { op: 'set' }> {
  const value = to === 'off' ? { channel: null, chat_id: null } : to && { channel: to.channel, chat_id: to.chat_id }
  return { op: 'set', name: BOUND, value }
}

function isBound(bound: Json): bound is { channel: string | null; chat_id: string | null } {
  return typeof bound === 'object' && bound !== null && 'channel' in bound && 'chat_id' in bound
}
