/**
 * Folds a record of the journal into the thread: starts and ends of runs and turns. fold-open-turn.ts folds what
 * happens within a turn.
 * Must not know: the store, models, tools.
 */

import { answeredApprovalId } from '../../domain/approval.ts'
import type { JournalRecord } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { applyPatch } from '../../domain/json-patch.ts'
import { releasedTodos } from '../../domain/todo.ts'
import { nonceOf } from '../../prompt-compiler/data-fence.ts'
import {
  approvedMessage,
  inputMessages,
  type JournalledResult,
  memoryMessage,
  resultMessage,
} from '../../prompt-compiler/turn-messages.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { isUnmet, noteInput } from './expected-results.ts'
import { foldOpenTurn } from './fold-open-turn.ts'
import { noteAgentResults } from './open-agents.ts'
import { messagesFromInput } from './owner-words.ts'
import { addInputSources, addVerdictSources } from './provenance.ts'
import { countStepsWithoutNews, hasBlockedCall } from './repetition-guard.ts'
import { decidedCalls, freshRunState, type OpenTurn, requireOpenTurn, type SessionThread } from './session-thread.ts'
import { leaveConversation, noteRuleStep } from './session-work.ts'
import { appendMessage, dropTurn, insertRecalled, switchParser, writesCallsAsText } from './transcript.ts'
import { noteInputRead, noteRunEnd } from './unfinished-input.ts'
import { addStepUsage } from './usage.ts'

export function foldRecord(thread: SessionThread, record: JournalRecord): void {
  thread.head = record.seq
  switch (record.kind) {
    case 'run_started':
      if (record.anew) leaveConversation(thread)
      Object.assign(thread.work, {
        chosen: undefined,
        entered: record.params && { behaviour: record.behaviour, params: record.params, why: '' },
        moves: 0,
        hasRules: record.anew === true,
        isPassedOn: false,
        behaviourSteps: 0,
        stays: 0,
        isAsked: false,
        // The end of the run before has released them in the store.
        todos: releasedTodos(thread.work.todos),
      })
      Object.assign(thread, {
        run_id: record.run_id,
        ended: false,
        behaviour: record.behaviour,
        setup: record.setup,
        stateVersion: record.setup.state_version,
        state: record.state ?? null,
        ...freshRunState(record.outputs),
      })
      return
    case 'run_ended':
      thread.ended = true
      noteRunEnd(thread, record)
      if (record.answer !== undefined) thread.work.answers.push({ turn: thread.turn, text: record.answer })
      return
    case 'became':
      enterBehaviour(thread, record)
      return
    case 'diagnosed':
      return
    case 'refitted':
      switchParser(thread, record.setup)
      return
    case 'migrated':
      thread.stateVersion = record.version
      if (record.patch) thread.state = applyPatch(thread.state, record.patch)
      return
    case 'input_bound':
      openTurn(thread, record)
      return
    case 'step_committed':
      closeTurn(thread, record)
      return
    default:
      foldOpenTurn(thread, requireOpenTurn(thread), record)
  }
}

function enterBehaviour(
  thread: SessionThread,
  { behaviour, setup, state }: Extract<JournalRecord, { kind: 'became' }>,
): void {
  leaveConversation(thread)
  const { work } = thread
  work.entered = work.chosen
  work.chosen = undefined
  work.moves += 1
  Object.assign(thread, { behaviour, setup, stateVersion: setup.state_version, state: state ?? null })
  Object.assign(thread, { retries: 0, blockedSteps: 0, stepsWithoutNews: 0, recent: [] })
}

function openTurn(thread: SessionThread, record: Extract<JournalRecord, { kind: 'input_bound' }>): void {
  thread.turn = record.turn
  thread.open = {
    turn: record.turn,
    input: record.input,
    observation: record.observation === undefined ? (record.input as unknown as Json) : record.observation,
    memory: record.memory,
    feedback: record.feedback,
    failures: [],
    triedModels: [],
    isGivenUp: false,
    needsPrepare: record.prepares ?? false,
    hasNews: false,
    isRequested: false,
    isAwaitingAnswer: false,
    requestSeq: 0,
    answeredAt: record.ts,
    intended: new Map(),
    settled: new Map(),
    messages: [],
    before: { conversation: thread.conversation, length: thread.conversation.messages.length },
  }
  for (const observation of record.input) thread.openApprovals.delete(answeredApprovalId(observation) ?? '')
  if (thread.expected && thread.hasAnsweredInput) noteInput(thread.expected, record.input)
  addInputSources(thread, record)
  noteAgentResults(thread, record.input)
  for (const { reply_to } of record.input) if (reply_to) thread.replyTo.push({ reply_to })
  thread.userMessages.push(...messagesFromInput(thread.run_id ?? '', record))
  if (!thread.hasAnsweredInput) insertRecalled(thread, thread.open, record)
  const messages = record.memory?.messages ?? []
  if (messages.length > 0) appendMessage(thread, thread.open, memoryMessage(messages, record))
  const shown = record.prepares ? [] : record.input
  const nonce = nonceOf(record.ts, record.turn)
  for (const message of inputMessages(shown, nonce, record.feedback)) appendMessage(thread, thread.open, message)
}

/** A turn without an answer is removed from the conversation: its input is still unread and will be bound again. */
function closeTurn(thread: SessionThread, record: Extract<JournalRecord, { kind: 'step_committed' }>): void {
  const { next, patch, ms } = record
  const open = requireOpenTurn(thread)
  addVerdictSources(thread, record)
  thread.last = next
  thread.open = undefined
  thread.turns += 1
  thread.work.behaviourSteps += 1
  thread.work.stays = next.kind === 'continue' && next.stay ? thread.work.stays + 1 : 0
  if (next.kind === 'become') thread.work.chosen = next
  if (next.kind === 'continue' && next.agents) thread.isToldOfAgents = true
  const isRuleStep = thread.work.hasRules && !open.answer && open.decided !== undefined
  thread.usage = addStepUsage(thread.usage, next, { ms, isRuleStep })
  if (patch) thread.state = applyPatch(thread.state, patch)
  if (!open.answer && !open.decided) {
    dropTurn(thread, open)
    return
  }
  answerUnsettledCalls(thread, open)
  noteInputRead(thread, open.input)
  thread.hasAnsweredInput = true
  thread.past.push({ turn: open.turn, messages: open.messages })
  noteRuleStep(thread, open)
  if (!open.isGivenUp) thread.failed.inARow = 0
  thread.retries = next.kind === 'continue' && next.retry ? thread.retries + 1 : 0
  if (next.kind === 'continue' && next.retry && thread.expected && isUnmet(thread.expected))
    thread.expected.isReminded = true
  thread.blockedSteps = hasBlockedCall(open) ? thread.blockedSteps + 1 : 0
  thread.stepsWithoutNews = countStepsWithoutNews(thread, open)
}

/** Every call in the conversation needs a result. */
function answerUnsettledCalls(thread: SessionThread, open: OpenTurn): void {
  if (open.shown)
    for (const index of open.shown.calls.keys())
      if (!open.settled.has(index))
        appendMessage(thread, open, resultMessage(open.shown, index, notStarted(), writesCallsAsText(thread)))
  for (const [index, { tool, approval }] of decidedCalls(open).entries())
    if (approval !== undefined && !open.settled.has(index))
      appendMessage(thread, open, approvedMessage(tool, notStarted()))
}

const notStarted = (): JournalledResult => ({
  result: { status: 'not_started', content: loadPrompt('results/failed-call.md#not_started') },
})
