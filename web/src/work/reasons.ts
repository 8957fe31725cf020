/** Why a run does not go on, or has failed, in words. Pure. */

import type { Approval, Dispatch } from '../api-types.ts'
import { type Language, relativeTime } from '../format.ts'
import { describeError } from '../texts/error-reasons.ts'
import { QUEUE_TEXTS } from '../texts/work-queue.ts'

interface ReasonContext {
  readonly language: Language
  readonly now: number
  readonly approvals: readonly Approval[]
}

interface Reason {
  readonly text: string
  /** The words of the program or the model, if they say more. */
  readonly detail: string
  /** The owner can answer it. */
  readonly isForOwner: boolean
}

const SUB_AGENT = 'event:agent_result'

type ReasonedRun = Pick<Dispatch, 'status' | 'cancel' | 'held_by' | 'wait' | 'session_id'> &
  Partial<Pick<Dispatch, 'error' | 'failure_class'>>

/** Contract: undefined if the run needs no reason: it runs, is done or was cancelled. */
export function reasonOf(dispatch: ReasonedRun, context: ReasonContext): Reason | undefined {
  const { status, error, failure_class, cancel, held_by } = dispatch
  const { reasons, failures } = QUEUE_TEXTS[context.language]
  const say = (text: string, detail = ''): Reason => ({ text, detail, isForOwner: false })
  if (status === 'failed')
    return say(failures[failure_class ?? ''] ?? failures.infra ?? '', describeError(error ?? '', context.language))
  if (status === 'dead') return say(reasons.dead, describeError(error ?? '', context.language))
  if (status === 'done' || status === 'cancelled') return undefined
  if (cancel !== null) return say(reasons.cancelling)
  if (held_by?.kind === 'away') return say(awayReason(held_by.machine, context))
  if (held_by) return say(reasons[held_by.kind])
  return status === 'waiting' ? waitReason(dispatch, context) : undefined
}

function awayReason(
  machine: NonNullable<NonNullable<ReasonedRun['held_by']>['machine']> | undefined,
  { language, now }: ReasonContext,
): string {
  const { host = '', last_seen = null } = machine ?? {}
  const { away, lastSeen } = QUEUE_TEXTS[language].reasons
  const seen = last_seen === null ? '' : lastSeen(relativeTime(Date.parse(last_seen), now, language))
  return `${away(host)}${seen}`
}

function waitReason(
  { wait, session_id }: ReasonedRun,
  { language, now, approvals }: ReasonContext,
): Reason | undefined {
  const { reasons } = QUEUE_TEXTS[language]
  if (!wait) return undefined
  const at = wait.until === null ? '' : relativeTime(wait.until, now, language)
  const say = (text: string, isForOwner = false, detail = wait.reason): Reason => ({ text, detail, isForOwner })
  switch (wait.kind) {
    case 'start':
      return say(reasons.starts(at), false, '')
    case 'retry':
      return say(reasons.retries(at))
    case 'unknown':
      return say(reasons.unknown, true)
    case 'observation': {
      if (approvals.some((approval) => approval.session_id === session_id)) return say(reasons.approval, true, '')
      if (wait.match === 'user_message') return say(reasons.answer, true)
      return say(wait.match === SUB_AGENT ? reasons.subAgent : reasons.news)
    }
  }
}
