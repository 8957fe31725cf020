/**
 * What the model is shown of a thread: how the conversation grows, and where it is rendered anew.
 * Invariants: it only grows, until a cut, another parser, or a turn that came to nothing.
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

/** Once in a run, before its first input; a first turn that came to nothing is followed by another. */
export function remind(
  thread: Thread,
  open: OpenTurn,
  { turn, ts, recalled }: Extract<JournalRecord, { kind: 'input_bound' }>,
): void {
  thread.recalled =
    recalled && !recalled.placed ? { turn, recalled, message: recalledMessage(recalled, ts) } : undefined
  if (thread.recalled) saying(thread, open, thread.recalled.message)
}

/** From here on the model sees of the past what the cut says. */
export function cutHere(thread: Thread, open: OpenTurn, cut: Cut): void {
  thread.cut = cut
  thread.conversation = newConversation(shownWith(thread, open, cut))
}

/** What the model would be shown with this cut. */
export function shownWith(thread: Thread, open: OpenTurn, cut: Cut): readonly Message[] {
  return [...afterCut(thread, cut), ...(cut.input ? shortened(thread, open.messages, cut.longest) : open.messages)]
}

const NO_CUT: Cut = { from: 0, summary: '', recalled: [] }

function afterCut(thread: Thread, cut: Cut): Message[] {
  const { past, recalled } = thread
  const kept = past.filter(({ turn }) => turn >= cut.from).flatMap(({ messages }) => messages)
  // What is remembered stays in sight, also where the turn is gone that began with it.
  const remembered = recalled && recalled.turn < cut.from ? [recalled.message] : []
  const shown = shortened(thread, kept, cut.longest)
  if (cut.words === undefined) return [...pastMessages(cut), ...remembered, ...shown]
  return [...remembered, ...opening(thread, cut), ...shown]
}

function opening({ past, words, run_id }: Thread, cut: Cut): Message[] {
  const gone = past.filter(({ turn }) => turn < cut.from)
  const [first, last] = [gone[0], gone.at(-1)]
  // A memory may have something to say before anything was given up.
  if (!first || !last) return pastMessages(cut)
  const messages = gone.reduce((sum, turn) => sum + turn.messages.length, 0)
  const task = taskIn(words, run_id)
  const said = words
    .filter((word) => word.turn < cut.from && (word.isOwner || word === task))
    .map((word) => ({ turn: word.turn, text: word.text, isTask: word === task }))
  return [openingMessage(cut, said, { first: first.turn, last: last.turn, turns: gone.length, messages })]
}

/** What is remembered from other sessions is bounded, and stays whole. */
function shortened(
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

/** Some providers count from nought in every answer, or give no id; a history with an id twice would be refused by others. */
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

/** From here on the model writes its calls as text: it is shown those of the past as text, too. */
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
