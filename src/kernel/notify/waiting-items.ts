/**
 * What waits for the owner, as items of a card: a call that needs approval, a call whose outcome is unknown.
 * Must not know: the recipient's channel, quiet hours, which items were told.
 * Invariants: one id for each thing that waits, so that it is told once; the exact arguments and the origin are told;
 * only the rows of the store say whether something still waits.
 */

import type { Approval } from '../../domain/approval.ts'
import { workspaceKey } from '../../domain/label.ts'
import { type Language, languageOf } from '../../domain/language.ts'
import type { MessageAction } from '../../domain/message.ts'
import { chatOf } from '../../domain/reply-to.ts'
import type { UnknownOutcome } from '../../domain/unknown-outcome.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { readTalk } from '../conversation/expectations.ts'
import { approvalTexts, unknownTexts } from './waiting-texts.ts'

/** At most this many open approvals are read; the others follow when these are answered. */
const MAX_APPROVALS = 100

/** A place where messages go. */
export interface ChatTarget {
  readonly channel: string
  readonly chat_id: string | null
  readonly thread_id?: string
}

/** How an item is shown, in one language. */
export interface ItemTexts {
  /** What it is about, in one line; it stays when the item was answered. */
  readonly subject: string
  /**
   * Contract: Markdown for a card, in at most `mostBytes` of JSON: a call's arguments come last and are clipped. The
   * text is longer only if what has to be said takes more than that.
   */
  describe(mostBytes: number): string
  /** The whole text of a message with this item alone, for channels without cards. */
  readonly alone: string
  readonly actions: readonly MessageAction[]
  /** What to type in a chat instead of pressing a button. */
  readonly commands: string
  /** What to type in a terminal. */
  readonly terminalCommands: string
}

export interface WaitingItem {
  readonly id: string
  readonly texts: ItemTexts
  readonly language: Language
  /** The instant from which it is too late to answer; null: never. */
  readonly expires: number | null
  /** The chats of the conversation to which it belongs; empty: it goes to the target of notices. */
  readonly chats: readonly ChatTarget[]
}

/** What became of an item. */
export type ItemOutcome =
  | 'allowed'
  | 'denied'
  | 'expired'
  | 'happened'
  | 'not'
  | 'recheck'
  | 'answered'
  | 'over'
  | 'moved'

/** Beginnings of the ids of items. */
const APPROVAL = 'approval-'
const UNKNOWN = 'unknown-'

type ItemStore = Pick<Store, 'approvals' | 'approval' | 'unknowns' | 'dispatch' | 'journal' | 'session' | 'label'>

/** Contract: an item for each open approval and unknown outcome with a wanted id; without unreadable rows. */
export async function readWaitingItems(
  store: ItemStore,
  language: Language,
  isWanted: (id: string) => boolean,
): Promise<readonly WaitingItem[]> {
  const { approvals, unknowns } = await readOpen(store)
  const asked = approvals.filter(({ id }) => isWanted(`${APPROVAL}${id}`))
  const interrupted = unknowns.filter(({ id }) => isWanted(`${UNKNOWN}${id}`))
  return [
    ...(await Promise.all(asked.map((approval) => approvalItem(store, approval, language)))),
    ...(await Promise.all(interrupted.map((unknown) => unknownItem(store, unknown, language)))),
  ]
}

/** Contract: the ids of the items that wait; there may be more approvals than are listed. */
export async function openItemIds(store: Pick<Store, 'approvals' | 'unknowns'>): Promise<ReadonlySet<string>> {
  const { approvals, unknowns } = await readOpen(store)
  return new Set([...approvals.map(({ id }) => `${APPROVAL}${id}`), ...unknowns.map(({ id }) => `${UNKNOWN}${id}`)])
}

async function readOpen(store: Pick<Store, 'approvals' | 'unknowns'>) {
  const approvals = await fallbackIfUnreadable(store.approvals({ status: 'open', limit: MAX_APPROVALS }), [])
  const unknowns = await fallbackIfUnreadable(store.unknowns({ status: 'open' }), [])
  return { approvals, unknowns }
}

/** Contract: the sessions of which `readWaitingItems` tells. */
export async function sessionsThatWait(store: Pick<Store, 'approvals' | 'unknowns'>): Promise<ReadonlySet<string>> {
  const { approvals, unknowns } = await readOpen(store)
  return new Set([...approvals, ...unknowns].map(({ session_id }) => session_id))
}

/** Contract: what became of the approval or unknown outcome with this id; null if it still waits, or is neither. */
export async function findItemOutcome(
  store: Pick<Store, 'approval' | 'unknowns'>,
  itemId: string,
): Promise<ItemOutcome | null> {
  if (itemId.startsWith(APPROVAL)) {
    const approval = await fallbackIfUnreadable(store.approval(itemId.slice(APPROVAL.length)), undefined)
    return approval === undefined ? 'over' : approval.status === 'open' ? null : approval.status
  }
  if (!itemId.startsWith(UNKNOWN)) return null
  const matches = ({ id }: UnknownOutcome): boolean => `${UNKNOWN}${id}` === itemId
  const open = await fallbackIfUnreadable(store.unknowns({ status: 'open' }), undefined)
  if (open === undefined || open.some(matches)) return null
  return (await fallbackIfUnreadable(store.unknowns({}), [])).find(matches)?.resolution ?? 'over'
}

async function approvalItem(store: ItemStore, approval: Approval, language: Language): Promise<WaitingItem> {
  const run = await fallbackIfUnreadable(store.dispatch(approval.origin.run_id), undefined)
  const { targets, said } = run ? await readTalk(store, run) : { targets: [], said: '' }
  const chats = targets.flatMap((to) => ('channel' in to ? [chatOf(to)] : []))
  const own = chats.length > 0 ? languageOf(said) : language
  const origin = { agent_id: run?.agent_id ?? null, isUntrusted: await readsUntrusted(store, approval.session_id) }
  const texts = approvalTexts(approval, origin, { language: own, isChat: chats.length > 0 })
  return { id: `${APPROVAL}${approval.id}`, texts, language: own, expires: Date.parse(approval.expires_at), chats }
}

async function unknownItem(store: ItemStore, unknown: UnknownOutcome, language: Language): Promise<WaitingItem> {
  const run = await fallbackIfUnreadable(store.dispatch(unknown.dispatch_id), undefined)
  const origin = { agent_id: run?.agent_id ?? null, isUntrusted: await readsUntrusted(store, unknown.session_id) }
  const texts = unknownTexts(unknown, origin, language)
  return { id: `${UNKNOWN}${unknown.id}`, texts, language, expires: null, chats: [] }
}

/** Whether the session works with text of which the owner is not the author. */
async function readsUntrusted(store: Pick<Store, 'session' | 'label'>, session_id: string): Promise<boolean> {
  const session = await fallbackIfUnreadable(store.session(session_id), undefined)
  const label = session && (await fallbackIfUnreadable(store.label(workspaceKey(session.workspace)), undefined))
  return label?.trust === 'untrusted'
}
