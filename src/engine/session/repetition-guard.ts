/**
 * The repetition guard: detects one call, or a cycle of up to three calls, that keeps returning the same result. The
 * model is warned first; then the calls are blocked.
 * Must not know: what a call does. Both call and result must repeat: polling something that changes is no repetition.
 */

import { hash } from 'node:crypto'
import type { CallResult } from '../../domain/decision.ts'
import type { Json } from '../../domain/json.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import type { Toolbox } from '../request/toolbox.ts'
import type { OpenTurn, SessionThread, SettledCall } from './session-thread.ts'

const ROUNDS = 3
const MAX_CYCLE_LENGTH = 3

/** Number of recent calls to keep. */
export const MAX_RECENT_CALLS = ROUNDS * MAX_CYCLE_LENGTH

/** The result of a call that is blocked as a repetition; undefined if the call may run. */
export function blockRepetition(
  recent: readonly SettledCall[],
  toolbox: Toolbox,
  call: CallArgs,
): CallResult | undefined {
  const cycle = findCycle(recent, toolbox)
  if (!cycle.some((done) => isSameCall(done, call, toolbox))) return undefined
  const content =
    cycle.length === 1
      ? loadPrompt('results/repeated-call.md#blocked', { rounds: ROUNDS })
      : loadPrompt('results/repeated-call.md#blocked_cycle', { calls: cycle.length, rounds: ROUNDS })
  return { status: 'blocked', content }
}

/** Whether a call of this turn was blocked. */
export const hasBlockedCall = ({ settled }: OpenTurn): boolean =>
  [...settled.values()].some(({ status }) => status === 'blocked')

/** Adds one warning per cycle, to the result of the call that completes the third round. */
export function addRepetitionWarning(recent: readonly SettledCall[], toolbox: Toolbox, done: SettledCall): CallResult {
  const { result } = done
  const { length } = findCycle([...recent, done], toolbox)
  if (length === 0 || isCycling(recent, length, toolbox) || withoutWarning(result.content) !== result.content)
    return result
  return { ...result, content: `${result.content}${loadWarnings()[length - 1]}` }
}

const warnings: string[] = []

/**
 * The warning for each length of a cycle. Cached, because results are compared without their warning, many times per
 * call.
 */
function loadWarnings(): readonly string[] {
  for (let calls = warnings.length + 1; calls <= MAX_CYCLE_LENGTH; calls += 1) {
    const text =
      calls === 1
        ? loadPrompt('results/repeated-call.md#warning')
        : loadPrompt('results/repeated-call.md#warning_cycle', { calls })
    warnings.push(`\n${text}`)
  }
  return warnings
}

/** The shortest list of calls that was repeated three times in a row; empty if there is none. */
function findCycle(recent: readonly SettledCall[], toolbox: Toolbox): readonly SettledCall[] {
  for (let length = 1; length <= MAX_CYCLE_LENGTH; length += 1)
    if (isCycling(recent, length, toolbox)) return recent.slice(-length)
  return []
}

function isCycling(recent: readonly SettledCall[], length: number, toolbox: Toolbox): boolean {
  const last = recent.slice(-ROUNDS * length)
  return (
    last.length === ROUNDS * length &&
    last.every((done, i) => i < length || isSameDone(done, last[i - length], toolbox))
  )
}

function isSameDone(one: SettledCall, other: SettledCall | undefined, toolbox: Toolbox): boolean {
  if (one.result.status !== other?.result.status) return false
  return withoutWarning(one.result.content) === withoutWarning(other.result.content) && isSameCall(one, other, toolbox)
}

type CallArgs = Pick<SettledCall, 'tool' | 'args'>

const isSameCall = (one: CallArgs, other: CallArgs, toolbox: Toolbox): boolean =>
  one.tool === other.tool && signature(one, toolbox) === signature(other, toolbox)

function withoutWarning(content: string): string {
  const warning = loadWarnings().find((text) => content.endsWith(text))
  return warning === undefined ? content : content.slice(0, -warning.length)
}

function signature({ tool, args }: CallArgs, toolbox: Toolbox): string {
  const volatile = toolbox.get(tool)?.volatile
  return JSON.stringify(
    volatile && isObject(args) ? Object.entries(args).filter(([name]) => !volatile.includes(name)) : args,
  )
}

const isObject = (args: Json): args is { readonly [name: string]: Json } =>
  typeof args === 'object' && args !== null && !Array.isArray(args)

/** Maximum number of result digests to keep. */
const MAX_KNOWN = 1000
const MAX_UNHASHED = 256

/** Whether the result is new in this run. Adds it to `known`. */
export function noteNewResult(
  known: Set<string>,
  call: CallArgs | undefined,
  { status, content }: CallResult,
): boolean {
  // The content is appended raw: encoding it as JSON takes longer than the digest.
  const text = `${JSON.stringify([call?.tool, call?.args, status])}${content}`
  // A short text is compared as it is, without hashing.
  const digest = text.length <= MAX_UNHASHED ? text : hash('sha256', text)
  if (known.has(digest)) return false
  known.add(digest)
  const [oldest] = known
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  return true
}

/** Steps in a row whose calls returned nothing new, including the open step. A step without calls does not count. */
export function countStepsWithoutNews(
  { stepsWithoutNews: barren }: SessionThread,
  { settled, hasNews: news }: OpenTurn,
): number {
  if (settled.size === 0) return barren
  return news ? 0 : barren + 1
}
