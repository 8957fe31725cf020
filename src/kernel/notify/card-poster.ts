/**
 * Card poster: tells the owner what waits, on cards: what comes within a minute makes one card, which is updated in
 * place when more comes, and when an item was answered anywhere or has expired.
 * Must not know: how channels work.
 * Invariants: a card and the note that it exists are one commit, so that restarts and repeated passes tell nothing
 * twice; an item without buttons can no longer be answered on the card; secrets are redacted before they are stored.
 */

import type { Language } from '../../domain/language.ts'
import type { OutboxMessage } from '../../domain/message.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AskedQuestion } from '../../ports/message-sender.ts'
import { fallbackIfUnreadable, type Op } from '../../ports/store.ts'
import {
  findCard,
  GATHER_MS,
  halveCard,
  isOpen,
  MAX_ITEMS,
  repeatAt,
  type TrackedCard,
  type TrackedItem,
} from './card-state.ts'
import { type ShowDeps, showCard } from './show-card.ts'
import { StoredCards } from './stored-cards.ts'
import { type ChatTarget, findItemOutcome, openItemIds, readWaitingItems } from './waiting-items.ts'
import { questionTexts } from './waiting-texts.ts'

/** At most so many failed messages are looked at; the outbox keeps no more finished ones. */
const MAX_FAILED = 1000

interface CardPosterDeps extends ShowDeps {
  readonly clock: Clock
  language(): Language
  /** Contract: where notices go; null: nowhere. */
  target(): Promise<ChatTarget | null>
  /** Contract: the end of the quiet hours if `now` is in them. */
  quietUntil(now: number): number | undefined
}

interface NewItem {
  readonly tracked: TrackedItem
  readonly target: ChatTarget
  readonly kind: TrackedCard['kind']
  readonly language: Language
  /** The id of the card if the item opens one. */
  readonly cardId: string
}

export class CardPoster {
  readonly #deps: CardPosterDeps
  readonly #cards: StoredCards

  constructor(deps: CardPosterDeps) {
    this.#deps = deps
    this.#cards = new StoredCards(deps.store)
  }

  /**
   * Contract: tells what waits and was not told, and what became of what was told. `canGather`: a channel that cannot
   * replace messages may get the next card later, because this process stays. Rejects only if the store fails.
   */
  refresh(canGather: boolean): Promise<void> {
    return this.#cards.inTurn(async () => {
      await this.#settleItems()
      await this.#tellAgain()
      for (const group of groupByCard(await this.#findNew())) await this.#add(group, canGather)
    })
  }

