/** What a tool says back: results, and refusals of the env turned into results that the model can act on. */

import type { CallResult } from '../../domain/decision.ts'
import { type ErrorCode, TirelessError } from '../../domain/error.ts'

export function failed(content: string): CallResult {
  return { status: 'error', content }
}

/** A file as the session now knows it. */
export function knowing(content: string, path: string, sha: string): CallResult {
  return { status: 'ok', content, facts: { seen: { [path]: sha } } }
}

const TOLD: readonly ErrorCode[] = [
  ...(['path_refused', 'egress_refused', 'conflict', 'not_found', 'tool_failed', 'document_refused'] as const),
]

/** Contract: what the model can do something about becomes an error result; everything else is thrown on. */
export async function told(work: () => Promise<CallResult>): Promise<CallResult> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TirelessError && TOLD.includes(error.code)) return failed(error.message)
    throw error
  }
}
