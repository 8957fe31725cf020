/** Data fences: content that came from elsewhere, marked as such. The nonce is made when it is journalled, so its author cannot have known it. */

import { hash } from 'node:crypto'

export interface Inserted {
  readonly label: string
  readonly text: string
  readonly nonce: string
}

export function fenced({ label, text, nonce }: Inserted): string {
  // Nobody can know it beforehand; where it is in there all the same, it proves nothing.
  const mark = text.includes(nonce) ? nonceOf(nonce, text) : nonce
  return `<data ${mark} ${label}>\n${text}\n</data ${mark}>`
}

/** Contract: the same for the same words, and nothing that whoever wrote some of them could foresee without the others. */
export function nonceOf(...words: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(words)).slice(0, 12)
}
