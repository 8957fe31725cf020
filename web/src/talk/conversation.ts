/** The conversation of this page: the last messages with what came of them, and messages that are being sent. */

import { readCommand, runCommand } from '../api.ts'
import type { Message } from '../api-types.ts'

/** The chat that the page writes to. */
export const PAGE_CHAT = 'page'
const FIRST_COUNT = 20
const MORE_COUNT = 40
const MAX_COUNT = 100

/** A message that the server has not confirmed yet. */
interface PendingMessage {
  readonly key: string
  readonly text: string
  readonly at: number
}

export class Conversation {
  items: readonly Message[] = []
  pending: readonly PendingMessage[] = []
  hasMore = false
  /** Whether the messages were fetched at least once. */
  isLoaded = false
  #limit = FIRST_COUNT
  #version = 0
  readonly #onChange: () => void

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  async fetch(): Promise<void> {
    this.#version += 1
    const version = this.#version
    const { items, more } = await readCommand('messages list', { chat: PAGE_CHAT, limit: this.#limit })
    // A newer request is on its way.
    if (version !== this.#version) return
    this.items = items
    this.hasMore = more && this.#limit < MAX_COUNT
    this.isLoaded = true
    this.#onChange()
  }

  async fetchEarlier(): Promise<void> {
    this.#limit = Math.min(this.#limit + MORE_COUNT, MAX_COUNT)
    await this.fetch()
  }

  /** Contract: the message is accepted when it resolves; its key keeps a repeated request from sending it twice. */
  async send(text: string): Promise<void> {
    const message = { key: newKey(), text, at: Date.now() }
    this.pending = [...this.pending, message]
    this.#onChange()
    try {
      await runCommand('send', { text, chat: PAGE_CHAT, key: message.key, rules: true })
      await this.fetch()
    } finally {
      this.pending = this.pending.filter(({ key }) => key !== message.key)
      this.#onChange()
    }
  }
}

/** `randomUUID` is missing where the page is served to other machines without TLS. */
const newKey = (): string =>
  `page-${[...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('')}`
