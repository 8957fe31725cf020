/** What a parked run waits for. Pure: whether an observation wakes it, whether its deadline has come. */

import { isAnswer } from './approval.ts'
import { assertNever } from './error.ts'
import type { Observation } from './observation.ts'

export type Wait =
  /** For the clock alone: not to start before its time. */
  | { readonly kind: 'start'; readonly until: number; readonly reason: string }
  /**
   * For the clock alone: a provider in trouble, a rest before another attempt, or a behaviour that this program does not have. The run goes on
   * by itself.
   */
  | { readonly kind: 'retry'; readonly until: number; readonly reason: string; readonly behaviour?: string }
  /** For an observation, or for the deadline, which is then told as one. */
  | { readonly kind: 'observation'; readonly match: Match; readonly until: number; readonly reason: string }
  /** For a human's word on an outcome that nobody knows. */
  | { readonly kind: 'unknown'; readonly unknown_id: string; readonly until: null; readonly reason: string }

export type Match = 'any' | 'user_message' | 'system_event' | `event:${string}`

export function wakes(wait: Wait, observation: Observation): boolean {
  switch (wait.kind) {
    case 'start':
    case 'retry':
    case 'unknown':
      return false
    case 'observation':
      // What a person has said of an approval is to be heeded, whatever else is waited for.
      return isAnswer(observation) || matches(wait.match, observation)
    default:
      return assertNever(wait)
  }
}

function matches(match: Match, observation: Observation): boolean {
  if (match === 'any') return true
  if (match === 'user_message' || match === 'system_event') return observation.type === match
  return observation.type === 'system_event' && observation.name === match.slice('event:'.length)
}

/** A model names what it waits for in words; whatever we do not know wakes on anything new, so that nothing is missed. */
export function matchOf(words: string): Match {
  const word = words.trim().toLowerCase()
  if (/^(user_?message|message|reply|user)s?$/.test(word)) return 'user_message'
  if (/^(system_?)?events?$/.test(word)) return 'system_event'
  const named = /^event:\s*(\S+)$/.exec(words.trim())
  return named?.[1] ? `event:${named[1]}` : 'any'
}
