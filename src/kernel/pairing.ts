/**
 * Pairing: which chats are the owner's. A code is shown to him on his terminal, and the chat that says it is paired. Pure; kept among the
 * store's settings.
 * Must not know: how a chat is reached, what it may ask for once it is paired.
 * Invariants: a code is worth one chat, a few tries and some minutes; what is kept of it does not give it away.
 */

import { hash } from 'node:crypto'
import type { Json } from '../domain/json.ts'
import type { Op } from '../ports/store.ts'

/** Their names among the store's settings. */
export const PAIRED = 'paired chats'
export const PAIRING = 'pairing'

export interface PairedChat {
  readonly channel: string
  readonly chat_id: string | null
  readonly paired_at: string
}

/** One that is under way. */
export interface Pairing {
  readonly channel: string
  readonly digest: string
  readonly until: number
  readonly tries: number
}

const MOST_TRIES = 5
const LASTS_MS = 10 * 60_000
/** Without those that are taken for one another. */
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ23456789'
const LENGTH = 8

/** Contract: a code out of something that nobody can guess. */
export function codeFrom(seed: string): string {
  const bytes = Buffer.from(hash('sha256', seed), 'hex')
  return Array.from(bytes.subarray(0, LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join('')
}

const digestOf = (channel: string, code: string): string =>
  hash('sha256', JSON.stringify([channel, code.toUpperCase()]))

export const beginPairing = (channel: string, code: string, now: number): Pairing => ({
  ...{ channel, digest: digestOf(channel, code), until: now + LASTS_MS, tries: 0 },
})

export type Tried =
  | { readonly kind: 'paired' }
  /** One of the tries is gone. */
  | { readonly kind: 'wrong'; readonly left: Pairing }
  /** Nobody waits for a code on this channel. */
  | { readonly kind: 'none' }

export function tryCode(pairing: Pairing | null, channel: string, code: string, now: number): Tried {
  if (!pairing || pairing.channel !== channel || now > pairing.until || pairing.tries >= MOST_TRIES)
    return { kind: 'none' }
  if (digestOf(channel, code) === pairing.digest) return { kind: 'paired' }
  return { kind: 'wrong', left: { ...pairing, tries: pairing.tries + 1 } }
}

/** Contract: those that can be read. */
export function pairedIn(kept: Json): readonly PairedChat[] {
  return Array.isArray(kept) ? (kept as readonly Json[]).filter(isPaired) : []
}

const isPaired = (one: Json): one is Json & PairedChat =>
  typeof one === 'object' && one !== null && 'channel' in one && 'chat_id' in one && typeof one.channel === 'string'

export function pairingIn(kept: Json): Pairing | null {
  return typeof kept === 'object' && kept !== null && 'digest' in kept ? (kept as unknown as Pairing) : null
}

export const isSameChat = (
  a: Pick<PairedChat, 'channel' | 'chat_id'>,
  b: Pick<PairedChat, 'channel' | 'chat_id'>,
): boolean => a.channel === b.channel && a.chat_id === b.chat_id

export const keepPaired = (chats: readonly PairedChat[]): Op => ({
  op: 'set',
  name: PAIRED,
  value: chats.map((chat) => ({ ...chat })),
})

export const keepPairing = (pairing: Pairing | null): Op => ({
  op: 'set',
  name: PAIRING,
  value: pairing && { ...pairing },
})
