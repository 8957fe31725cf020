/** Identity, injected. */
export interface Ids {
  /** Contract: never the same twice in one home; sorts by time of making. */
  next(): string
}
