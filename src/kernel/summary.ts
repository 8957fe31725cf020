/**
 * What an unattended run says that it did, and whether that can be a result at all.
 * Must not know: whether it is true. That is for evidence, see autonomy.ts.
 */

import { clipped, sanitised } from '../domain/summary.ts'

const MOST_CHARACTERS = 500
const HEADING = /^[ \t]*#{1,6}[ \t]*(?:执行总结|execution summary)/im

/** Contract: from the heading on, or all of it; at most 500 characters. */
export function summaryOf(answer: string): string {
  return clipped(sanitised(answer.slice(Math.max(0, answer.search(HEADING)))), MOST_CHARACTERS)
}

/** Contract: it says something, and what it says are not the words of a provider. */
export function isResult(answer: string): boolean {
  const said = answer.replace(/^[ \t]*#{1,6}[^\n]*$/gm, '').trim()
  return said !== '' && !/^empty (?:response|completion)\b/i.test(said) && !isProviderBlob(said)
}

const BLOB_KEYS = ['choices', 'candidates', 'error', 'usage', 'usageMetadata', 'finish_reason', 'stop_reason']

/** The body of a provider's reply; an agent may well answer with JSON of its own. */
function isProviderBlob(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text.replace(/^```\w*\n|\n```$/g, ''))
    return typeof body === 'object' && body !== null && BLOB_KEYS.some((key) => Object.hasOwn(body, key))
  } catch {
    return false
  }
}
