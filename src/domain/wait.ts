/** Wait: what a parked run waits for, and which observations wake it. Pure. */

import { isApprovalAnswer } from './approval.ts'
import { assertNever } from './error.ts'
import type { Observation } from './observation.ts'
import { AGENT_RESULT } from './sub-agent.ts'

export type Wait =
  /** Waits until the start time of the dispatch. */
  | { readonly kind: 'start'; readonly until: number; readonly reason: string }
  /**
   * Waits until an instant: the next try of a failed step, the next attempt, or the next check for a behaviour that
   * this program lacks (`behaviour`). The run then continues by itself.
   */
  | { readonly kind: 'retry'; readonly until: number; readonly reason: string; readonly behaviour?: string }
  /** Waits for an observation. When the deadline `until` passes, the store adds an observation that says so. */
  | { readonly kind: 'observation'; readonly match: WaitMatch; readonly until: number; readonly reason: string }
  /** Waits for a person to resolve an unknown outcome. */
  | { readonly kind: 'unknown'; readonly unknown_id: string; readonly until: null; readonly reason: string }

export type WaitMatch = 'any' | 'user_message' | 'system_event' | `event:${string}`

export function wakesWait(wait: Wait, observation: Observation): boolean {
  switch (wait.kind) {
    case 'start':
    case 'retry':
    case 'unknown':
      return false
    case 'observation':
      // An answer to an approval always wakes the run, whatever the run waits for.
      return isApprovalAnswer(observation) || matches(wait.match, observation)
    default:
      return assertNever(wait)
  }
}

function matches(match: WaitMatch, observation: Observation): boolean {
  if (match === 'any') return true
  if (match === 'user_message' || match === 'system_event') return observation.type === match
  return observation.type === 'system_event' && observation.name === match.slice('event:'.length)
}

/**
 * Parses the model's description of what it waits for; an unknown description matches anything, so that no input is
 * missed.
 */
export function parseMatch(words: string): WaitMatch {
  const word = words.trim().toLowerCase()
  if (/^(user_?message|message|reply|user)s?$/.test(word)) return 'user_message'
  if (/^(system_?)?events?$/.test(word)) return 'system_event'
  if (/^(sub-?)?agents?([ _]results?)?$/.test(word)) return `event:${AGENT_RESULT}`
  const named = /^event:\s*(\S+)$/.exec(words.trim())
  return named?.[1] ? `event:${named[1]}` : 'any'
}
