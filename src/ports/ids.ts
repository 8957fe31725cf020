/** Ids: injected identity. */
export interface Ids {
  /** Contract: unique within a home; sorts by creation time. */
  next(): string
}
