/** Steps that need no model: what the runtime does itself when a behaviour begins, and when it is over. Pure. */

import { PASSED_ON } from '../domain/reply-to.ts'
import type { SessionView } from '../domain/session-view.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'

/** A call that the runtime makes, or the answer with which it ends the behaviour. */
export type RuleStep =
  | { readonly kind: 'call'; readonly tool: string; readonly args: Readonly<Record<string, string>> }
  | { readonly kind: 'end'; readonly answer: string }

interface RuleState {
  /** Tools that the runtime has called in this behaviour. */
  readonly called: readonly string[]
  /** The reply of a routed message; null until it is routed. */
  readonly routed: string | null
}

/** How often DO may try to finish with an open todo before the runtime marks it as failed. */
const MAX_STAYS_IN_DO = 2

/** Contract: what the runtime does in this step; null if the model decides. */
export function ruleFor(behaviour: string, session: SessionView, state: RuleState): RuleStep | null {
  switch (behaviour) {
    case 'do':
      return ruleForDo(session, state)
    case 'check':
      return ruleForCheck(session, state)
    case 'resolve_router':
      return state.routed === null ? null : { kind: 'end', answer: state.routed || PASSED_ON }
    default:
      return null
  }
}

/** The todo is started before the model works on it, and given up if the model neither completes nor fails it. */
function ruleForDo({ params, todos, stays }: SessionView, { called }: RuleState): RuleStep | null {
  const current = todos.find(({ code }) => code === params.todo)
  if (current === undefined) return null
  const todo = current.code
  if (called.includes('todo_fail')) return { kind: 'end', answer: loadPrompt('retries/behaviour.md#not_finished') }
  if (!called.includes('todo_start') && current.status !== 'IN_PROGRESS')
    return { kind: 'call', tool: 'todo_start', args: { todo } }
  if (stays < MAX_STAYS_IN_DO || current.status !== 'IN_PROGRESS') return null
  return { kind: 'call', tool: 'todo_fail', args: { todo, reason: loadPrompt('retries/behaviour.md#not_finished') } }
}

/** The checks are run before the model reads anything. If they leave nothing to review, the behaviour is over. */
function ruleForCheck({ todos }: SessionView, { called }: RuleState): RuleStep | null {
  if (!called.includes('todo_verify')) return { kind: 'call', tool: 'todo_verify', args: {} }
  const failed = todos.filter(({ status }) => status === 'CHECK_FAILED')
  if (failed.length === 0 || todos.some(({ status }) => status === 'COMPLETE')) return null
  return { kind: 'end', answer: failed.map(({ code }) => code).join(', ') }
}
