/**
 * Checks what a source publishes: it may come from a plugin.
 * Must not know: which source it is.
 */

import { TirelessError } from '../../domain/error.ts'
import { describeValue } from '../../domain/json.ts'
import type { SourceEvent } from '../../ports/source.ts'

/** Limit of an observation as JSON: a resident reads it in one step. */
const MOST_CHARACTERS = 1_000_000
/** Deeper values overflow the stack of whoever walks them. */
const DEEPEST = 100

/** Contract: the event itself; throws `usage` if it could not be stored and read back. */
export function checkEvent(event: SourceEvent): SourceEvent {
  const { id, observation } = (event ?? {}) as Partial<SourceEvent>
  if (typeof id !== 'string' || id === '' || id.length > 1000 || !id.isWellFormed())
    throw invalid('the id of an event', id, 'text of 1 to 1000 characters')
  if (observation?.type === 'user_message') {
    if (typeof observation.text !== 'string') throw invalid('the text of a message', observation.text, 'text')
    checkValue(observation.text)
  } else if (observation?.type === 'system_event') {
    if (typeof observation.name !== 'string' || observation.name === '')
      throw invalid('the name of an event', observation.name, 'text that is not empty')
    checkValue([observation.name, observation.payload ?? null])
  } else throw invalid('an observation', observation, 'an object with the type user_message or system_event')
  return event
}

function checkValue(value: unknown): void {
  if (depthOf(value) > DEEPEST) throw invalid('an event', 'deeper nesting', `at most ${DEEPEST} levels`)
  const length = JSON.stringify(value).length
  if (length > MOST_CHARACTERS) throw invalid('an event', `${length} characters`, `at most ${MOST_CHARACTERS}`)
}

/** Contract: stops below DEEPEST, so that it never overflows the stack itself. */
function depthOf(value: unknown, above = 0): number {
  if (typeof value === 'string' && !value.isWellFormed())
    throw invalid('text', 'half of a surrogate pair', 'valid Unicode')
  if (typeof value !== 'object' || value === null || above > DEEPEST) return above
  let deepest = above
  for (const [key, child] of Object.entries(value))
    deepest = Math.max(deepest, depthOf(key, above), depthOf(child, above + 1))
  return deepest
}

const invalid = (what: string, got: unknown, expected: string): TirelessError =>
  new TirelessError('usage', {
    what: `${what} is not valid`,
    got: typeof got === 'string' ? got.slice(0, 80) : describeValue(got),
    expected,
  })
