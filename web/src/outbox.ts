/**
 * Messages of the owner on their way. A text without an answer goes back to where it was written. Until it is known
 * whether the server has accepted it, sending it again from there uses the same key, so that it is not worked on twice.
 */

import type { CommandInput } from '../../src/commands/lib/registry.ts'
import { Draft } from './draft.ts'

const STORED = 'tireless-messages'
/** A message that was cut off longer ago is not sent without the owner. */
const RESENT_MS = 2 * 60_000
/** Later, the same words are said once more on purpose. */
const FORGOTTEN_MS = 10 * 60_000

/** Whom a message is for, and where it is written. */
export interface Address extends Pick<CommandInput<'send'>, 'session' | 'answers' | 'asked_until' | 'new' | 'rules'> {
  /** The name of its draft. */
  readonly place: string
}

interface Unanswered {
  readonly address: Address
  readonly text: string
  readonly key: string
  readonly at: number
  /** It went back to where it was written. */
  readonly isBack: boolean
}

/** Contract: sends the message; false, or a rejection: no answer came, or it was refused. */
type Transmit = (input: Omit<CommandInput<'send'>, 'chat'>) => Promise<boolean>

export class Outbox {
  #unanswered: readonly Unanswered[] = readStored()
  /** Keys of the messages that this page sends now. */
  readonly #sending = new Set<string>()
  readonly #drafts = new Map<string, Draft>()
  /** A page that is left behind gets no answers any more: what looks like a failure is none. */
  #isLeft = false

  constructor() {
    addEventListener('pagehide', () => (this.#isLeft = true))
    addEventListener('pageshow', () => (this.#isLeft = false))
  }

  /** Contract: the same object for the same place. */
  draft(place: string): Draft {
    const draft = this.#drafts.get(place) ?? new Draft(place)
    this.#drafts.set(place, draft)
    return draft
  }

  /**
   * Contract: true: it was accepted, or the page is left behind, and it is sent when it is loaded again. False, or a
   * rejection with the reason: its text is back in its draft.
   */
  async send(address: Address, text: string, transmit: Transmit): Promise<boolean> {
    const { place, ...to } = address
    const key = this.#take(address, text)
    let isAccepted = false
    try {
      isAccepted = await transmit({ ...to, text, key })
    } finally {
      this.#sending.delete(key)
      // What was not accepted before it is over: the owner has gone on.
      if (isAccepted) this.#keep((each) => each.key !== key && !(each.isBack && each.address.place === place))
      else if (!this.#isLeft) this.#putBack(key)
    }
    return isAccepted || this.#isLeft
  }

  /** Contract: forgets messages that the server has accepted, and takes their texts out of the drafts. */
  confirm(isAccepted: (key: string) => boolean): void {
    for (const { address, text, key, isBack } of this.#unanswered) {
      if (this.#sending.has(key) || !isAccepted(key)) continue
      if (isBack) this.draft(address.place).takeBack(text)
      this.#keep((each) => each.key !== key)
    }
  }

  get isEmpty(): boolean {
    return !this.#unanswered.some(isFresh)
  }

  /** Contract: messages that were cut off when the page was left, to be sent now; older ones go back. */
  takeCutOff(): readonly Pick<Unanswered, 'address' | 'text'>[] {
    const cutOff = this.#unanswered.filter(({ key, isBack }) => !isBack && !this.#sending.has(key))
    const isRecent = ({ at }: Unanswered): boolean => Date.now() - at < RESENT_MS
    for (const { key } of cutOff.filter((each) => !isRecent(each))) this.#putBack(key)
    return cutOff.filter(isRecent)
  }

  #take(address: Address, text: string): string {
    const isSame = (each: Unanswered): boolean => each.address.place === address.place && each.text === text
    const known = this.#unanswered.find((each) => isSame(each) && isFresh(each) && !this.#sending.has(each.key))
    const key = known?.key ?? newKey()
    this.#sending.add(key)
    this.#keep((each) => each.key !== key, { address, text, key, at: Date.now(), isBack: false })
    return key
  }

  #putBack(key: string): void {
    const message = this.#unanswered.find((each) => each.key === key)
    if (!message) return
    this.#keep((each) => each.key !== key, { ...message, isBack: true })
    this.draft(message.address.place).putBack(message.text)
  }

  #keep(isKept: (each: Unanswered) => boolean, ...added: readonly Unanswered[]): void {
    this.#unanswered = [...this.#unanswered.filter((each) => isKept(each) && isFresh(each)), ...added]
    try {
      sessionStorage.setItem(STORED, JSON.stringify(this.#unanswered))
    } catch {
      // Too long for the browser's storage: only a reload would lose it.
      sessionStorage.removeItem(STORED)
    }
  }
}

const isFresh = ({ at, isBack }: Unanswered): boolean => !isBack || Date.now() - at < FORGOTTEN_MS

function readStored(): readonly Unanswered[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isUnanswered) : []
  } catch {
    return []
  }
}

const isUnanswered = (given: Partial<Unanswered> | null): boolean =>
  [given?.address?.place, given?.text, given?.key].every((text) => typeof text === 'string') &&
  typeof given?.at === 'number'

/** `randomUUID` is missing where the page is served to other machines without TLS. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
