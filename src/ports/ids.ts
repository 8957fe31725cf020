/** Ids: creates ids. Injected, so that tests and simulations can choose them. */
export interface Ids {
  /** Contract: unique within a home; sorts by creation time. */
  next(): string
}
