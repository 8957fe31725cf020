/**
 * The summary of an unattended run's answer, and whether the answer can be a result.
 * Must not know: whether the answer is true (autonomy.ts looks for real actions).
 */

import { clipText, sanitiseSummary } from '../../domain/clean-summary.ts'

const MAX_CHARACTERS = 500
const HEADING = /^[ \t]*#{1,6}[ \t]*(?:执行总结|execution summary)/im

/** Contract: the answer from its summary heading on, or from its start without one; at most 500 characters. */
export function extractSummary(answer: string): string {
  return clipText(sanitiseSummary(answer.slice(Math.max(0, answer.search(HEADING)))), MAX_CHARACTERS)
}

/** Contract: the answer has text, and it is not the raw reply of a provider. */
export function isUsableResult(answer: string): boolean {
  const text = answer.replace(/^[ \t]*#{1,6}[^\n]*$/gm, '').trim()
  return text !== '' && !/^empty (?:response|completion)\b/i.test(text) && !isProviderBlob(text)
}

const BLOB_KEYS = ['choices', 'candidates', 'error', 'usage', 'usageMetadata', 'finish_reason', 'stop_reason']

/** Whether the text is the body of a provider's HTTP reply. Other JSON may be a valid answer. */
function isProviderBlob(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text.replace(/^```\w*\n|\n```$/g, ''))
    return typeof body === 'object' && body !== null && BLOB_KEYS.some((key) => Object.hasOwn(body, key))
  } catch {
    return false
  }
}
