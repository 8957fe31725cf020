/**
 * The transcript: the conversation that the model is shown, how it grows and when it is rebuilt.
 * Invariants: messages are only appended, except at a cut, a change of parser, or after a turn without an answer.
 */

import type { HistoryCut, JournalRecord, ModelAnswer, RunSetup } from '../../domain/journal-record.ts'
import type { ModelMessage } from '../../ports/model.ts'
import { openingMessage, shortenMessage } from '../../prompt-compiler/cut-opening.ts'
import { factsMessage } from '../../prompt-compiler/recalled-facts.ts'
import { callsAsText, legacyCutMessages } from '../../prompt-compiler/turn-messages.ts'
import { newConversation, truncateConversation } from './message-digest.ts'
import { findTaskMessage, removeTurnMessages } from './owner-words.ts'
import type { OpenTurn, SessionThread } from './session-thread.ts'

export function appendMessage(thread: SessionThread, open: OpenTurn, message: ModelMessage): void {
  open.messages.push(message)
  thread.conversation.messages.push(message)
}

/**
 * Adds recalled facts once per run, before its first input. If that turn ends without an answer, the next turn adds
 * them again.
 */
export function insertRecalled(
  thread: SessionThread,
  open: OpenTurn,
  { turn, ts, recalled }: Extract<JournalRecord, { kind: 'input_bound' }>,
): void {
  thread.recalled = recalled && !recalled.placed ? { turn, recalled, message: factsMessage(recalled, ts) } : undefined
  if (thread.recalled) appendMessage(thread, open, thread.recalled.message)
}

/** Rebuilds the conversation from the messages that the cut keeps. */
export function applyCut(thread: SessionThread, open: OpenTurn, cut: HistoryCut): void {
  thread.cut = cut
  thread.conversation = newConversation(messagesWithCut(thread, open, cut))
}

/** The messages that the model would see with this cut. */
export function messagesWithCut(thread: SessionThread, open: OpenTurn, cut: HistoryCut): readonly ModelMessage[] {
  return [
    ...afterCut(thread, cut),
    ...(cut.input ? shortenMessages(thread, open.messages, cut.longest) : open.messages),
  ]
}

const NO_CUT: HistoryCut = { from: 0, summary: '', recalled: [] }

function afterCut(thread: SessionThread, cut: HistoryCut): ModelMessage[] {
  const { past, recalled } = thread
  const kept = past.filter(({ turn }) => turn >= cut.from).flatMap(({ messages }) => messages)
  // Recalled facts stay visible even if the turn that started with them is cut.
  const remembered = recalled && recalled.turn < cut.from ? [recalled.message] : []
  const shown = shortenMessages(thread, kept, cut.longest)
  if (cut.words === undefined) return [...legacyCutMessages(cut), ...remembered, ...shown]
  return [...remembered, ...openingMessages(thread, cut), ...shown]
}

function openingMessages({ past, userMessages: words, run_id }: SessionThread, cut: HistoryCut): ModelMessage[] {
  const omitted = past.filter(({ turn }) => turn < cut.from)
  const [first, last] = [omitted[0], omitted.at(-1)]
  // A memory may supply a summary before any turn is omitted.
  if (!first || !last) return legacyCutMessages(cut)
  const messages = omitted.reduce((sum, turn) => sum + turn.messages.length, 0)
  const task = findTaskMessage(words, run_id)
  const ownerTexts = words
    .filter((word) => word.turn < cut.from && (word.isOwner || word === task))
    .map((word) => ({ turn: word.turn, text: word.text, isTask: word === task }))
  return [openingMessage(cut, ownerTexts, { first: first.turn, last: last.turn, turns: omitted.length, messages })]
}

/** Shortens each message to `longest` tokens, except the task and recalled facts, which have their own limit. */
function shortenMessages(
  { userMessages: words, run_id, recalled }: SessionThread,
  messages: readonly ModelMessage[],
  longest: number | undefined,
): readonly ModelMessage[] {
  if (longest === undefined) return messages
  const task = findTaskMessage(words, run_id)?.text ?? ''
  return messages.map((message) => (message === recalled?.message ? message : shortenMessage(message, longest, task)))
}

export function dropTurn(thread: SessionThread, { before, turn }: OpenTurn): void {
  removeTurnMessages(thread.userMessages, turn)
  const { conversation, lastRequest: asked } = thread
  if (conversation !== before.conversation) {
    thread.conversation = newConversation(afterCut(thread, thread.cut ?? NO_CUT))
    return
  }
  truncateConversation(conversation, before.length)
  if (asked?.conversation === conversation) asked.length = Math.min(asked.length, before.length)
}

/** Makes call ids unique. Some providers restart their ids in every answer or give none; others refuse duplicates. */
export function withUniqueCallIds(thread: SessionThread, turn: number, answer: ModelAnswer): ModelAnswer {
  if (answer.calls.length === 0) return answer
  const calls = answer.calls.map((call) => {
    let id = call.id
    for (let n = 1; id === '' || thread.callIds.has(id); n++)
      id = `${call.id || 'call'}_t${turn}${n > 1 ? `_${n}` : ''}`
    thread.callIds.add(id)
    return { ...call, id }
  })
  return { ...answer, calls }
}

/** Switches the parser. If the model now writes its calls as text, past calls are shown as text too. */
export function switchParser(thread: SessionThread, setup: RunSetup): void {
  const wasInText = writesCallsAsText(thread)
  thread.setup = setup
  if (wasInText || !writesCallsAsText(thread)) return
  for (const turn of [...thread.past, ...(thread.open ? [thread.open] : [])])
    turn.messages.splice(0, turn.messages.length, ...turn.messages.map(callsAsText))
  thread.conversation = newConversation(thread.conversation.messages.map(callsAsText))
}

/** Whether the model writes its calls as text. */
export const writesCallsAsText = ({ setup }: SessionThread): boolean => (setup?.parser ?? 'native') !== 'native'
