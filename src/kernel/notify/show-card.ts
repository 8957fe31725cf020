/**
 * How a card is shown: its items with their buttons, and the same as a text for channels without cards.
 * Must not know: when a card is sent, what was told before.
 * Invariants: why, from where and where to stay on the card however long the arguments are; secrets are redacted.
 */

import { clipText } from '../../domain/clean-summary.ts'
import type { Language } from '../../domain/language.ts'
import type { Card, CardItem } from '../../domain/message.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Store } from '../../ports/store.ts'
import type { TrackedCard, TrackedItem } from './card-state.ts'
import { type ItemTexts, readWaitingItems, type WaitingItem } from './waiting-items.ts'
import { answerHere, cardTitle, jsonBytes, questionTexts, settledText } from './waiting-texts.ts'

/** Most characters of the text of a card. */
const MAX_TEXT = 16_000
/** Most bytes of a card as JSON, with what each item's buttons take. */
const MAX_BYTES = 26_000
const BUTTON_BYTES = 800
/** For the title, and the blank lines between items. */
const RESERVE = 100

export interface ShowDeps {
  readonly store: Store
  readonly channels: ReadonlyMap<string, Channel>
  /** Contract: the text without secrets. */
  redact(text: string): string
}

interface ShownCard {
  readonly text: string
  readonly shown: Card
  /** False: it has so many items that some would be cut. */
  readonly fits: boolean
}

export async function showCard(deps: ShowDeps, card: TrackedCard): Promise<ShownCard> {
  const { items, language, channel } = card
  const open = new Set(items.filter(({ state, question }) => state === 'open' && !question).map(({ id }) => id))
  const waiting = open.size === 0 ? [] : await readWaitingItems(deps.store, language, (id) => open.has(id))
  const texts = new Map(waiting.map((item) => [item.id, item.texts]))
  const most = Math.min(MAX_TEXT, deps.channels.get(channel)?.maxText ?? MAX_TEXT)
  const shownItems = items.map((item) => showItem(deps, card, { item, texts: textsOf(item, texts, language), most }))
  const title = cardTitle(items.filter(({ state }) => state === 'open').length, language)
  const shown = { title, items: shownItems.map(({ shown: one }) => one) }
  const [only, second] = items
  const alone = only && !second ? aloneText(deps, card, textsOf(only, texts, language)) : undefined
  const whole = [title, ...shownItems.map(({ line }) => line)].join('\n\n')
  const text = deps.redact(alone !== undefined && alone.length <= most ? alone : whole)
  return { text: clipText(text, MAX_TEXT), shown, fits: text.length <= most && shownItems.every(({ fits }) => fits) }
}

interface ItemToShow {
  readonly item: TrackedItem
  /** Undefined: it no longer waits. */
  readonly texts: ItemTexts | undefined
  /** Most characters of the whole text. */
  readonly most: number
}

/** Each item has the same share of the card. */
function showItem(deps: ShowDeps, card: TrackedCard, { item, texts, most }: ItemToShow) {
  if (!texts) {
    const text = settledText(item.subject, item.state === 'open' ? 'over' : item.state, card.language)
    return { shown: { id: item.id, text, actions: [] } satisfies CardItem, line: text, fits: true }
  }
  const commands = card.chat_id !== null || canReceive(deps, card) ? texts.commands : texts.terminalCommands
  const count = card.items.length
  const mostBytes = Math.floor(
    Math.min(MAX_BYTES / count - BUTTON_BYTES, (most - RESERVE) / count - commands.length - '\n\n\n'.length),
  )
  const text = deps.redact(texts.describe(mostBytes))
  const shown: CardItem = { id: item.id, text, actions: texts.actions }
  return { shown, line: `${text}\n${commands}`, fits: jsonBytes(text) <= mostBytes }
}

/** The text of the only item of a card, for channels without cards. */
function aloneText(deps: ShowDeps, card: TrackedCard, texts: ItemTexts | undefined): string | undefined {
  // In a conversation, the text says how to answer.
  const isToldHow = card.kind === 'reply' || !canReceive(deps, card)
  return !texts || isToldHow ? texts?.alone : `${texts.alone}\n${answerHere(texts.commands, card.language)}`
}

function canReceive({ channels }: ShowDeps, { channel }: TrackedCard): boolean {
  const { receive, connect } = channels.get(channel) ?? {}
  return receive !== undefined || connect !== undefined
}

/** Undefined: the item no longer waits. */
const textsOf = (
  { id, state, question }: TrackedItem,
  waiting: ReadonlyMap<string, WaitingItem['texts']>,
  language: Language,
): ItemTexts | undefined =>
  state !== 'open' ? undefined : question ? questionTexts(question, language) : waiting.get(id)
