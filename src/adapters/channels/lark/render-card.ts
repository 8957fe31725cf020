/**
 * The content of messages to Lark. Everything is a card (JSON 2.0) with Markdown elements: only cards show headings and
 * tables, have buttons, and can be replaced in place; `text` shows no Markdown, `post` no tables.
 */

import { clipText } from '../../../domain/clean-summary.ts'
import type { CardItem, ChannelMessage, MessageAction } from '../../../domain/message.ts'
import { cardMarkdown } from './card-markdown.ts'

/** Lark refuses a card of more than 30 kB or 200 elements; both are kept with some reserve. */
const MOST_BYTES = 28_000
const MOST_ITEMS = 25
const SUMMARY_LENGTH = 80
const TITLE_LENGTH = 200
const SHORTENED = '\n… (/approvals)'

/** What a button sends back when it is pressed. */
interface ButtonValue {
  readonly command: string
  readonly message: string
  readonly thread?: string
}

/** Contract: pure. The JSON text of the card of a message. */
export function renderCard(message: ChannelMessage): string {
  for (let length = 4000; length > 60; length = Math.floor(length / 2)) {
    const card = JSON.stringify(cardOf(message, length))
    if (Buffer.byteLength(card) <= MOST_BYTES) return card
  }
  return JSON.stringify(cardOf(message, 60))
}

/** `length`: most characters of an item. */
function cardOf(message: ChannelMessage, length: number): object {
  const { card, text, kind } = message
  const title = card?.title ?? ''
  const [firstLine = ''] = text.trimStart().split('\n', 1)
  return {
    schema: '2.0',
    config: { update_multi: true, summary: { content: clipText(title || firstLine, SUMMARY_LENGTH) } },
    ...(title === '' ? {} : { header: headerOf(title, kind === 'alert') }),
    body: {
      elements: card
        ? itemElements(card.items, length, message)
        : [markdown(cardMarkdown(length < 4000 ? clipText(text, length * 8) : text))],
    },
  }
}

const headerOf = (title: string, urgent: boolean): object => ({
  title: plain(clipText(title, TITLE_LENGTH)),
  template: urgent ? 'red' : 'blue',
})

function itemElements(items: readonly CardItem[], length: number, message: ChannelMessage): object[] {
  const shown = items.slice(0, MOST_ITEMS)
  const more = items.length - shown.length
  return [
    ...shown.flatMap(({ text, actions }) => [
      markdown(cardMarkdown(shorten(text, length))),
      ...(actions.length === 0 ? [] : [buttonRow(actions, message)]),
    ]),
    ...(more > 0 ? [markdown(`… +${more} (/approvals)`)] : []),
  ]
}

const shorten = (text: string, length: number): string =>
  text.length <= length ? text : clipText(text, length) + SHORTENED

const markdown = (content: string): object => ({ tag: 'markdown', content })
const plain = (content: string): object => ({ tag: 'plain_text', content })

const buttonRow = (actions: readonly MessageAction[], message: ChannelMessage): object => ({
  ...{ tag: 'column_set', flex_mode: 'flow', horizontal_spacing: '8px' },
  columns: actions.map((action) => ({ tag: 'column', width: 'auto', elements: [buttonOf(action, message)] })),
})

function buttonOf({ label, command, style }: MessageAction, { id, thread_id }: ChannelMessage): object {
  const value: ButtonValue = { command, message: id, ...(thread_id === undefined ? {} : { thread: thread_id }) }
  return {
    ...{ tag: 'button', text: plain(label), type: style ?? 'default' },
    behaviors: [{ type: 'callback', value }],
  }
}
