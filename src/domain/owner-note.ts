/** Owner note: a problem or fact that the owner must learn about, apart from cycle results. */

export interface OwnerNote {
  /** Identifies the topic, whatever the text says: each topic is reported once. */
  readonly about: string
  readonly text: string
  /** The text in Chinese. */
  readonly zh?: string
}
