/** The length of a list that a store returns. */
export interface PageLimit {
  readonly limit: number
}

/** A part of a list. */
export interface PageWindow extends PageLimit {
  /** How many of the list are left out at its start; default: 0. */
  readonly offset?: number | undefined
}
