/** Resident: an agent that looks at its input a fixed number of times per second. Pure. */

import type { Json } from './json.ts'
import type { PeopleText } from './language.ts'

export const RESIDENT_BEHAVIOUR = 'resident'

/** What a look can come to, besides calls of tools. */
export const RESIDENT_ACTIONS = ['noop', 'say', 'query'] as const
export type ResidentAction = (typeof RESIDENT_ACTIONS)[number]

/** Information that a resident needs for its goals. */
export type Slot = {
  readonly name: string
  /** How to ask for it; null: by its name. */
  readonly question: string | null
}

/** What a look has to know of its resident; part of the metadata of its dispatch. */
export type ResidentSetup = {
  /** Number of the look on the grid of the resident's rate. */
  readonly tick: number
  readonly hz: number
  readonly goals: readonly string[]
  readonly slots: readonly Slot[]
  /** Number of looks in short-term memory. */
  readonly stm: number
  /** Unanswered queries before the resident stops asking; null: no limit. */
  readonly max_queries: number | null
  readonly persist_thought: boolean
  /** Age at which a look leaves the memory; null: never. */
  readonly expires_ms: number | null
}

/** What a resident has in mind after a look. */
export interface ResidentMind {
  readonly known: Readonly<Record<string, string>>
  readonly missing: readonly string[]
  /** Queries since the owner last wrote. */
  readonly unanswered: number
  /** What the last look came to. */
  readonly last: { readonly action: ResidentAction; readonly text: string; readonly why: string } | null
}

/** Why a resident that got no answers did not ask again. */
export const notAskedAgain = (unanswered: number): PeopleText => ({
  text: `not asked again: ${unanswered} queries are unanswered`,
  zh: `不再提问：${unanswered} 个问题没有得到回答`,
})

/** A resident's session is followed by a new one from time to time, so that no journal grows without end. */
export const residentSessionId = (agentId: string, n: number): string => `resident-${agentId}-${n}`

/** Name of the setting that holds which session of the resident is the current one. */
export const residentSetting = (agentId: string): string => `resident:${agentId}`

/** The event with the latest values of what changes too often to be kept: one value per name. */
export const SLICES_EVENT = 'slices'
/** The event that says how many observations were refused, because too many were unread. */
export const OVERFLOW_EVENT = 'bus_overflow'

/** The event by which a look that waits for an approval goes on, because something is new. */
export const NEWS_EVENT = 'news'
/** The event after a look that failed when it had already read its input. */
export const LOOK_FAILED_EVENT = 'look_failed'

/** Contract: the number of the session from its setting; 1 if there is none. */
export function readSessionNumber(setting: Json): number {
  const { n } = (setting ?? {}) as { readonly n?: Json }
  return typeof n === 'number' && Number.isSafeInteger(n) && n > 0 ? n : 1
}
