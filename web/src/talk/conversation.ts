/** The conversation of this page: the last messages with what came of them, and messages that are being sent. */

import { readCommand, runCommand } from '../api.ts'
import type { Message } from '../api-types.ts'
import { Draft } from './draft.ts'
import { MessageKeys } from './message-keys.ts'

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
  readonly draft = new Draft()
  readonly keys = new MessageKeys()
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

  /** Contract: what a reload of the page cut off is sent again, or put back into the field; the rest is reported. */
  async resend(report: (thrown: unknown) => void): Promise<void> {
    for (const { to, text, key, until } of this.keys.cutOff()) {
      const putBack = (): void => this.draft.putBack(text)
      if (Date.now() < until)
        await this.send(text, to).catch((thrown) => {
          putBack()
          report(thrown)
        })
      else {
        putBack()
        this.keys.answered(key)
      }
    }
  }

  /** `to`: the page's chat, or a session. Contract: it is accepted when it resolves, unless the page is left behind. */
  async send(text: string, to = PAGE_CHAT): Promise<void> {
    const key = this.keys.take(to, text)
    this.pending = [...this.pending, { key, text, at: Date.now() }]
    this.#onChange()
    try {
      const place = to === PAGE_CHAT ? { rules: true } : { session: to }
      await runCommand('send', { text, chat: PAGE_CHAT, key, ...place })
      this.keys.answered(key)
      // It is accepted, even if it cannot be read now.
      await this.fetch().catch(() => {})
    } catch (thrown) {
      if (this.keys.keep(key)) throw thrown
    } finally {
      this.pending = this.pending.filter((each) => each.key !== key)
      this.#onChange()
    }
  }
}
