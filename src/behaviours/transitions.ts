/**
 * Which behaviour follows which: Plan, Do, Check, Adjust. What a behaviour did to the todos decides; what the model
 * names counts only where the table leaves a choice. Pure.
 *
 *   router         → plan | end          check  → adjust (a check failed) | do (todos left) | check (Bench) | end
 *   resolve_router → end                 adjust → do | end (failed)
 *   plan           → do | end            do     → check (COMPLETE) | adjust (FAILED)
 */

import { nextReady, type TodoSummary } from '../domain/todo.ts'
import type { AfterBehaviour, BehaviourEnd } from '../ports/behaviour.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { answerWithProof } from './proof-lines.ts'

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
  if (wanted === 'plan') return { kind: 'become', behaviour: 'plan', params: {}, why: 'the message needs work' }
  if (wanted === undefined || wanted === 'end') return { kind: 'end', answer }
  return stay(loadPrompt('retries/behaviour.md#unknown_next', { next: JSON.stringify(wanted), choices: 'plan, end' }))
}

function afterPlan({ answer, todos }: BehaviourEnd): AfterBehaviour {
  const open = todos.filter(({ status }) => status !== 'DONE')
  if (open.length === 0) return { kind: 'end', answer }
  return toNextTodo(todos, 'the plan is made') ?? waitForOthers(open)
}

function afterDo({ todos, params }: BehaviourEnd): AfterBehaviour {
  const current = todos.find(({ code }) => code === params.todo)
  if (current?.status === 'COMPLETE')
    return { kind: 'become', behaviour: 'check', params, why: `${current.code} is COMPLETE` }
  if (current?.status === 'FAILED') return toAdjust(current, params)
  if (current?.status === 'DONE' || current === undefined) return toNextTodo(todos, 'it is DONE') ?? toCheck(params)
  return stay(loadPrompt('retries/behaviour.md#todo_open', { todo: current.code, status: current.status }))
}

function afterCheck({ answer, todos, params }: BehaviourEnd): AfterBehaviour {
  const undecided = todos.filter(({ status }) => status === 'COMPLETE')
  if (undecided.length > 0) return stay(loadPrompt('retries/behaviour.md#undecided', { todos: codesOf(undecided) }))
  const failed = todos.find(({ status }) => status === 'CHECK_FAILED' || status === 'FAILED')
  if (failed) return toAdjust(failed, params)
  const next = toNextTodo(todos, 'todos are left')
  if (next) return next
  const benches = todos.filter(({ type, status }) => type === 'Bench' && status !== 'DONE')
  const others = todos.filter(({ type, status }) => type !== 'Bench' && status !== 'DONE')
  if (others.length > 0) return waitForOthers(others)
  if (benches.length === 0) return { kind: 'end', answer: answerWithProof(answer, todos) }
  if (params.bench !== undefined) return stay(loadPrompt('retries/behaviour.md#undecided', { todos: codesOf(benches) }))
  return {
    kind: 'become',
    behaviour: 'check',
    params: { bench: codesOf(benches) },
    why: 'the tests of the whole are left',
  }
}

function afterAdjust({ answer, wanted, todos, params }: BehaviourEnd): AfterBehaviour {
  const round = Number(params.round ?? 1)
  const failed = (error: string): AfterBehaviour => ({ kind: 'end', answer: answerWithProof(answer, todos), error })
  if (wanted === 'end') return failed(answer === '' ? 'the agent gave up' : answer)
  if (round >= MAX_ROUNDS) return failed(`${params.todo} did not pass its check in ${MAX_ROUNDS} rounds`)
  const current = todos.find(({ code }) => code === params.todo)
  if (current?.status === 'FAILED' || current?.status === 'CHECK_FAILED' || current?.status === 'IN_PROGRESS')
    return toDo(current, 'with the notes on what went wrong', round + 1)
  return toNextTodo(todos, 'the plan was changed', round + 1) ?? failed('no todo is left that could be worked on')
}

const toAdjust = ({ code, status }: TodoSummary, params: BehaviourEnd['params']): AfterBehaviour => ({
  ...{ kind: 'become', behaviour: 'adjust', why: `${code} is ${status}` },
  params: { todo: code, round: params.todo === code ? (params.round ?? '1') : '1' },
})

const toCheck = (params: BehaviourEnd['params']): AfterBehaviour => ({
  ...{ kind: 'become', behaviour: 'check', params, why: 'no todo is left to work on' },
})

function toNextTodo(todos: readonly TodoSummary[], why: string, round = 1): AfterBehaviour | undefined {
  const ready = nextReady(todos, 'do')
  return ready && toDo(ready, why, round)
}

const toDo = ({ code }: TodoSummary, why: string, round: number): AfterBehaviour => ({
  ...{ kind: 'become', behaviour: 'do', params: { todo: code, round: String(round) }, why: `${code}: ${why}` },
})

/** Todos that sub-agents work on end by themselves; any other cannot be worked on as the plan is. */
function waitForOthers(open: readonly TodoSummary[]): AfterBehaviour {
  const others = open.filter(({ assignee }) => assignee !== null)
  if (others.length > 0) return { kind: 'wait', reason: `waiting for ${codesOf(others)}` }
  return stay(loadPrompt('retries/behaviour.md#not_ready', { todos: codesOf(open) }))
}

const codesOf = (todos: readonly TodoSummary[]): string => todos.map(({ code }) => code).join(', ')

const stay = (feedback: string): AfterBehaviour => ({ kind: 'stay', feedback })
