/**
 * Which behaviour follows which: Plan, Do, Check, Adjust. What a behaviour did to the todos decides; what the model
 * names counts only where the table leaves a choice. Pure.
 *
 *   router         → plan | end          check  → adjust (a check failed) | do (todos left) | check (Bench) | end
 *   resolve_router → end                 adjust → do | end (failed)
 *   plan           → do | end            do     → check (COMPLETE) | adjust (FAILED)
 *
 * Todos of sub-agents are started, and settled by their results, in DO with the parameter `spawn` (rules.ts).
 */

import { bareBehaviourName } from '../domain/behaviour-name.ts'
import { MAX_OPEN_AGENTS } from '../domain/sub-agent.ts'
import { delegatedTodos, nextReady, readyForAgents, type TodoSummary } from '../domain/todo.ts'
import type { AfterBehaviour, BehaviourEnd } from '../ports/behaviour.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { answerWithProof } from './proof-lines.ts'
import { DELEGATION } from './rules.ts'

/** How often a todo whose check failed is worked on again. */
const MAX_ROUNDS = 3

type Rule = (end: BehaviourEnd) => AfterBehaviour

const RULES: Readonly<Record<string, Rule>> = {
  router: afterRouter,
  resolve_router: ({ answer }) => ({ kind: 'end', answer }),
  plan: afterPlan,
  do: afterDo,
  check: afterCheck,
  adjust: afterAdjust,
}

/** Contract: what follows the behaviour; a behaviour that the table does not have ends the run with its answer. */
export function afterFinished(name: string, end: BehaviourEnd): AfterBehaviour {
  const rule = RULES[name]
  return rule ? rule(end) : { kind: 'end', answer: end.answer }
}

function afterRouter({ answer, wanted }: BehaviourEnd): AfterBehaviour {
  // With its parameters, if the model gave any: `plan:depth=2`.
  if (wanted !== undefined && bareBehaviourName(wanted) === 'plan')
    return { kind: 'become', behaviour: wanted, params: {}, why: 'the message needs work' }
  if (wanted === undefined || wanted === 'end') return { kind: 'end', answer }
  return stay(loadPrompt('retries/behaviour.md#unknown_next', { next: JSON.stringify(wanted), choices: 'plan, end' }))
}

function afterPlan(end: BehaviourEnd): AfterBehaviour {
  const open = end.todos.filter(({ status }) => status !== 'DONE')
  if (open.length === 0) return { kind: 'end', answer: end.answer }
  return nextWork(end, 'the plan is made') ?? notReady(open)
}

function afterDo(end: BehaviourEnd): AfterBehaviour {
  const { todos, params } = end
  if (params[DELEGATION] !== undefined) return afterDelegation(end)
  const current = todos.find(({ code }) => code === params.todo)
  if (current?.status === 'COMPLETE')
    return { kind: 'become', behaviour: 'check', params, why: `${current.code} is COMPLETE` }
  if (current?.status === 'FAILED') return toAdjust(current, params)
  if (current?.status === 'DONE' || current === undefined) return nextWork(end, 'it is DONE') ?? toCheck(params)
  return stay(loadPrompt('retries/behaviour.md#todo_open', { todo: current.code, status: current.status }))
}

/** What sub-agents finished is checked, and what they could not do is looked at, before the run waits for others. */
function afterDelegation(end: BehaviourEnd): AfterBehaviour {
  const { todos, params, results } = end
  if (results.length > 0) return toAgents([], 'sub-agents have ended', params)
  const more = readyForAgents(todos, MAX_OPEN_AGENTS)
  if (more.length > 0) return toAgents(more, `${codesOf(more)}: for sub-agents`)
  const ended = todos.filter(({ assignee }) => assignee !== null)
  const failed = ended.find(({ status }) => status === 'FAILED')
  if (failed) return toAdjust(failed, params)
  const complete = ended.find(({ status }) => status === 'COMPLETE')
  if (complete) return { kind: 'become', behaviour: 'check', params: {}, why: `${complete.code} is COMPLETE` }
  const own = toNextTodo(todos, 'sub-agents work on others')
  const atWork = delegatedTodos(todos)
  // A sub-agent that is not parallel works alone.
  if (own && atWork.every(({ parallel }) => parallel)) return own
  return atWork.length > 0 ? { kind: 'wait', reason: `sub-agents work on ${codesOf(atWork)}` } : toCheck({})
}

