/** Steps that need no model: what the runtime does itself when a behaviour begins, and when it is over. Pure. */

import type { SessionView, TodoResult } from '../domain/session-view.ts'
import type { TodoSummary } from '../domain/todo.ts'
import { truncateText } from '../domain/truncate.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'

/** A call of the runtime. */
type RuleCall = { readonly tool: string; readonly args: Readonly<Record<string, string>> }

/** Calls that the runtime makes, or the answer with which it ends the behaviour. */
export type RuleStep =
  | ({ readonly kind: 'call' } & RuleCall)
  | { readonly kind: 'calls'; readonly calls: readonly RuleCall[] }
  | { readonly kind: 'end'; readonly answer: string }

interface RuleState {
  /** Tools that the runtime has called in this behaviour. */
  readonly called: readonly string[]
}

/** The parameter of DO with the codes of todos for sub-agents; empty: it only takes their results. */
export const DELEGATION = 'spawn'

/** How often DO may try to finish with an open todo before the runtime marks it as failed. */
const MAX_STAYS_IN_DO = 2

/** Contract: what the runtime does in this step; null if the model decides. `hasMessage`: the owner has written. */
export function ruleFor(
  behaviour: string,
  session: SessionView,
  state: RuleState,
  hasMessage = false,
): RuleStep | null {
  switch (behaviour) {
    case 'do':
      return session.params[DELEGATION] === undefined
        ? ruleForDo(session, state)
        : ruleForDelegation(session, state, hasMessage)
    case 'check':
      return ruleForCheck(session, state)
    default:
      return null
  }
}

/** Maximum characters of the whole request in the task of a sub-agent. */
const MAX_REQUEST = 2000

/**
 * The runtime starts the todos of sub-agents, spawns these, and completes or fails a todo by the result of its
 * sub-agent. No model is asked, unless the owner writes meanwhile.
 */
function ruleForDelegation(session: SessionView, { called }: RuleState, hasMessage: boolean): RuleStep | null {
  if (hasMessage) return null
  const { todos, results, delegated } = session
  const codes = (session.params[DELEGATION] ?? '').split(',')
  const wanted = todos.filter(({ code, status }) => codes.includes(code) && !FINISHED.has(status))
  const toStart = called.includes('todo_start') ? [] : wanted.filter(({ status }) => status !== 'IN_PROGRESS')
  if (toStart.length > 0)
    return { kind: 'calls', calls: toStart.map(({ code }) => ({ tool: 'todo_start', args: { todo: code } })) }
  const toSpawn = called.includes('spawn_agent')
    ? []
    : wanted.filter(({ code, status }) => status === 'IN_PROGRESS' && !delegated.includes(code))
  if (toSpawn.length > 0) return { kind: 'calls', calls: toSpawn.map((todo) => spawnCall(session, todo)) }
  if (results.length === 0) return { kind: 'end', answer: loadPrompt('requests/delegated.md#settled') }
  return { kind: 'calls', calls: results.map(settleCall) }
}

const FINISHED: ReadonlySet<string> = new Set(['COMPLETE', 'DONE'])

function spawnCall({ task }: SessionView, { code, title, assignee }: TodoSummary): RuleCall {
  const request = truncateText(task, MAX_REQUEST)
  const text = loadPrompt('requests/delegated.md#task', { todo: code, title, request })
  return { tool: 'spawn_agent', args: { agent: assignee ?? '', task: text, todo: code } }
}

const settleCall = ({ todo, isDone, text }: TodoResult): RuleCall => ({
  tool: isDone ? 'todo_done' : 'todo_fail',
  args: { todo, reason: truncateText(text, MAX_REASON) },
})

/** Maximum characters of a result that becomes the note of a todo. */
const MAX_REASON = 1500

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
