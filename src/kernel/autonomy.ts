/**
 * Autonomy: whether an unattended run came to a result by itself, and what it is told otherwise. In this order: it still waits for a
 * person; nothing real was done; what it says is no result. It is then given another attempt in the same session, and after the last a class.
 * Must not know: how the run is driven, and when it is run.
 * Invariants: what a person has to allow is waited for and is no failure; only results are evidence, never calls or words.
 */

import { z } from 'zod'
import { isAnswer } from '../domain/approval.ts'
import type { Decision, Verdict } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import { LANGUAGES, type Language, languageOf } from '../domain/language.ts'
import { FAILURE_CLASSES, type FailureClass } from '../domain/stop.ts'
import type { Behaviour, Critic, Reduced } from '../ports/behaviour.ts'
import { asksPerson } from './asking.ts'
import { notAutonomous, retryRequirement } from './requirement.ts'
import { isResult, summaryOf } from './summary.ts'

/** What is known of a run's autonomy. */
export type Autonomy = {
  readonly language: Language
  /** To do nothing is allowed: whoever planned it said so. */
  readonly noop: boolean
  /** Something real was done, in any attempt. */
  readonly real: boolean
  /** Calls that a person has to allow first, and nobody has answered. */
  readonly held: number
  /** Attempts that came to nothing, and why the first one did. */
  readonly failed: number
  readonly first_failure: FailureClass | null
}

export const autonomyShape = z.strictObject({
  language: z.enum(LANGUAGES),
  noop: z.boolean(),
  real: z.boolean(),
  held: z.int(),
  failed: z.int(),
  first_failure: z.enum(FAILURE_CLASSES).nullable(),
})

export interface Insistence {
  /** null: no limit. */
  readonly max_attempts: number | null
  /** The rest before the second attempt, how much longer each one is than the one before, and the longest. */
  readonly first_ms: number
  readonly factor: number
  readonly longest_ms: number
}

/** Who has just been told what is missing needs little rest; who goes on like that needs more each time. */
export const INSISTENCE: Insistence = { max_attempts: 3, first_ms: 2_000, factor: 4, longest_ms: 600_000 }

export type Conduct = Pick<Behaviour<Autonomy>, 'state' | 'initState' | 'reduce' | 'critics'>

/** How a run behaves that nobody watches. */
export function autonomous(insistence: Insistence): Conduct {
  return {
    state: { version: 1, schema: autonomyShape },
    initState: (task, metadata = {}) => ({
      language: LANGUAGES.find((known) => known === metadata.language) ?? languageOf(task),
      noop: metadata.noop === true,
      ...{ real: false, held: 0, failed: 0, first_failure: null },
    }),
    reduce: afterStep,
    critics: [autonomyCritic(insistence)],
  }
}

function afterStep(before: Autonomy, step: Reduced): Autonomy {
  const asked = step.results.filter(({ status }) => status === 'parked').length
  const answered = step.input.filter(isAnswer).length
  const held = Math.max(0, before.held + asked - answered)
  const now = { ...before, held, real: before.real || didSomething(step) }
  const failure = failureOf(now, step.decision)
  if (failure === undefined || held > 0) return now
  return { ...now, failed: now.failed + 1, first_failure: now.first_failure ?? failure }
}

export function autonomyCritic({ max_attempts, first_ms, factor, longest_ms }: Insistence): Critic<Autonomy> {
  return {
    name: 'autonomy',
    judge(state, { decision }): Verdict {
      const failure = failureOf(state, decision)
      if (failure === undefined) return { kind: 'continue' }
      const { language, held, failed } = state
      // The engine parks it until somebody has answered; then it is judged again.
      if (held > 0) return { kind: 'continue' }
      const summary = summaryOf(saidIn(decision))
      if (max_attempts !== null && failed >= max_attempts)
        return { kind: 'stop', reason: notAutonomous(failure, failed, summary), failure_class: failure }
      const after_ms = Math.min(first_ms * factor ** (failed - 1), longest_ms)
      return { kind: 'retry', instruction: retryRequirement(language, summary), attempt: { after_ms } }
    },
  }
}

/** Undefined: it is not over, or it is as it should be. */
export function failureOf({ real, noop, held }: Autonomy, decision: Decision): FailureClass | undefined {
  // What is asked with the tool for it reaches the owner: it is parked, and others go on.
  if (decision.kind === 'wait')
    return held === 0 && decision.via?.tool !== 'ask_user' && isForPerson(decision) ? 'awaiting_input' : undefined
  if (decision.kind !== 'final') return undefined
  const { answer } = decision
  if (asksPerson(answer)) return 'awaiting_input'
  if (!real && !noop) return 'no_real_action'
  return isResult(answer) ? undefined : 'invalid_result'
}

const PERSON = /\b(?:user|human|owner|person|somebody|someone|confirm\w*|approv\w*|permission|repl(?:y|ies))\b/i
const PERSON_ZH = /用户|人类|人工|主人|确认|批准|审批|许可|回复|答复/

/** A model names what it waits for in words; for what has no name of ours, the words tell. */
function isForPerson({ match, reason }: Extract<Decision, { kind: 'wait' }>): boolean {
  return match === 'user_message' || (match === 'any' && (PERSON.test(reason) || PERSON_ZH.test(reason)))
}

const saidIn = (decision: Decision): string =>
  decision.kind === 'final' ? decision.answer : decision.kind === 'wait' ? decision.reason : ''

function didSomething({ decision, results }: Reduced): boolean {
  if (decision.kind !== 'act') return false
  return decision.calls.some(({ tool }, index) => isReal(tool) && results[index]?.status === 'ok')
}

/** Tools that move words about. The seed's, misspelling included, and our own. */
const ORCHESTRATION: ReadonlySet<string> = new Set([
  ...['plan', 'clearify', 'clarify', 'attention', 'context_checkpoint', 'request_user'],
  ...['wait', 'finish', 'remember', 'recall', 'forget', 'route', 'workspace_create', 'send_message', 'ask_user'],
  ...['spawn_agent', 'read_state', 'tool_search'],
])

export function isReal(tool: string): boolean {
  const name = tool.trim().toLowerCase()
  return name !== '' && !name.startsWith('todo_') && !ORCHESTRATION.has(name)
}

/** Contract: of a state as it stands in the journal; undefined where it is another behaviour's. */
export function autonomyOf(state: Json): Autonomy | undefined {
  return autonomyShape.safeParse(state).data
}
