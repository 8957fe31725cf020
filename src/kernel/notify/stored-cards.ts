/**
 * The cards in the store, and their changes, one after the other. On a shared store, agents ask in the process that
 * runs them, and the leader tells the rest: a process whose cards were changed by another one starts over.
 * Must not know: what is on a card, and where it is shown.
 * Invariant: each change starts from the cards that the one before left, in whatever process.
 */

import { asTirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { commitOne, fallbackIfUnreadable, isSharedStore, type Op, type Store } from '../../ports/store.ts'
import { CARDS_SETTING, isOpen, readCards, storeCards, type TrackedCard } from './card-state.ts'

interface LoadedCards {
  readonly cards: readonly TrackedCard[]
  /** What they were read from; undefined: no other process writes it, or it is unreadable. */
  readonly stored: Json | undefined
}

export class StoredCards {
  readonly #store: Store
  readonly #isShared: boolean
  #last: Promise<unknown> = Promise.resolve()
  #loaded: Promise<LoadedCards> | undefined

  constructor(store: Store) {
    this.#store = store
    this.#isShared = isSharedStore(store)
  }

  /** Contract: runs after earlier work; what it has not committed is begun again if another process was faster. */
  inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(() => (this.#isShared ? this.#besideOthers(work) : work()))
    this.#last = done.catch(() => {})
    return done
  }

  /** Ends, because each new beginning means that another process has come further. */
  async #besideOthers(work: () => Promise<void>): Promise<void> {
    for (;;)
      try {
        this.#loaded = undefined
        return await work()
      } catch (thrown) {
        if (asTirelessError(thrown).code !== 'store_sequence') throw thrown
      }
  }

  async load(): Promise<readonly TrackedCard[]> {
    this.#loaded ??= this.#read()
    return (await this.#loaded).cards
  }

  async #read(): Promise<LoadedCards> {
    try {
      const stored = await fallbackIfUnreadable(this.#store.setting(CARDS_SETTING), undefined)
      return { cards: readCards(stored ?? null), stored: this.#isShared ? stored : undefined }
    } catch (thrown) {
      this.#loaded = undefined
      throw thrown
    }
  }

  /**
   * Commits the cards, changed since `load`, together with the operations that show them. Contract: false if a card
   * cannot be revised.
   */
  async commit(ops: readonly Op[], cards: readonly TrackedCard[]): Promise<boolean> {
    const base = (await this.#loaded)?.stored
    const change = storeCards(cards)
    try {
      await commitOne(this.#store, [...ops, { ...change, ...(base === undefined ? {} : { base }) }])
    } catch (thrown) {
      this.#loaded = undefined
      if (asTirelessError(thrown).code !== 'conflict') throw thrown
      return false
    }
    const stored = this.#isShared ? change.value : undefined
    this.#loaded = Promise.resolve({ cards: cards.filter(isOpen), stored })
    return true
  }
}
