/** Secrets: redacts secret values from texts and supplies them to calls that may use them. */

import type { Redact } from '../domain/redact.ts'

/** A text that is hidden from the model, and the placeholder (`‹secret:NAME›`) that the model sees in its place. */
export interface HiddenText {
  readonly placeholder: string
  readonly text: string
}

export interface Secrets {
  /** Contract: returns the text without known secrets, in any encoding; nothing else is changed. */
  readonly hide: Redact
  /**
   * Contract: every text that `hide` replaces in the text, or in some of its lines, with its placeholder. A placeholder
   * never stands for two texts.
   */
  find(text: string): readonly HiddenText[]
  /**
   * Contract: replaces each `secret:NAME` by its value; throws `forbidden` unless every destination may get that
   * secret.
   */
  fill(text: string, destinations: readonly string[]): string
}

/** Secrets for runs that have none: nothing is hidden or filled in. */
export const NO_SECRETS: Secrets = { hide: (text) => text, find: () => [], fill: (text) => text }
