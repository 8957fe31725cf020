/**
 * Matches a pattern against lines. Regular expressions run in a worker thread that is terminated after the time limit,
 * because some patterns backtrack almost forever and cannot be recognised beforehand.
 */

import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { TirelessError } from '../../../domain/error.ts'
import { findLines, type MatchingLine } from './matching-lines.ts'

export type { MatchingLine as Hit } from './matching-lines.ts'

interface Matcher {
  /** True if the pattern is not a valid regular expression; then it is matched as plain text. */
  readonly isLiteral: boolean
  /** Contract: the first `most` matching lines; throws `tool_failed` after the time limit or if `signal` aborts. */
  hits(text: string, most: number): Promise<readonly MatchingLine[]>
  close(): Promise<void>
}

export interface SearchPattern {
  readonly pattern: string
  readonly flags: string
}

interface Limits {
  /** Resolves when the time limit is reached. */
  readonly late: Promise<unknown>
  readonly signal: AbortSignal
}

export function createMatcher(pattern: string, limits: Limits): Matcher {
  const isPlain = !/[\\^$.*+?()[\]{}|]/.test(pattern)
  const flags = isPlain ? undefined : ['u', ''].find((one) => isExpression(pattern, one))
  if (flags === undefined)
    return {
      isLiteral: !isPlain,
      hits: async (text, most) => findLines((line) => line.includes(pattern), text, most),
      close: async () => {},
    }
  return threadMatcher({ pattern, flags }, limits)
}

/** True if the pattern is a valid regular expression with these flags. Without `u`, more patterns are valid. */
function isExpression(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) !== undefined
  } catch {
    return false
  }
}

function threadMatcher(expression: SearchPattern, { late, signal }: Limits): Matcher {
  let worker: Worker | undefined
  const ended = new Promise<never>((_, reject) => {
    const stop = (why: string): void => reject(new TirelessError('tool_failed', why))
    void late.then(() => stop('the search took too long; use a simpler pattern, or search a subfolder'))
    if (signal.aborted) stop('the search was cancelled')
    else signal.addEventListener('abort', () => stop('the search was cancelled'), { once: true })
  })
  ended.catch(() => {})
  return {
    isLiteral: false,
    async hits(text, most) {
      worker ??= new Worker(new URL(`./search-main${extname(import.meta.url)}`, import.meta.url), {
        workerData: expression,
      })
      const answered = once(worker, 'message')
      answered.catch(() => {})
      worker.postMessage({ text, most })
      const [hits] = (await Promise.race([answered, ended])) as [readonly MatchingLine[]]
      return hits
    },
    async close() {
      await worker?.terminate()
    },
  }
}
