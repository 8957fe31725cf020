/** A text that the owner writes. It outlives its field, a reload and a login. */

export class Draft {
  /** Whether the last field had the focus when it was removed. */
  hadFocus = false
  readonly #listeners = new Set<(text: string) => void>()
  readonly #stored: string
  #text: string

  /** `place`: where it is written. */
  constructor(place: string) {
    this.#stored = `tireless-draft ${place}`
    this.#text = sessionStorage.getItem(this.#stored) ?? ''
  }

  get text(): string {
    return this.#text
  }

  write(text: string): void {
    this.#text = text
    sessionStorage.removeItem(this.#stored)
    try {
      if (text !== '') sessionStorage.setItem(this.#stored, text)
    } catch {
      // Too long for the browser's storage: only a reload would lose it.
    }
    for (const listener of this.#listeners) listener(text)
  }

  /** Contract: puts the text before what was written meanwhile. */
  putBack(text: string): void {
    this.write(this.text === '' ? text : `${text}${jointOf(text)}${this.text}`)
  }

  /** Contract: takes away what `putBack` put there, if it is still there as it was. */
  takeBack(text: string): void {
    if (this.text === text) this.write('')
    else if (this.text.startsWith(`${text}${jointOf(text)}`)) this.write(this.text.slice(text.length + 1))
  }

  /** Contract: calls `listener` with every new text; call the result to stop. */
  listen(listener: (text: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Some fields have one line. */
const jointOf = (text: string): string => (text.includes('\n') ? '\n' : ' ')
