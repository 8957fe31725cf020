/** Approval: a call that a person has to allow first. Bound to the exact call; one answer, one use. */

import type { Effect } from './effect.ts'
import type { Json } from './json.ts'
import type { Observation } from './observation.ts'

export const APPROVAL_STATUSES = ['open', 'allowed', 'denied', 'expired'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]
export type ApprovalAnswer = Exclude<ApprovalStatus, 'open'>

/** An approval that nobody answers for so long is expired: never allowed. */
export const APPROVAL_LASTS_MS = 24 * 3_600_000

/** Where a call goes, and where that comes from. */
export interface Sink {
  readonly to: string
  /** For people: what it was read in. */
  readonly from: string
  readonly trusted: boolean
}

export interface Approval {
  /** The key of the call that asked: session, turn, index. */
  readonly id: string
  readonly session_id: string
  readonly tool: string
  /** Exactly what will be run. */
  readonly args: Json
  readonly effect: Effect
  readonly sinks: readonly Sink[]
  /** Of session, tool and arguments: what is allowed is this and nothing else. */
  readonly digest: string
  /** Why somebody has to be asked. */
  readonly reason: string
  readonly origin: { readonly run_id: string; readonly step: number }
  readonly asked_at: string
  readonly expires_at: string
  readonly status: ApprovalStatus
  readonly answered_at: string | null
  readonly answer_reason: string | null
}

/** What the digest is made of: the same text for the same call, however its arguments are ordered. */
export function boundText({ session_id, tool, args }: Pick<Approval, 'session_id' | 'tool' | 'args'>): string {
  return canonical([session_id, tool, args])
}

export function canonical(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(canonical).join(',')}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

export function isExpired({ expires_at }: Pick<Approval, 'expires_at'>, now: number): boolean {
  return Date.parse(expires_at) <= now
}

const EVENT = 'approval'

/** How the session hears of the answer. */
export function answerObservation(
  { id, tool }: Pick<Approval, 'id' | 'tool'>,
  answer: ApprovalAnswer,
  reason: string | null,
  ts: number,
): Observation {
  const payload = { id, tool, answer, ...(reason === null ? {} : { reason }) }
  return { id: observationIdOf(id), type: 'system_event', name: EVENT, payload, ts }
}

export const observationIdOf = (approval_id: string): string => `approval-${approval_id}`

export function isAnswer(observation: Observation): boolean {
  return observation.type === 'system_event' && observation.name === EVENT
}

/** The approval that an observation says was answered, be it by nobody in time. */
export function answeredBy(observation: Observation): string | undefined {
  if (observation.type !== 'system_event' || observation.name !== EVENT) return undefined
  const { id } = (observation.payload ?? {}) as { readonly id?: Json }
  return typeof id === 'string' ? id : undefined
}

/** The approval that an observation says was allowed. It is a claim: what counts is the approval itself. */
export function allowedBy(observation: Observation): string | undefined {
  if (observation.type !== 'system_event' || observation.name !== EVENT) return undefined
  const { id, answer } = (observation.payload ?? {}) as { readonly id?: Json; readonly answer?: Json }
  return answer === 'allowed' && typeof id === 'string' ? id : undefined
}
