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

interface CutEnds {
  readonly head: string
  /** Closes the fence that the head leaves open; empty where it need not be closed. */
  readonly closing: string
  readonly tail: string
}

/**
 * Both ends of a text whose middle was taken out. Contract: what stood in a data fence still does. A fence that only the head opens is closed;
 * what a fence enclosed whose opening is gone is left out of the tail.
 */
export function balanceFences(head: string, tail: string): CutEnds {
  const open = unclosedFence(head)
  let from = 0
  for (const { 0: closing, 1: nonce = '', index } of tail.matchAll(/<\/data ([0-9a-f]{12})>/g)) {
    if (tail.slice(from, index).includes(`<data ${nonce} `)) continue
    if (nonce === open) return { head, closing: '', tail: tail.slice(from) }
    from = index + closing.length
  }
  return { head, closing: open === undefined ? '' : `\n</data ${open}>`, tail: tail.slice(from) }
}

const unclosedFence = (text: string): string | undefined =>
  [...text.matchAll(/<data ([0-9a-f]{12}) /g)]
    .map(([, nonce]) => nonce)
    .findLast((nonce) => nonce !== undefined && !text.includes(`</data ${nonce}>`))
