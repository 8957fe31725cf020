/** The conversation of this page: the last messages with what came of them, and messages that are being sent. */

import { readCommand, runCommand } from '../api.ts'
import type { Message } from '../api-types.ts'
import { type Address, Outbox } from '../outbox.ts'

/** The chat that the page writes to. */
export const PAGE_CHAT = 'page'
/** The field of Talk. Without a model, simple tasks are done by rules. */
export const TALK: Address = { place: 'talk', rules: true }
const FIRST_COUNT = 20
const MORE_COUNT = 40
const MAX_COUNT = 100

/** A message that the server has not confirmed yet. */
interface PendingMessage {
  readonly text: string
  readonly at: number
}

export class Conversation {
  items: readonly Message[] = []
  pending: readonly PendingMessage[] = []
  hasMore = false
  /** Whether the messages were fetched at least once. */
  isLoaded = false
  readonly outbox = new Outbox()
  #isSettling = false
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
    const accepted = new Set(items.map(({ id }) => id))
    this.outbox.confirm((key) => accepted.has(key))
    this.#onChange()
  }

  async fetchEarlier(): Promise<void> {
    this.#limit = Math.min(this.#limit + MORE_COUNT, MAX_COUNT)
    await this.fetch()
  }

  /** Contract: what is known of messages without an answer is noted; those that a reload cut off are sent again. */
  async settle(report: (thrown: unknown) => void): Promise<void> {
    if (this.outbox.isEmpty || this.#isSettling) return
    this.#isSettling = true
    try {
      await this.fetch()
      for (const { address, text } of this.outbox.takeCutOff()) await this.send(address, text).catch(report)
    } finally {
      this.#isSettling = false
    }
  }

  /** Contract: if it rejects, the text is back where it was written. */
  async send(address: Address, text: string): Promise<void> {
    const pending = { at: Date.now(), text }
    if (address.place === TALK.place) this.pending = [...this.pending, pending]
    this.#onChange()
    try {
      await this.outbox.send(address, text, async (input) => {
        await runCommand('send', { ...input, chat: PAGE_CHAT })
        return true
      })
      // It is accepted, even if it cannot be read now.
      await this.fetch().catch(() => {})
    } finally {
      this.pending = this.pending.filter((each) => each !== pending)
      this.#onChange()
    }
  }
}
