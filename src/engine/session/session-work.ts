/**
 * The work of a session: its behaviours, todos, answers, and one line per earlier step. The lines are made only when a
 * behaviour is entered.
 * Must not know: which behaviours there are, and what follows which.
 */

import type { BehaviourChoice, CallResult } from '../../domain/decision.ts'
import type { RecalledFact } from '../../domain/fact.ts'
import type { Json } from '../../domain/json.ts'
import { readRouted } from '../../domain/routed.ts'
import type { SessionTalk, SessionView, TodoResult, WorklogLine } from '../../domain/session-view.ts'
import { delegatedTodos, TODO_STATUSES, TODO_TYPES, type TodoSummary } from '../../domain/todo.ts'
import { truncateText } from '../../domain/truncate.ts'
import type { PastTurn } from '../../ports/memory.ts'
import type { ModelMessage } from '../../ports/model.ts'
import { nonceOf } from '../../prompt-compiler/data-fence.ts'
import { listShape, objectShape, oneOfShape, ShapeMismatch, textShape } from '../shape.ts'
import { newConversation } from './message-digest.ts'
import { findTaskMessage } from './owner-words.ts'
import type { OpenTurn, SessionThread } from './session-thread.ts'

/** The turns of a behaviour that the session has left. */
interface LeftBehaviour {
  readonly behaviour: string
  readonly turns: readonly PastTurn[]
}

export interface SessionWork {
  /** The behaviour that the last step chose; undefined once it was entered. */
  chosen?: BehaviourChoice | undefined
  /** How the current behaviour was chosen; undefined for the first one of a run, unless it has parameters. */
  entered?: BehaviourChoice | undefined
  /** Whether the model has answered in the current behaviour. */
  isAsked: boolean
  /** Steps of the current behaviour. */
  behaviourSteps: number
  /** How often in a row the current behaviour was asked to go on. */
  stays: number
  /** Whether the behaviours of the current run say what follows them, and decide some steps by a rule. */
  hasRules: boolean
  /** How often the current run changed its behaviour. */
  moves: number
  /** Whether the current run has passed its message on and says nothing about it itself. */
  isPassedOn: boolean
  todos: readonly TodoSummary[]
  /** Facts of the agent that were recalled when the run started. */
  facts: readonly RecalledFact[]
  /** Results of sub-agents that were read, by the todo that they worked on. */
  readonly results: Map<string, TodoResult>
  readonly left: LeftBehaviour[]
  /** What steps that the behaviour decided itself came to, by turn: the conversation does not show them. */
  readonly byRule: Map<number, string>
  readonly answers: { readonly turn: number; readonly text: string }[]
}

export const noWork = (): SessionWork => ({
  isAsked: false,
  behaviourSteps: 0,
  stays: 0,
  hasRules: false,
  moves: 0,
  isPassedOn: false,
  todos: [],
  facts: [],
  results: new Map(),
  left: [],
  byRule: new Map(),
  answers: [],
})

/** Starts a new conversation. The turns so far are kept for the worklog. */
export function leaveConversation(thread: SessionThread): void {
  const { work, past } = thread
  if (past.length > 0) work.left.push({ behaviour: thread.behaviour ?? '', turns: past.splice(0) })
  thread.cut = undefined
  thread.conversation = newConversation()
  work.facts = thread.recalled?.recalled.facts ?? work.facts
  thread.recalled = undefined
  work.isAsked = false
  work.behaviourSteps = 0
  work.stays = 0
}

const ifNull =
  <T>(shape: (value: Json | undefined) => T | ShapeMismatch) =>
  (value: Json | undefined): T | null | ShapeMismatch =>
    value === null ? null : shape(value)

const todosShape = listShape(
  objectShape<TodoSummary>({
    code: textShape,
    title: textShape,
    type: oneOfShape(TODO_TYPES),
    status: oneOfShape(TODO_STATUSES),
    deps: listShape(textShape),
    assignee: ifNull(textShape),
    // Absent in records of earlier versions.
    parallel: (value) => value === true,
    attempts: (value) => (Number.isSafeInteger(value) ? Number(value) : new ShapeMismatch('expected a whole number')),
    proof: ifNull(oneOfShape(['proved', 'asserted'])),
  }),
)

