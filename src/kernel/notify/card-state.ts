/**
 * The cards that show something that waits: which items each has, and what became of them. Pure.
 * Must not know: channels, the store, texts.
 * Invariants: an item is on one card per target; a card is forgotten when all its items are settled, so the state does
 * not grow with what was told.
 */

import type { Json } from '../../domain/json.ts'
import type { Language } from '../../domain/language.ts'
import type { AskedQuestion } from '../../ports/message-sender.ts'
import type { ChatTarget, ItemOutcome } from './waiting-items.ts'

/** Key of the cards in the store's settings. */
export const CARDS_SETTING = 'cards'
/** What comes within this time after a card was opened joins it. */
export const GATHER_MS = 60_000
/** A channel shows at most so many items on one card. */
export const MAX_ITEMS = 25

/** `alert`, `reply`: sent at any hour. */
type CardKind = 'notice' | 'alert' | 'reply'

type CardQuestion = AskedQuestion & {
  /** The run has parked since it asked: when it moves again, the question is answered. */
  readonly parked: boolean
}

export type TrackedItem = {
  readonly id: string
  readonly subject: string
  readonly state: 'open' | ItemOutcome
  readonly question?: CardQuestion
}

export type TrackedCard = {
  /** The id of its message: that of its first item, with a number if the item goes to several chats. */
  readonly id: string
  readonly channel: string
  readonly chat_id: string | null
  readonly thread_id?: string
  readonly kind: CardKind
  readonly language: Language
  readonly opened: number
  /** It is not sent before this instant. */
  readonly due: number
  readonly items: readonly TrackedItem[]
  /** The id of the card whose items this one tells again, and how often they were told in vain. */
  readonly before?: string
  readonly repeats?: number
}

/** Items that could not be told are told again after this time, then after twice the time before. */
const REPEAT_MS = 3_600_000
const MAX_REPEAT_MS = 86_400_000

/** Contract: the instant from which the items of a card that could not be delivered are told again. */
export const repeatAt = ({ opened, repeats = 0 }: TrackedCard): number =>
  opened + Math.min(REPEAT_MS * 2 ** repeats, MAX_REPEAT_MS)

/** Contract: the stored cards; those that cannot be read are left out. */
export function readCards(value: Json): readonly TrackedCard[] {
  return Array.isArray(value) ? (value as unknown as readonly TrackedCard[]).filter(isCard) : []
}

function isCard(value: Partial<TrackedCard> | null): value is TrackedCard {
  if (typeof value !== 'object' || value === null) return false
  const { id, channel, chat_id, opened, due, items, language, kind, thread_id } = value
  const texts = [id, channel, chat_id ?? '', kind, thread_id ?? '']
  const isKnownLanguage = language === 'en' || language === 'zh'
  return (
    texts.every((text) => typeof text === 'string') &&
    [opened, due].every(Number.isFinite) &&
    isKnownLanguage &&
    Number.isFinite(value.repeats ?? 0) &&
    Array.isArray(items) &&
    items.every(isItem)
  )
}

function isItem(value: Partial<TrackedItem> | null): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { id, subject, state, question } = value
  const isQuestion =
    question === undefined || (typeof question === 'object' && typeof question?.session_id === 'string')
  return [id, subject, state].every((text) => typeof text === 'string') && isQuestion
}

export const storeCards = (cards: readonly TrackedCard[]) =>
  ({ op: 'set', name: CARDS_SETTING, value: cards.filter(isOpen) as unknown as Json }) as const

/** Whether something on the card still waits. */
export const isOpen = ({ items }: TrackedCard): boolean => items.some(({ state }) => state === 'open')

const isSameChatTarget = (a: ChatTarget, b: ChatTarget): boolean =>
  a.channel === b.channel && a.chat_id === b.chat_id && a.thread_id === b.thread_id

/** Contract: two cards, each with half of the items, with an id that no other card has. */
export function halveCard(card: TrackedCard): readonly TrackedCard[] {
  const { items } = card
  const [first] = items
  const suffix = first && card.id.startsWith(first.id) ? card.id.slice(first.id.length) : ''
  const half = Math.ceil(items.length / 2)
  const [second, ...rest] = items.slice(half)
  if (!second) return [card]
  return [
    { ...card, items: items.slice(0, half) },
    { ...card, id: `${second.id}${suffix}`, items: [second, ...rest] },
  ]
}

/**
 * Contract: the card that a new item joins; undefined if it needs one of its own. An urgent item does not join a card
 * that waits for the end of the quiet hours; what is said in a conversation stays apart.
 */
export function findCard(
  cards: readonly TrackedCard[],
  wanted: ChatTarget & Pick<TrackedCard, 'kind' | 'language'>,
  now: number,
): TrackedCard | undefined {
  return cards.findLast(
    (card) =>
      isSameChatTarget(card, wanted) &&
      (card.kind === 'reply') === (wanted.kind === 'reply') &&
      (wanted.kind === 'notice' || card.due <= now) &&
      card.language === wanted.language &&
      card.items.length < MAX_ITEMS &&
      (now - card.opened < GATHER_MS || now < card.due),
  )
}
