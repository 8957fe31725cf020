/** Postbox: how the words of an agent get to people: into the outbox, and from there by a channel. */

export interface Letter {
  /** It is posted once, however often it is said. */
  readonly id: string
  /** A channel, or `channel:chat`; null: the owner, wherever he is to be told. */
  readonly to: string | null
  readonly text: string
  /** Somebody waits for what is said to it: not held back in quiet hours. */
  readonly urgent: boolean
}

export interface Postbox {
  /** Contract: changes nothing; whether that leads to the owner, and to nobody else. */
  isOwners(to: string): boolean
  /** Contract: changes nothing; why nothing can be posted there, with where it can; undefined where it can. */
  refusal(to: string): string | undefined
  /** Contract: durable when it resolves; where it goes. `not_found` where there is no such way, with those there are. */
  post(letter: Letter): Promise<{ readonly channel: string }>
}
