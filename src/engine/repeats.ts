/**
 * Repetition: the same call with the same result, over and over, or two or three of them in turn. The mind is warned first, then the
 * calls are held back.
 * Must not know: which calls those are. Call and result count together: to look again at something that changes is no repetition.
 */

import { hash } from 'node:crypto'
import type { CallResult } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import type { Done, OpenTurn, Thread } from './thread.ts'
import type { Toolbox } from './toolbox.ts'

const ROUNDS = 3
const LONGEST_CIRCLE = 3

/** So many of the last calls are looked at. */
export const RECENT = ROUNDS * LONGEST_CIRCLE

/** What a call that leads nowhere is told instead of being run. */
export function heldBack(recent: readonly Done[], toolbox: Toolbox, call: Asked): CallResult | undefined {
  const circle = circleOf(recent, toolbox)
  if (!circle.some((done) => isSameCall(done, call, toolbox))) return undefined
  const what =
    circle.length === 1
      ? 'the same call gave the same result'
      : `the same ${circle.length} calls in turn gave the same results`
  return { status: 'blocked', content: `not run: ${what} ${ROUNDS} times in a row. Do something else, or finish.` }
}

/** Whether a call of this turn was held back. */
export const wasHeldBack = ({ settled }: Pick<OpenTurn, 'settled'>): boolean =>
  [...settled.values()].some(({ status }) => status === 'blocked')

/** Once for each circle: with the call that completes its last round. */
export function withWarning(recent: readonly Done[], toolbox: Toolbox, done: Done): CallResult {
  const { result } = done
  const { length } = circleOf([...recent, done], toolbox)
  if (length === 0 || isCircling(recent, length, toolbox) || plain(result.content) !== result.content) return result
  return { ...result, content: `${result.content}${WARNINGS[length - 1]}` }
}

const WARNINGS = Array.from({ length: LONGEST_CIRCLE }, (_, i) =>
  i === 0
    ? '\n[warning] the same call has given the same result three times in a row; it will not be run again like this.'
    : `\n[warning] the same ${i + 1} calls in turn have given the same results three times; they will not be run again like this.`,
)

/** The shortest list of calls that was gone through three times up to now; empty where there is none. */
function circleOf(recent: readonly Done[], toolbox: Toolbox): readonly Done[] {
  for (let length = 1; length <= LONGEST_CIRCLE; length += 1)
    if (isCircling(recent, length, toolbox)) return recent.slice(-length)
  return []
}

function isCircling(recent: readonly Done[], length: number, toolbox: Toolbox): boolean {
  const last = recent.slice(-ROUNDS * length)
  return (
    last.length === ROUNDS * length && last.every((done, i) => i < length || isSame(done, last[i - length], toolbox))
  )
}

function isSame(one: Done, other: Done | undefined, toolbox: Toolbox): boolean {
  if (one.result.status !== other?.result.status) return false
  return plain(one.result.content) === plain(other.result.content) && isSameCall(one, other, toolbox)
}

type Asked = Pick<Done, 'tool' | 'args'>

const isSameCall = (one: Asked, other: Asked, toolbox: Toolbox): boolean =>
  one.tool === other.tool && signature(one, toolbox) === signature(other, toolbox)

function plain(content: string): string {
  const warning = WARNINGS.find((text) => content.endsWith(text))
  return warning === undefined ? content : content.slice(0, -warning.length)
}

function signature({ tool, args }: Asked, toolbox: Toolbox): string {
  const volatile = toolbox.get(tool)?.volatile
  return JSON.stringify(
    volatile && isObject(args) ? Object.entries(args).filter(([name]) => !volatile.includes(name)) : args,
  )
}

const isObject = (args: Json): args is { readonly [name: string]: Json } =>
  typeof args === 'object' && args !== null && !Array.isArray(args)

/** So many of the things that calls have brought are remembered. */
const MOST_KNOWN = 1000

/** Whether a call brought something that no call of the run had brought before; remembered from now on. */
export function isNews(known: Set<string>, call: Asked | undefined, { status, content }: CallResult): boolean {
  // The content as it is: to write it out as JSON takes longer than the digest itself.
  const digest = hash('sha256', `${JSON.stringify([call?.tool, call?.args, status])}${content}`)
  if (known.has(digest)) return false
  known.add(digest)
  const [oldest] = known
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
  return true
}

/** Steps in a row that brought nothing new, this one included. One without a call says nothing of that. */
export function barrenAfter(
  { barren }: Pick<Thread, 'barren'>,
  { settled, news }: Pick<OpenTurn, 'settled' | 'news'>,
): number {
  if (settled.size === 0) return barren
  return news ? 0 : barren + 1
}
