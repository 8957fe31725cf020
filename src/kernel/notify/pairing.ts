/**
 * Pairing: which chats belong to the owner. The owner sees a code on the terminal; the chat that sends it is paired.
 * Pure; pairings are kept in the store's settings.
 * Must not know: how a chat is reached, what a paired chat may do.
 * Invariants: a code is valid for one chat, a few tries and some minutes; only a digest of the code is stored.
 */

import { hash } from 'node:crypto'
import type { Json } from '../../domain/json.ts'
import type { Op } from '../../ports/store.ts'

/** Keys in the store's settings: of the paired chats, and of the pairing in progress. */
export const PAIRED_SETTING = 'paired chats'
export const PAIRING_SETTING = 'pairing'

export interface PairedChat {
  readonly channel: string
  readonly chat_id: string | null
  readonly paired_at: string
}

/** A pairing in progress: the owner has a code, and no chat has sent it yet. */
interface Pairing {
  readonly channel: string
  readonly digest: string
  readonly until: number
  readonly tries: number
}

const MAX_TRIES = 5
const VALID_MS = 10 * 60_000
/** The characters of a code, without letters and digits that look alike. */
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ23456789'
const LENGTH = 8

/** Contract: derives a code from an unguessable seed. */
export function derivePairingCode(seed: string): string {
  const bytes = Buffer.from(hash('sha256', seed), 'hex')
  return Array.from(bytes.subarray(0, LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join('')
}

const codeDigest = (channel: string, code: string): string =>
  hash('sha256', JSON.stringify([channel, code.toUpperCase()]))

export const beginPairing = (channel: string, code: string, now: number): Pairing => ({
  ...{ channel, digest: codeDigest(channel, code), until: now + VALID_MS, tries: 0 },
})

type CodeCheck =
  | { readonly kind: 'paired' }
  /** The code is wrong. `left`: the pairing with one more try used. */
  | { readonly kind: 'wrong'; readonly left: Pairing }
  /** No pairing is in progress on this channel. */
  | { readonly kind: 'none' }

export function checkCode(pairing: Pairing | null, channel: string, code: string, now: number): CodeCheck {
  if (!pairing || pairing.channel !== channel || now > pairing.until || pairing.tries >= MAX_TRIES)
    return { kind: 'none' }
  if (codeDigest(channel, code) === pairing.digest) return { kind: 'paired' }
  return { kind: 'wrong', left: { ...pairing, tries: pairing.tries + 1 } }
}

/** Contract: the paired chats from the stored setting; skips invalid entries. */
export function readPairedChats(stored: Json): readonly PairedChat[] {
  return Array.isArray(stored) ? (stored as readonly Json[]).filter(isPaired) : []
}

const isPaired = (entry: Json): entry is Json & PairedChat =>
  typeof entry === 'object' &&
  entry !== null &&
  'channel' in entry &&
  'chat_id' in entry &&
  typeof entry.channel === 'string'

export function readPairing(stored: Json): Pairing | null {
  return typeof stored === 'object' && stored !== null && 'digest' in stored ? (stored as unknown as Pairing) : null
}

export const isSameChat = (
  a: Pick<PairedChat, 'channel' | 'chat_id'>,
  b: Pick<PairedChat, 'channel' | 'chat_id'>,
): boolean => a.channel === b.channel && a.chat_id === b.chat_id

export const storePairedChats = (chats: readonly PairedChat[]): Op => ({
  op: 'set',
  name: PAIRED_SETTING,
  value: chats.map((chat) => ({ ...chat })),
})

export const storePairing = (pairing: Pairing | null): Op => ({
  op: 'set',
  name: PAIRING_SETTING,
  value: pairing && { ...pairing },
})
