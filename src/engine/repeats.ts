/**
 * Repetition: the same call with the same result, over and over. The mind is warned first, then the call is held back.
 * Must not know: which calls those are. Call and result count together: to look again at something that changes is no repetition.
 */

import type { CallResult } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { AnyTool } from '../ports/tool.ts'
import type { Done } from './thread.ts'

const WARN_AT = 3

/** How often, up to now, the last calls were this very one with one and the same result. */
export function timesInARow(recent: readonly Done[], tool: AnyTool, args: Json): number {
  const wanted = signature(tool, args)
  let times = 0
  let outcome: string | undefined
  for (const done of recent.toReversed()) {
    if (done.tool !== tool.name || signature(tool, done.args) !== wanted) break
    const found = `${done.result.status} ${plain(done.result.content)}`
    if (outcome !== undefined && found !== outcome) break
    outcome = found
    times += 1
  }
  return times
}

export const isHeldBack = (times: number): boolean => times >= WARN_AT

export function heldBack(times: number): CallResult {
  return {
    status: 'blocked',
    content: `not run: the same call gave the same result ${times} times in a row. Do something else, or finish.`,
  }
}

const WARNING =
  '\n[warning] the same call has given the same result three times in a row; it will not be run again like this.'

export function withWarning(recent: readonly Done[], tool: AnyTool, args: Json, result: CallResult): CallResult {
  const times = timesInARow([...recent, { tool: tool.name, args, result }], tool, args)
  return times === WARN_AT && !result.content.endsWith(WARNING)
    ? { ...result, content: result.content + WARNING }
    : result
}

const plain = (content: string): string => (content.endsWith(WARNING) ? content.slice(0, -WARNING.length) : content)

function signature(tool: AnyTool, args: Json): string {
  if (!tool.volatile || typeof args !== 'object' || args === null || Array.isArray(args)) return JSON.stringify(args)
  return JSON.stringify(Object.entries(args).filter(([name]) => !tool.volatile?.includes(name)))
}
