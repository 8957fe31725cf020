/**
 * Keys of messages on their way. A text that is sent again because no answer came keeps its key, also after a reload:
 * if the server had accepted it all the same, it is not worked on twice.
 */

const STORED = 'tireless-messages'
/** Later, the same words are said once more on purpose. */
const SAME_MESSAGE_MS = 2 * 60_000

interface Unanswered {
  /** Whom the text is for. */
  readonly to: string
  readonly text: string
  readonly key: string
  readonly until: number
  /** It went back to where it was written. */
  readonly isBack: boolean
}

export class MessageKeys {
  #unanswered: readonly Unanswered[] = readStored()
  /** Keys of the messages that this page sends now. */
  readonly #sending = new Set<string>()
  /** A page that is left behind gets no answers any more: what looks like a failure is none. */
  #isLeft = false

  constructor() {
    addEventListener('pagehide', () => (this.#isLeft = true))
    addEventListener('pageshow', () => (this.#isLeft = false))
  }

  /** Contract: a new key unless the same text was sent without an answer. Call `keep` or `answered` afterwards. */
  take(to: string, text: string): string {
    const isSame = (each: Unanswered): boolean => each.to === to && each.text === text && Date.now() < each.until
    const key = this.#unanswered.find((each) => isSame(each) && !this.#sending.has(each.key))?.key ?? newKey()
    this.#sending.add(key)
    this.#replace(key, [{ to, text, key, until: Date.now() + SAME_MESSAGE_MS, isBack: false }])
    return key
  }

  /**
   * No answer came: it is not known whether the message was accepted. Contract: false if the page is left behind; then
   * it is sent when the page is loaded again.
   */
  keep(key: string): boolean {
    if (this.#isLeft) return false
    const kept = this.#unanswered.filter((each) => each.key === key)
    this.#sending.delete(key)
    this.#replace(
      key,
      kept.map((each) => ({ ...each, until: Date.now() + SAME_MESSAGE_MS, isBack: true })),
    )
    return true
  }

  answered(key: string): void {
    this.#sending.delete(key)
    this.#replace(key, [])
  }

  /** Contract: messages whose sending was cut off when the page was loaded again. */
  cutOff(): readonly Unanswered[] {
    return this.#unanswered.filter(({ key, isBack }) => !isBack && !this.#sending.has(key))
  }

  #replace(key: string, by: readonly Unanswered[]): void {
    const isKept = (each: Unanswered): boolean => each.key !== key && (!each.isBack || Date.now() < each.until)
    this.#unanswered = [...this.#unanswered.filter(isKept), ...by]
    try {
      sessionStorage.setItem(STORED, JSON.stringify(this.#unanswered))
    } catch {
      // Too long for the browser's storage: only a reload would lose it.
      sessionStorage.removeItem(STORED)
    }
  }
}

function readStored(): readonly Unanswered[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isUnanswered) : []
  } catch {
    return []
  }
}

const isUnanswered = (given: Partial<Unanswered> | null): boolean =>
  [given?.to, given?.text, given?.key].every((text) => typeof text === 'string') && typeof given?.until === 'number'

/** `randomUUID` is missing where the page is served to other machines without TLS. */
const newKey = (): string =>
  `page-${[...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('')}`