function afterCheck(end: BehaviourEnd): AfterBehaviour {
  const { todos, params } = end
  const undecided = todos.filter(({ status }) => status === 'COMPLETE')
  if (undecided.length > 0) return stay(loadPrompt('retries/behaviour.md#undecided', { todos: codesOf(undecided) }))
  const failed = todos.find(({ status }) => status === 'CHECK_FAILED' || status === 'FAILED')
  if (failed) return toAdjust(failed, params)
  const next = nextWork(end, 'todos are left')
  if (next) return next
  const benches = todos.filter(({ type, status }) => type === 'Bench' && status !== 'DONE')
  const others = todos.filter(({ type, status }) => type !== 'Bench' && status !== 'DONE')
  if (others.length > 0) return notReady(others)
  if (benches.length === 0) return { kind: 'end', answer: answerWithProof(end) }
  if (params.bench !== undefined) return stay(loadPrompt('retries/behaviour.md#undecided', { todos: codesOf(benches) }))
  return {
    kind: 'become',
    behaviour: 'check',
    params: { bench: codesOf(benches) },
    why: 'the tests of the whole are left',
  }
}

function afterAdjust(end: BehaviourEnd): AfterBehaviour {
  const { answer, wanted, todos, params } = end
  const round = Number(params.round ?? 1)
  const failed = (error: string): AfterBehaviour => ({ kind: 'end', answer: answerWithProof(end), error })
  if (wanted === 'end') return failed(answer === '' ? 'the agent gave up' : answer)
  if (round >= MAX_ROUNDS) return failed(`${params.todo} did not pass its check in ${MAX_ROUNDS} rounds`)
  const current = todos.find(({ code }) => code === params.todo)
  if (current?.status === 'FAILED' || current?.status === 'CHECK_FAILED' || current?.status === 'IN_PROGRESS')
    return current.assignee === null
      ? toDo(current, 'with the notes on what went wrong', round + 1)
      : toAgents([current], `${current.code}: again`, { todo: current.code, round: String(round + 1) })
  return nextWork(end, 'the plan was changed', round + 1) ?? failed('no todo is left that could be worked on')
}

const toAdjust = ({ code, status }: TodoSummary, params: BehaviourEnd['params']): AfterBehaviour => ({
  ...{ kind: 'become', behaviour: 'adjust', why: `${code} is ${status}` },
  params: { todo: code, round: params.todo === code ? (params.round ?? '1') : '1' },
})

const toCheck = (params: BehaviourEnd['params']): AfterBehaviour => ({
  ...{ kind: 'become', behaviour: 'check', params, why: 'no todo is left to work on' },
})

/** The next todo, also one that is worked on; undefined if none can be worked on. */
function nextWork({ todos, results }: BehaviourEnd, why: string, round = 1): AfterBehaviour | undefined {
  const forAgents = readyForAgents(todos, MAX_OPEN_AGENTS)
  if (forAgents.length > 0 || results.length > 0) return toAgents(forAgents, `${codesOf(forAgents)}: ${why}`)
  const atWork = delegatedTodos(todos)
  const own = atWork.every(({ parallel }) => parallel) ? toNextTodo(todos, why, round) : undefined
  return own ?? (atWork.length > 0 ? toAgents([], 'sub-agents are at work') : undefined)
}

const toAgents = (todos: readonly TodoSummary[], why: string, params: BehaviourEnd['params'] = {}): AfterBehaviour => ({
  ...{ kind: 'become', behaviour: 'do', why },
  params: { ...params, [DELEGATION]: todos.map(({ code }) => code).join(',') },
})

function toNextTodo(todos: readonly TodoSummary[], why: string, round = 1): AfterBehaviour | undefined {
  const ready = nextReady(todos, 'do')
  return ready && toDo(ready, why, round)
}

const toDo = ({ code }: TodoSummary, why: string, round: number): AfterBehaviour => ({
  ...{ kind: 'become', behaviour: 'do', params: { todo: code, round: String(round) }, why: `${code}: ${why}` },
})

const notReady = (open: readonly TodoSummary[]): AfterBehaviour =>
  stay(loadPrompt('retries/behaviour.md#not_ready', { todos: codesOf(open) }))

const codesOf = (todos: readonly TodoSummary[]): string => todos.map(({ code }) => code).join(', ')

const stay = (feedback: string): AfterBehaviour => ({ kind: 'stay', feedback })
