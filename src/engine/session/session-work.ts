/**
 * The work of a session: its behaviours, todos, answers, and one line per earlier step. The lines are made only when a
 * behaviour is entered.
 * Must not know: which behaviours there are, and what follows which.
 */

import type { BehaviourChoice } from '../../domain/decision.ts'
import type { RecalledFact } from '../../domain/fact.ts'
import type { Json } from '../../domain/json.ts'
import type { SessionTalk, SessionView, WorklogLine } from '../../domain/session-view.ts'
import { TODO_STATUSES, TODO_TYPES, type TodoSummary } from '../../domain/todo.ts'
import { truncateText } from '../../domain/truncate.ts'
import type { PastTurn } from '../../ports/memory.ts'
import type { ModelMessage } from '../../ports/model.ts'
import { nonceOf } from '../../prompt-compiler/data-fence.ts'
import { listShape, objectShape, oneOfShape, ShapeMismatch, textShape } from '../shape.ts'
import { newConversation } from './message-digest.ts'
import { findTaskMessage } from './owner-words.ts'
import type { SessionThread } from './session-thread.ts'

/** The turns of a behaviour that the session has left. */
interface LeftBehaviour {
  readonly behaviour: string
  readonly turns: readonly PastTurn[]
}

export interface SessionWork {
  /** The behaviour that the last step chose; undefined once it was entered. */
  chosen?: BehaviourChoice | undefined
  /** How the current behaviour was chosen; undefined for the first one of a run. */
  entered?: BehaviourChoice | undefined
  /** Whether the model has answered in the current behaviour. */
  isAsked: boolean
  /** Steps of the current behaviour. */
  behaviourSteps: number
  /** How often in a row the current behaviour was asked to go on. */
  stays: number
  /** How often the current run changed its behaviour. */
  moves: number
  todos: readonly TodoSummary[]
  /** Facts of the agent that were recalled when the run started. */
  facts: readonly RecalledFact[]
  readonly left: LeftBehaviour[]
  readonly answers: { readonly turn: number; readonly text: string }[]
}

export const noWork = (): SessionWork => ({
  isAsked: false,
  behaviourSteps: 0,
  stays: 0,
  moves: 0,
  todos: [],
  facts: [],
  left: [],
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
    attempts: (value) => (Number.isSafeInteger(value) ? Number(value) : new ShapeMismatch('expected a whole number')),
    proof: ifNull(oneOfShape(['proved', 'asserted'])),
  }),
)

/** Takes over the todos that a tool returned; anything else in their place is ignored. */
export function noteTodos(thread: SessionThread, todos: Json | undefined): void {
  if (todos === undefined) return
  const checked = todosShape(todos)
  if (!(checked instanceof ShapeMismatch)) thread.work.todos = checked
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
  }
}

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
    turns.map(({ turn, messages }) => ({ turn, behaviour, ...describeStep(messages) })),
  )
  return lines.slice(-MAX_LINES)
}

/** One line per step: what the model said, its calls, and the beginning of each result. */
function describeStep(messages: readonly ModelMessage[]): { readonly text: string; readonly outside: boolean } {
  const parts = messages.flatMap((message) => {
    if (message.role === 'assistant')
      return [message.text, ...message.calls.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`)]
    return message.role === 'tool' ? [`→ ${message.text}`] : []
  })
  const shown = parts.map((part) => truncateText(part.replaceAll(/\s+/g, ' ').trim(), MAX_LINE / 2)).filter(Boolean)
  const text = truncateText(shown.join(' · '), MAX_LINE)
  return { text, outside: messages.some(({ text: quoted }) => quoted.includes('<data ')) }
}
