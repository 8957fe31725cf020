/**
 * Data fences mark third-party text. The nonce is made when the text is journalled, so the author of the text cannot
 * know it.
 */

import { hash } from 'node:crypto'

interface FencedText {
  readonly label: string
  readonly text: string
  readonly nonce: string
}

/** Control tokens of chat templates, and lookalikes of our fences. */
const LOOKALIKES = new RegExp(
  [
    /<[|｜][^|｜<>\n]{1,40}[|｜]>|<<\/?SYS>>/,
    /\[\/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS)\]/,
    /<\/?(?:s|bos|eos|(?:start|end)_of_turn|tool_call|tool_response|function_calls)>/,
    /<(?=\s?\/?\s?data\s)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
)

/** Contract: no text can close the fence or pass for a control token. */
export function fenceUntrusted(label: string, text: string, nonce: string): string {
  const defused = text.replaceAll(LOOKALIKES, (found) =>
    found.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('[', '⟦'),
  )
  return fenceText({ label, text: defused, nonce })
}

export function fenceText({ label, text, nonce }: FencedText): string {
  // The nonce is unpredictable. If the text contains it all the same, another nonce is used.
  const mark = text.includes(nonce) ? nonceOf(nonce, text) : nonce
  return `<data ${mark} ${label}>\n${text}\n</data ${mark}>`
}

/** Contract: deterministic. The author of one of `words` cannot predict the nonce without the others. */
export function nonceOf(...words: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(words)).slice(0, 12)
}

interface CutEnds {
  readonly head: string
  /** Closes the fence that the head leaves open; empty if no fence is open. */
  readonly closing: string
  readonly tail: string
}

/**
 * Repairs the fences of a text whose middle was removed. Contract: fenced text stays fenced. A fence left open by the
 * head is closed; text of a fence whose start is gone is dropped from the tail.
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
