/**
 * The transcript: the conversation that the model is shown, how it grows and when it is rebuilt.
 * Invariants: messages are only appended, except at a cut, a change of parser, or after a turn without an answer.
 */

import type { Answer, Cut, JournalRecord, Setup } from '../domain/record.ts'
import type { Message } from '../ports/model.ts'
import { openingMessage, shortenMessage } from '../prompt/after-cut.ts'
import { asText, pastMessages } from '../prompt/conversation.ts'
import { recalledMessage } from '../prompt/facts.ts'
import { newConversation, truncateConversation } from './conversation.ts'
import { taskIn, unsay } from './owner-words.ts'
import type { OpenTurn, Thread } from './thread.ts'

export function saying(thread: Thread, open: OpenTurn, message: Message): void {
  open.messages.push(message)
  thread.conversation.messages.push(message)
}

/** Adds recalled facts once per run, before its first input; repeated if the first turn has no answer. */
export function remind(
  thread: Thread,
  open: OpenTurn,
  { turn, ts, recalled }: Extract<JournalRecord, { kind: 'input_bound' }>,
): void {
  thread.recalled =
    recalled && !recalled.placed ? { turn, recalled, message: recalledMessage(recalled, ts) } : undefined
  if (thread.recalled) saying(thread, open, thread.recalled.message)
}

/** Rebuilds the conversation so that it shows only what the cut keeps. */
export function cutHere(thread: Thread, open: OpenTurn, cut: Cut): void {
  thread.cut = cut
  thread.conversation = newConversation(shownWith(thread, open, cut))
}

/** The messages that the model would see with this cut. */
export function shownWith(thread: Thread, open: OpenTurn, cut: Cut): readonly Message[] {
  return [
    ...afterCut(thread, cut),
    ...(cut.input ? shortenMessages(thread, open.messages, cut.longest) : open.messages),
  ]
}

const NO_CUT: Cut = { from: 0, summary: '', recalled: [] }

function afterCut(thread: Thread, cut: Cut): Message[] {
  const { past, recalled } = thread
  const kept = past.filter(({ turn }) => turn >= cut.from).flatMap(({ messages }) => messages)
  // Recalled facts stay visible even if the turn that started with them is cut.
  const remembered = recalled && recalled.turn < cut.from ? [recalled.message] : []
  const shown = shortenMessages(thread, kept, cut.longest)
  if (cut.words === undefined) return [...pastMessages(cut), ...remembered, ...shown]
  return [...remembered, ...openingMessages(thread, cut), ...shown]
}

function openingMessages({ past, words, run_id }: Thread, cut: Cut): Message[] {
  const omitted = past.filter(({ turn }) => turn < cut.from)
  const [first, last] = [omitted[0], omitted.at(-1)]
  // A memory may supply a summary before any turn is omitted.
  if (!first || !last) return pastMessages(cut)
  const messages = omitted.reduce((sum, turn) => sum + turn.messages.length, 0)
  const task = taskIn(words, run_id)
  const ownerTexts = words
    .filter((word) => word.turn < cut.from && (word.isOwner || word === task))
    .map((word) => ({ turn: word.turn, text: word.text, isTask: word === task }))
  return [openingMessage(cut, ownerTexts, { first: first.turn, last: last.turn, turns: omitted.length, messages })]
}

/** Recalled facts have their own limit and are never shortened. */
function shortenMessages(
  { words, run_id, recalled }: Thread,
  messages: readonly Message[],
  longest: number | undefined,
): readonly Message[] {
  if (longest === undefined) return messages
  const task = taskIn(words, run_id)?.text ?? ''
  return messages.map((message) => (message === recalled?.message ? message : shortenMessage(message, longest, task)))
}

export function takeBack(thread: Thread, { before, turn }: OpenTurn): void {
  unsay(thread.words, turn)
  const { conversation, asked } = thread
  if (conversation !== before.conversation) {
    thread.conversation = newConversation(afterCut(thread, thread.cut ?? NO_CUT))
    return
  }
  truncateConversation(conversation, before.length)
  if (asked?.conversation === conversation) asked.length = Math.min(asked.length, before.length)
}

/** Makes call ids unique. Some providers restart their ids in every answer or give none; others refuse duplicates. */
export function withOwnIds(thread: Thread, turn: number, answer: Answer): Answer {
  if (answer.calls.length === 0) return answer
  const calls = answer.calls.map((call) => {
    let id = call.id
    for (let n = 1; id === '' || thread.called.has(id); n++) id = `${call.id || 'call'}_t${turn}${n > 1 ? `_${n}` : ''}`
    thread.called.add(id)
    return { ...call, id }
  })
  return { ...answer, calls }
}

/** Switches the parser. If the model now writes its calls as text, past calls are shown as text too. */
export function refit(thread: Thread, setup: Setup): void {
  const wasInText = inText(thread)
  thread.setup = setup
  if (wasInText || !inText(thread)) return
  for (const turn of [...thread.past, ...(thread.open ? [thread.open] : [])])
    turn.messages.splice(0, turn.messages.length, ...turn.messages.map(asText))
  thread.conversation = newConversation(thread.conversation.messages.map(asText))
}

/** Whether the model writes its calls as text. */
export const inText = ({ setup }: Thread): boolean => (setup?.parser ?? 'native') !== 'native'
