/** What the owner writes in Talk. It outlives its field, because an empty page has another one than a conversation. */

const DRAFT_KEY = 'tireless-draft'

export class Draft {
  /** Whether the last field had the focus when it was removed. */
  hadFocus = false
  readonly #listeners = new Set<(text: string) => void>()
  #text = sessionStorage.getItem(DRAFT_KEY) ?? ''

  get text(): string {
    return this.#text
  }

  write(text: string): void {
    this.#text = text
    try {
      sessionStorage.setItem(DRAFT_KEY, text)
    } catch {
      // Too long for the browser's storage: only a reload would lose it.
      sessionStorage.removeItem(DRAFT_KEY)
    }
    for (const listener of this.#listeners) listener(text)
  }

  /** Contract: puts the text before what was written meanwhile. */
  putBack(text: string): void {
    this.write(this.text === '' ? text : `${text}\n${this.text}`)
  }

  /** Contract: calls `listener` with every new text; call the result to stop. */
  listen(listener: (text: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
