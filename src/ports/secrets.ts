/** Secrets: what must not be kept or told, and how those who need one are handed it. */

import type { Redact } from '../domain/redacted.ts'

export interface Secrets {
  /** Contract: the text without any secret that is known by now, in any form in which it travels; everything else in it stays. */
  readonly hide: Redact
  /** Contract: the text with the value of every `secret:NAME` in it, for a call that goes there; throws `forbidden` unless each may. */
  fill(text: string, destinations: readonly string[]): string
}

/** Where there are none. */
export const NO_SECRETS: Secrets = { hide: (text) => text, fill: (text) => text }
