/** Note: something an owner should hear of, whatever else happened. */

export interface Note {
  /** The same as long as it is the same matter, whatever the words: it is told once. */
  readonly about: string
  readonly text: string
  /** The same for those who are told in Chinese. */
  readonly zh?: string
}
