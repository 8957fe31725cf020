/** The length of a list that a store returns. */
export interface PageLimit {
  readonly limit: number
}
