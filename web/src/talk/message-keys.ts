/**
 * Keys of messages. A text that is sent again because no answer came keeps its key: if the server had accepted it all
 * the same, it is not worked on twice.
 */

/** Later, the same words are said once more on purpose. */
const SAME_MESSAGE_MS = 2 * 60_000

export class MessageKeys {
  readonly #unanswered = new Map<string, { readonly key: string; readonly until: number }>()

  /** `to`: whom the text is for. Contract: a key of its own, unless `keep` was called for the same text. */
  take(to: string, text: string): string {
    const known = this.#unanswered.get(nameOf(to, text))
    this.#unanswered.delete(nameOf(to, text))
    return known && Date.now() < known.until ? known.key : newKey()
  }

  /** No answer came: it is not known whether the message was accepted. */
  keep(to: string, text: string, key: string): void {
    this.#unanswered.set(nameOf(to, text), { key, until: Date.now() + SAME_MESSAGE_MS })
  }
}

const nameOf = (to: string, text: string): string => `${to} ${text}`

/** `randomUUID` is missing where the page is served to other machines without TLS. */
const newKey = (): string =>
  `page-${[...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('')}`
