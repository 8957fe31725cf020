/** Lets any number of loops wait for the next news. */

export class News {
  #next = Promise.withResolvers<void>()

  /** Contract: resolves with the next `tell` after this call. */
  get next(): Promise<void> {
    return this.#next.promise
  }

  tell = (): void => {
    this.#next.resolve()
    this.#next = Promise.withResolvers<void>()
  }
}