  /** Contract: tells a question of an agent, once per id; resolves when it is on disk. */
  ask(id: string, asked: AskedQuestion, target: ChatTarget): Promise<void> {
    return this.#cards.inTurn(async () => {
      const language = this.#deps.language()
      if ((await this.#cards.load()).some(({ items }) => items.some((item) => item.id === id))) return
      const { subject } = questionTexts(asked, language)
      const { session_id, agent_id } = asked
      const question = { session_id, agent_id, question: this.#deps.redact(asked.question), parked: false }
      const tracked = { id, subject: this.#deps.redact(subject), state: 'open', question } as const
      await this.#add([{ tracked, target: pickTarget(target), kind: 'alert', language, cardId: id }], false)
    })
  }

  /** Contract: whether the message is a card of which nothing was sent and nothing waits any more. */
  async isOver({ id, provider_id, sent_at }: OutboxMessage): Promise<boolean> {
    if (!/^(approval|unknown|ask)-/.test(id) || provider_id !== null || sent_at !== null) return false
    const card = (await this.#cards.load()).find((one) => one.id === id)
    if (card) return !isOpen(card)
    if ((await this.#cards.load()).some(({ before }) => before === id)) return true
    // A notice of an earlier version, or a card that was forgotten because all its items are settled.
    return id.startsWith('ask-') ? false : (await findItemOutcome(this.#deps.store, id)) !== null
  }

  /** Updates the cards of which an item no longer waits. */
  async #settleItems(): Promise<void> {
    const cards = await this.#cards.load()
    const open = cards.length === 0 ? new Set<string>() : await openItemIds(this.#deps.store)
    for (const card of cards) {
      const items = await Promise.all(card.items.map((item) => (open.has(item.id) ? item : this.#settleItem(item))))
      if (items.every((item, at) => item === card.items[at])) continue
      const changed = { ...card, items }
      const others = (cards: readonly TrackedCard[]) => cards.map((one) => (one.id === card.id ? changed : one))
      const hasOutcome = items.some(({ state }, at) => state !== card.items[at]?.state)
      const now = this.#deps.clock.now()
      const revised =
        hasOutcome && (await this.#cards.commit([await this.#revision(changed, now)], others(await this.#cards.load())))
      // A card that cannot be replaced stays as it is.
      if (!revised) await this.#cards.commit([], others(await this.#cards.load()))
    }
  }

  /** Tells again what could not be delivered, and what the owner was told in a chat that gets no notices any more. */
  async #tellAgain(): Promise<void> {
    const cards = (await this.#cards.load()).filter(isOpen)
    if (cards.length === 0) return
    const [now, target] = [this.#deps.clock.now(), await this.#deps.target()]
    const failed = await this.#failedIds()
    for (const card of cards) {
      const isMoved = card.kind !== 'reply' && target !== null && !this.#isSamePlace(card, target)
      if (!isMoved && !(failed.has(card.id) && now >= repeatAt(card))) continue
      const open = card.items.filter(({ state }) => state === 'open')
      const again = await this.#fit({
        ...card,
        ...(isMoved ? pickTarget(target) : {}),
        ...{ id: `${open[0]?.id}-again-${now}`, before: card.id, repeats: isMoved ? 0 : (card.repeats ?? 0) + 1 },
        ...{ opened: now, due: this.#dueAt(card.kind, now), items: open },
      })
      const items = card.items.map((item) => (item.state === 'open' ? { ...item, state: 'moved' as const } : item))
      const posts = await this.#posts(again, now)
      const left = async () => [...(await this.#cards.load()).filter(({ id }) => id !== card.id), ...again]
      const moved = await this.#cards.commit([await this.#revision({ ...card, items }, now), ...posts], await left())
      // A card that cannot be replaced stays as it is.
      if (!moved) await this.#cards.commit(posts, await left())
    }
  }

  /** The ids of messages that were not delivered, in no version. */
  async #failedIds(): Promise<ReadonlySet<string>> {
    const failed = await fallbackIfUnreadable(this.#deps.store.outbox({ status: 'failed', limit: MAX_FAILED }), [])
    return new Set(failed.filter(({ provider_id }) => provider_id === null).map(({ id }) => id))
  }

  #isSamePlace(card: TrackedCard, target: ChatTarget): boolean {
    const chatOf = ({ channel, chat_id }: ChatTarget) =>
      chat_id ?? this.#deps.channels.get(channel)?.ownChat?.() ?? null
    return card.channel === target.channel && chatOf(card) === chatOf(target)
  }

  async #settleItem(item: TrackedItem): Promise<TrackedItem> {
    if (item.state !== 'open') return item
    const { question } = item
    if (!question) {
      const state = await findItemOutcome(this.#deps.store, item.id)
      return state === null ? item : { ...item, state }
    }
    const session = await fallbackIfUnreadable(this.#deps.store.session(question.session_id), undefined)
    if (session?.status === 'waiting')
      return question.parked ? item : { ...item, question: { ...question, parked: true } }
    if (session?.status === 'active') return question.parked ? { ...item, state: 'answered' } : item
    return { ...item, state: question.parked && session ? 'answered' : 'over' }
  }

  async #findNew(): Promise<readonly NewItem[]> {
    const { store, clock, redact } = this.#deps
    const told = new Set((await this.#cards.load()).flatMap(({ items }) => items.map(({ id }) => id)))
    const waiting = await readWaitingItems(store, this.#deps.language(), (id) => !told.has(id))
    if (waiting.length === 0) return []
    const [target, now] = [await this.#deps.target(), clock.now()]
    const morning = this.#deps.quietUntil(now) ?? now
    return waiting.flatMap(({ id, chats, expires, language, texts }): NewItem[] => {
      const isTalk = chats.length > 0
      const kind = isTalk ? 'reply' : expires !== null && expires <= morning ? 'alert' : 'notice'
      const tracked = { id, subject: redact(texts.subject), state: 'open' } as const
      const targets = isTalk ? chats : target ? [target] : []
      return targets.map((to, at) => {
        return { tracked, target: pickTarget(to), kind, language, cardId: at === 0 ? id : `${id}-${at}` }
      })
    })
  }

  /** Adds items for the same target to its current card, or to a new one. */
  async #add(items: readonly [NewItem, ...NewItem[]], canGather: boolean): Promise<void> {
    const [{ target, kind, language, cardId }] = items
    const now = this.#deps.clock.now()
    const tracked = items.map((item) => item.tracked)
    const card = findCard(await this.#cards.load(), { ...target, kind, language }, now)
    if (
      card &&
      card.items.length + items.length <= MAX_ITEMS &&
      (await this.#grow(card, tracked, this.#dueAt(kind, now)))
    )
      return
    // The card before cannot be replaced: what comes until its minute is over makes one more.
    const pause = card && canGather && kind === 'notice' ? card.opened + GATHER_MS : now
    const due = Math.max(this.#dueAt(kind, now), pause)
    const opened = await this.#fit({ ...target, id: cardId, kind, language, opened: now, due, items: tracked })
    await this.#cards.commit(await this.#posts(opened, now), [...(await this.#cards.load()), ...opened])
  }

  /** Contract: the card, or as many as it takes to show all its items. */
  async #fit(card: TrackedCard): Promise<readonly TrackedCard[]> {
    if (card.items.length <= 1 || (await showCard(this.#deps, card)).fits) return [card]
    return (await Promise.all(halveCard(card).map((half) => this.#fit(half)))).flat()
  }

  #posts(cards: readonly TrackedCard[], now: number): Promise<readonly Extract<Op, { op: 'post' }>[]> {
    return Promise.all(
      cards.map(async (card) => {
        const { text, shown } = await showCard(this.#deps, card)
        const message = { ...pickTarget(card), id: card.id, kind: card.kind, text, card: shown }
        return { op: 'post' as const, message, due: card.due, now }
      }),
    )
  }

  /** Contract: false if the card can no longer be revised, or would not show all items. */
  async #grow(card: TrackedCard, added: readonly TrackedItem[], from: number): Promise<boolean> {
    const due = Math.max(card.due, from)
    const grown = { ...card, due, items: [...card.items, ...added] }
    if (!(await showCard(this.#deps, grown)).fits) return false
    const cards = (await this.#cards.load()).map((one) => (one.id === card.id ? grown : one))
    return this.#cards.commit([await this.#revision(grown, due)], cards)
  }

  #dueAt(kind: TrackedCard['kind'], now: number): number {
    return kind === 'notice' ? (this.#deps.quietUntil(now) ?? now) : now
  }

  async #revision(card: TrackedCard, due: number): Promise<Extract<Op, { op: 'revise' }>> {
    const { text, shown } = await showCard(this.#deps, card)
    return { op: 'revise', id: card.id, text, card: shown, due }
  }
}

const pickTarget = ({ channel, chat_id, thread_id }: ChatTarget): ChatTarget => ({
  ...{ channel, chat_id },
  ...(thread_id === undefined ? {} : { thread_id }),
})

/** Contract: the items in groups of one card each, in order. */
function groupByCard(items: readonly NewItem[]): readonly (readonly [NewItem, ...NewItem[]])[] {
  const keyOf = ({ target, kind, language }: NewItem): string =>
    JSON.stringify([target.channel, target.chat_id, target.thread_id, kind, language])
  return [...Map.groupBy(items, keyOf).values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MAX_ITEMS) }, (_, at) =>
      group.slice(at * MAX_ITEMS, (at + 1) * MAX_ITEMS),
    ).flatMap(([first, ...rest]) => (first ? [[first, ...rest] as const] : [])),
  )
}
