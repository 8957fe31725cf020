/** Builds tool results, and turns errors into results so that the model can act on them. */

import type { CallResult } from '../../domain/decision.ts'
import { type ErrorCode, TirelessError } from '../../domain/error.ts'
import type { ViewedPart } from '../../domain/viewed-files.ts'

export function toolError(content: string): CallResult {
  return { status: 'error', content }
}

/**
 * The result of a call that viewed or wrote a file. It records that the session has seen this version of the file.
 * `part`: the lines that it has seen of it; undefined: all.
 */
export function fileResult(content: string, path: string, sha: string, part?: ViewedPart): CallResult {
  const partly = part && { partly: { [path]: { ...part } } }
  return { status: 'ok', content, facts: { seen: { [path]: sha }, ...partly } }
}

const SHOWN_TO_MODEL: readonly ErrorCode[] = [
  'path_refused',
  'not_written',
  'egress_refused',
  'conflict',
  'not_found',
  'tool_failed',
  'document_refused',
]

/** Contract: an error that the model can act on becomes an error result; all others are rethrown. */
export async function asToolResult(work: () => Promise<CallResult>): Promise<CallResult> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TirelessError && SHOWN_TO_MODEL.includes(error.code)) return toolError(error.message)
    throw error
  }
}
