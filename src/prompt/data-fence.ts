/** Data fences: content that came from elsewhere, marked as such. The nonce is made when it is journalled, so its author cannot have known it. */

import { hash } from 'node:crypto'

export interface Inserted {
  readonly label: string
  readonly text: string
  readonly nonce: string
}

/** What passes for the words of a provider's own template, or for a fence of ours. */
const LOOKALIKES =
  /<[|｜][^|｜<>\n]{1,40}[|｜]>|<<\/?SYS>>|\[\/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS)\]|<\/?(?:s|bos|eos|(?:start|end)_of_turn|tool_call|tool_response|function_calls)>|<(?=\s?\/?\s?data\s)/gi

/** Contract: nothing in it can end the fence, or pass for something that the model is told by others. */
export function quarantined(label: string, text: string, nonce: string): string {
  const harmless = text.replaceAll(LOOKALIKES, (found) =>
    found.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('[', '⟦'),
  )
  return fenced({ label, text: harmless, nonce })
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

const FENCE = /<data ([0-9a-f]{12}) [^>\n]*>\n[\s\S]*?\n<\/data \1>/g

/** What stands outside of data fences. A fence that nobody closed fences all that follows. */
export function withoutFences(text: string): string {
  const left = text.replaceAll(FENCE, '')
  const open = left.search(/<data [0-9a-f]{12} /)
  return open < 0 ? left : left.slice(0, open)
}
