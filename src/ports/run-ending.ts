/** How a plugin ends a run: the env whose world has come to its end, or a stop rule. */

export interface RunEnding {
  /** Why the run is over, for people. */
  readonly reason: string
  /** The result of the run. Default: it has none. */
  readonly answer?: string
  /** True: the run has failed, and `reason` is its error. */
  readonly failed?: boolean
}