/** Takes over the list that a todo tool returned; anything else in its place is ignored. */
export function noteTodos(thread: SessionThread, { facts }: CallResult): void {
  const { todos } = (facts ?? {}) as { readonly todos?: Json }
  const checked = todosShape(todos)
  if (!(checked instanceof ShapeMismatch)) thread.work.todos = checked
}

/** After a reply, or a route without one, the last call counts. */
export function noteRouted(thread: SessionThread, result: CallResult): void {
  const routed = readRouted(result)
  if (routed) thread.work.isPassedOn = routed.reply === undefined
}

/** Maximum number of earlier steps, and of characters per step. */
const MAX_LINES = 60
const MAX_LINE = 300
/** Maximum number of earlier messages, and of files. */
const MAX_TALK = 40
const MAX_FILES = 60

export function sessionViewOf(thread: SessionThread): SessionView {
  const { work, userMessages, run_id, fileDigests } = thread
  const { entered } = work
  return {
    params: entered?.params ?? {},
    isEntering: !work.isAsked,
    stays: work.stays,
    why: entered?.why ?? '',
    task: findTaskMessage(userMessages, run_id)?.text ?? '',
    // Shown once, when the behaviour is entered.
    talk: !work.isAsked ? talkOf(thread) : [],
    worklog: !work.isAsked ? worklogOf(thread) : [],
    facts: work.facts,
    files: [...fileDigests.keys()].slice(-MAX_FILES),
    nonce: nonceOf(run_id ?? '', thread.head),
    todos: work.todos,
    results: openResults(thread),
    delegated: delegatedCodes(thread),
  }
}

/** Contract: the results of todos that are still in progress: the todo is to be completed or failed by them. */
export function openResults(thread: SessionThread): readonly TodoResult[] {
  const { todos, results } = thread.work
  const atWork = delegatedCodes(thread)
  return delegatedTodos(todos)
    .filter(({ code }) => !atWork.includes(code))
    .map(({ code }) => results.get(code) ?? { todo: code, isDone: false, text: LOST_AGENT })
}

/** For a todo whose sub-agent could not be started, or belonged to an earlier run. */
const LOST_AGENT = 'no sub-agent works on it'

/** The todos that open sub-agents of this run work on. */
const delegatedCodes = ({ agents }: SessionThread): readonly string[] =>
  [...agents.values()].flatMap(({ todo }) => todo ?? [])

function talkOf({ userMessages, work }: SessionThread): readonly SessionTalk[] {
  const said = [
    ...userMessages.filter(({ isOwner }) => isOwner).map(({ turn, text }) => ({ turn, from: 'owner' as const, text })),
    ...work.answers.map(({ turn, text }) => ({ turn: turn + 0.5, from: 'agent' as const, text })),
  ]
  return said
    .toSorted((a, b) => a.turn - b.turn)
    .slice(-MAX_TALK)
    .map(({ from, text }) => ({ from, text }))
}

function worklogOf({ work }: SessionThread): readonly WorklogLine[] {
  const lines = work.left.flatMap(({ behaviour, turns }) =>
    turns.map(({ turn, messages }) => ({
      turn,
      behaviour,
      text: describeStep(messages) || work.byRule.get(turn) || '',
    })),
  )
  return lines.filter(({ text }) => text !== '').slice(-MAX_LINES)
}

/** One line per step: what the model said, its calls, and the beginning of each result. */
function describeStep(messages: readonly ModelMessage[]): string {
  const parts = messages.flatMap((message) => {
    if (message.role === 'assistant')
      return [message.text, ...message.calls.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`)]
    return message.role === 'tool' ? [`→ ${message.text}`] : []
  })
  return joinParts(parts)
}

function joinParts(parts: readonly string[]): string {
  const shown = parts.map((part) => truncateText(part.replaceAll(/\s+/g, ' ').trim(), MAX_LINE / 2)).filter(Boolean)
  return truncateText(shown.join(' · '), MAX_LINE)
}

/** Keeps the calls of a step that the behaviour decided itself, with the beginning of each result. */
export function noteRuleStep({ work }: SessionThread, { turn, answer, decided, settled }: OpenTurn): void {
  if (answer || decided?.kind !== 'act') return
  const parts = decided.calls.flatMap(({ tool, args }, at) => [
    `${tool} ${JSON.stringify(args)}`,
    `→ ${settled.get(at)?.content ?? ''}`,
  ])
  work.byRule.set(turn, joinParts(parts))
}
