/**
 * Who says which lines a pattern fits. Plain text is looked for here; a regular expression in a thread of its own, which is ended when its time is
 * up: some patterns take longer than anybody lives, and nobody can tell them from the others.
 */

import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { TirelessError } from '../../../domain/error.ts'
import { type Hit, linesWith } from './lines.ts'

export type { Hit } from './lines.ts'

export interface Matcher {
  /** It was meant to be a regular expression and is none. */
  readonly literal: boolean
  /** Contract: at most so many, in order; `tool_failed` where the time is up. */
  hits(text: string, most: number): Promise<readonly Hit[]>
  close(): Promise<void>
}

export interface Expression {
  readonly pattern: string
  readonly flags: string
}

interface Limits {
  /** Resolves when the time is up. */
  readonly late: Promise<unknown>
  readonly signal: AbortSignal
}

export function matcherOf(pattern: string, limits: Limits): Matcher {
  const isPlain = !/[\\^$.*+?()[\]{}|]/.test(pattern)
  const flags = isPlain ? undefined : ['u', ''].find((one) => isExpression(pattern, one))
  if (flags === undefined)
    return {
      literal: !isPlain,
      hits: async (text, most) => linesWith((line) => line.includes(pattern), text, most),
      close: async () => {},
    }
  return threaded({ pattern, flags }, limits)
}

/** Of an expression that is none by the strict rules, the lenient ones make something all the same. */
function isExpression(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) !== undefined
  } catch {
    return false
  }
}

function threaded(expression: Expression, { late, signal }: Limits): Matcher {
  let worker: Worker | undefined
  const ended = new Promise<never>((_, reject) => {
    const stop = (why: string): void => reject(new TirelessError('tool_failed', why))
    void late.then(() => stop('the search took too long; use a simpler pattern, or search a folder below'))
    if (signal.aborted) stop('the search was called off')
    else signal.addEventListener('abort', () => stop('the search was called off'), { once: true })
  })
  ended.catch(() => {})
  return {
    literal: false,
    async hits(text, most) {
      worker ??= new Worker(new URL(`./search-main${extname(import.meta.url)}`, import.meta.url), {
        workerData: expression,
      })
      const answered = once(worker, 'message')
      answered.catch(() => {})
      worker.postMessage({ text, most })
      const [hits] = (await Promise.race([answered, ended])) as [readonly Hit[]]
      return hits
    },
    async close() {
      await worker?.terminate()
    },
  }
}
