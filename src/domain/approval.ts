/** Approval: a tool call that a person must allow first. Bound to the exact call; answered once, used once. */

import type { Effect } from './effect.ts'
import type { Json } from './json.ts'
import type { Observation } from './observation.ts'

export const APPROVAL_STATUSES = ['open', 'allowed', 'denied', 'expired'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]
export type ApprovalAnswer = Exclude<ApprovalStatus, 'open'>

/** An approval without an answer expires after this time. It is never allowed by default. */
export const APPROVAL_TTL_MS = 24 * 3_600_000

/** A destination of a call, and the text from which the destination was taken. */
export interface CallDestination {
  readonly to: string
  /** The text that names the destination, to be shown to people. */
  readonly from: string
  readonly trusted: boolean
}

export interface Approval {
  /** The key of the call that needs approval: session, turn, index. */
  readonly id: string
  readonly session_id: string
  readonly tool: string
  /** The exact arguments of the call. */
  readonly args: Json
  readonly effect: Effect
  readonly sinks: readonly CallDestination[]
  /** Digest of session, tool and arguments: the approval is valid for this call only. */
  readonly digest: string
  /** Why a person must approve. */
  readonly reason: string
  readonly origin: { readonly run_id: string; readonly step: number }
  readonly asked_at: string
  readonly expires_at: string
  readonly status: ApprovalStatus
  readonly answered_at: string | null
  readonly answer_reason: string | null
}

/**
 * The text from which an approval's digest is computed: equal calls give the same text, whatever the order of their
 * arguments.
 */
export function approvalDigestInput({
  session_id,
  tool,
  args,
}: Pick<Approval, 'session_id' | 'tool' | 'args'>): string {
  return canonicalJson([session_id, tool, args])
}

export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

export function isExpired({ expires_at }: Pick<Approval, 'expires_at'>, now: number): boolean {
  return Date.parse(expires_at) <= now
}

export const APPROVAL_EVENT = 'approval'

/** The observation that tells the session how the approval was answered. */
export function approvalAnswerObservation(
  { id, tool }: Pick<Approval, 'id' | 'tool'>,
  answer: ApprovalAnswer,
  reason: string | null,
  ts: number,
): Observation {
  const payload = { id, tool, answer, ...(reason === null ? {} : { reason }) }
  return { id: approvalObservationId(id), type: 'system_event', name: APPROVAL_EVENT, payload, ts }
}

export const approvalObservationId = (approval_id: string): string => `approval-${approval_id}`

export function isApprovalAnswer(observation: Observation): boolean {
  return observation.type === 'system_event' && observation.name === APPROVAL_EVENT
}

/** The id of the approval that this observation says was answered or has expired. */
export function answeredApprovalId(observation: Observation): string | undefined {
  if (observation.type !== 'system_event' || observation.name !== APPROVAL_EVENT) return undefined
  const { id } = (observation.payload ?? {}) as { readonly id?: Json }
  return typeof id === 'string' ? id : undefined
}

/** The id of the approval that this observation says was allowed. Only a claim: the approval's own row decides. */
export function allowedApprovalId(observation: Observation): string | undefined {
  if (observation.type !== 'system_event' || observation.name !== APPROVAL_EVENT) return undefined
  const { id, answer } = (observation.payload ?? {}) as { readonly id?: Json; readonly answer?: Json }
  return answer === 'allowed' && typeof id === 'string' ? id : undefined
}
