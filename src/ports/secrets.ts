/** Secrets: redacts secret values from texts and supplies them to calls that may use them. */

import type { Redact } from '../domain/redact.ts'

export interface Secrets {
  /** Contract: returns the text without known secrets, in any encoding; nothing else is changed. */
  readonly hide: Redact
  /**
   * Contract: replaces each `secret:NAME` by its value; throws `forbidden` unless every destination may get that
   * secret.
   */
  fill(text: string, destinations: readonly string[]): string
}

/** Secrets for runs that have none: nothing is hidden or filled in. */
export const NO_SECRETS: Secrets = { hide: (text) => text, fill: (text) => text }
