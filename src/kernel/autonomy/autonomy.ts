/**
 * Autonomy: checks whether an unattended run reached a result by itself. It failed, checked in this order, if it waits
 * for a person, if it took no real action, or if its answer is not a result. A failed run gets another attempt in the
 * same session with the retry prompt; after the last attempt it ends with a failure class.
 * Must not know: how the run is driven, when it runs.
 * Invariants: waiting for an approval is not a failure; only results of calls prove an action, never calls or text.
 */

import { z } from 'zod'
import { isApprovalAnswer } from '../../domain/approval.ts'
import type { Decision, Verdict } from '../../domain/decision.ts'
import type { Json } from '../../domain/json.ts'
import { LANGUAGES, type Language, languageOf } from '../../domain/language.ts'
import { FAILURE_CLASSES, type FailureClass } from '../../domain/stop-reason.ts'
import type { Behaviour, CompletedStep, Critic } from '../../ports/behaviour.ts'
import { asksPerson } from './asks-person.ts'
import { describeAutonomyFailure, retryPrompt } from './retry-prompt.ts'
import { extractSummary, isUsableResult } from './run-summary.ts'

/** What is known so far about the run's autonomy; kept in the run's state. */
export type Autonomy = {
  readonly language: Language
  /** True: the dispatch allows the run to do nothing. */
  readonly noop: boolean
  /** True: a real action succeeded, in this attempt or an earlier one. */
  readonly real: boolean
  /** Number of calls that wait for an approval. */
  readonly held: number
  /** Number of failed attempts, and the failure class of the first one. */
  readonly failed: number
  readonly first_failure: FailureClass | null
}

const autonomySchema = z.strictObject({
  language: z.enum(LANGUAGES),
  noop: z.boolean(),
  real: z.boolean(),
  held: z.int(),
  failed: z.int(),
  first_failure: z.enum(FAILURE_CLASSES).nullable(),
})

interface AttemptLimits {
  /** Maximum number of attempts; null: no limit. */
  readonly max_attempts: number | null
  /** Delay before the second attempt, factor by which it grows for each further attempt, and maximum delay. */
  readonly first_ms: number
  readonly factor: number
  readonly longest_ms: number
}

/** The first delay is short, because the run has just been told what is missing; the delay grows with each attempt. */
export const DEFAULT_ATTEMPT_LIMITS: AttemptLimits = {
  max_attempts: 3,
  first_ms: 2_000,
  factor: 4,
  longest_ms: 600_000,
}

type AutonomyRules = Pick<Behaviour<Autonomy>, 'state' | 'initState' | 'reduce' | 'critics'>

/** State, reducer and critic that make a behaviour unattended. */
export function autonomyRules(limits: AttemptLimits): AutonomyRules {
  return {
    state: { version: 1, schema: autonomySchema },
    initState: (task, metadata = {}) => ({
      language: LANGUAGES.find((known) => known === metadata.language) ?? languageOf(task),
      noop: metadata.noop === true,
      ...{ real: false, held: 0, failed: 0, first_failure: null },
    }),
    reduce: afterStep,
    critics: [autonomyCritic(limits)],
  }
}

function afterStep(before: Autonomy, step: CompletedStep): Autonomy {
  const requested = step.results.filter(({ status }) => status === 'parked').length
  const answered = step.input.filter(isApprovalAnswer).length
  const held = Math.max(0, before.held + requested - answered)
  const now = { ...before, held, real: before.real || hasRealAction(step) }
  const failure = autonomyFailure(now, step.decision)
  if (failure === undefined || held > 0) return now
  return { ...now, failed: now.failed + 1, first_failure: now.first_failure ?? failure }
}

function autonomyCritic({ max_attempts, first_ms, factor, longest_ms }: AttemptLimits): Critic<Autonomy> {
  return {
    name: 'autonomy',
    judge(state, { decision }): Verdict {
      const failure = autonomyFailure(state, decision)
      if (failure === undefined) return { kind: 'continue' }
      const { language, held, failed } = state
      // The engine parks the run until the approval is answered; then the run is judged again.
      if (held > 0) return { kind: 'continue' }
      const summary = extractSummary(answerText(decision))
      if (max_attempts !== null && failed >= max_attempts)
        return { kind: 'stop', reason: describeAutonomyFailure(failure, failed, summary), failure_class: failure }
      const after_ms = Math.min(first_ms * factor ** (failed - 1), longest_ms)
      return { kind: 'retry', instruction: retryPrompt(language, summary), attempt: { after_ms } }
    },
  }
}

/** The failure of a run that did not reach a result by itself; undefined: it is not over, or it has a result. */
export function autonomyFailure({ real, noop, held }: Autonomy, decision: Decision): FailureClass | undefined {
  // A question asked with `ask_user` is allowed: it reaches the owner, and the run is parked meanwhile.
  if (decision.kind === 'wait')
    return held === 0 && decision.via?.tool !== 'ask_user' && waitsForPerson(decision) ? 'awaiting_input' : undefined
  if (decision.kind !== 'final') return undefined
  const { answer } = decision
  if (asksPerson(answer)) return 'awaiting_input'
  if (!real && !noop) return 'no_real_action'
  return isUsableResult(answer) ? undefined : 'invalid_result'
}

const WAITS_FOR_PERSON =
  /\b(?:user|human|owner|person|somebody|someone|confirm\w*|approv\w*|permission|repl(?:y|ies))\b/i
const WAITS_FOR_PERSON_ZH = /用户|人类|人工|主人|确认|批准|审批|许可|回复|答复/

/** A model names the event that it waits for, and a reason; if the event may be any, the words of the reason decide. */
function waitsForPerson({ match, reason }: Extract<Decision, { kind: 'wait' }>): boolean {
  return (
    match === 'user_message' || (match === 'any' && (WAITS_FOR_PERSON.test(reason) || WAITS_FOR_PERSON_ZH.test(reason)))
  )
}

const answerText = (decision: Decision): string =>
  decision.kind === 'final' ? decision.answer : decision.kind === 'wait' ? decision.reason : ''

function hasRealAction({ decision, results }: CompletedStep): boolean {
  if (decision.kind !== 'act') return false
  return decision.calls.some(({ tool }, index) => isRealAction(tool) && results[index]?.status === 'ok')
}

/** Tools whose success is no real action; `clearify` is a misspelling that has to be recognised too. */
const ORCHESTRATION: ReadonlySet<string> = new Set([
  ...['plan', 'clearify', 'clarify', 'attention', 'context_checkpoint', 'request_user'],
  ...['wait', 'finish', 'remember', 'recall', 'forget', 'route', 'workspace_create', 'send_message', 'ask_user'],
  ...['spawn_agent', 'read_state', 'tool_search'],
])

export function isRealAction(tool: string): boolean {
  const name = tool.trim().toLowerCase()
  return name !== '' && !name.startsWith('todo_') && !ORCHESTRATION.has(name)
}

/** Contract: the autonomy in a behaviour's state; undefined if another behaviour wrote the state. */
export function autonomyFromState(state: Json): Autonomy | undefined {
  return autonomySchema.safeParse(state).data
}
