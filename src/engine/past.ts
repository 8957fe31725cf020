/**
 * What the model is given of the past: what the memory says, or what it said at the last cut. A cut only ever moves on: the memory of a
 * run that was opened anew knows nothing of what was given up before, and the journal does.
 * Must not know: models. How much room there is, it is told.
 * Invariants: the task is never shortened; what is new in a turn only where it is a single message, because of several some can wait.
 */

import { asTirelessError } from '../domain/error.ts'
import { deepFreeze } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import type { Cut } from '../domain/record.ts'
import type { MemoryQuery, MemoryView, PastTurn } from '../ports/memory.ts'
import { observationText } from '../prompt/conversation.ts'
import { estimateTokens } from '../prompt/tokens.ts'
import { askPlugin, invalidReturn } from './ask-plugin.ts'
import { messagesIn } from './bind-input.ts'
import { newConversation, weighConversation } from './conversation.ts'
import { diagnose } from './phase.ts'
import { roomBesidePrefix } from './prefix.ts'
import { ownCopy } from './reduce.ts'
import { evictPort, memoryQueryPort, memoryViewPort } from './return-shapes.ts'
import type { Run } from './run.ts'
import { shownWith } from './shown.ts'
import type { OpenTurn } from './thread.ts'

/** Everything, as it was said. */
const WHOLE: Cut = { from: 0, summary: '', recalled: [] }

/** Of a request, its prefix aside, so much for the owner's words from before a cut, and for the summary. */
const WORDS_SHARE = 0.25
const SUMMARY_SHARE = 0.15
/** Tokens. */
const MOST_WORDS = 30_000
const MOST_TRIES = 3
const ROOM_AFTER_CUT = 0.7
/** Shorter than this, in tokens, no message is made. */
const LEAST_LONGEST = 32

export function viewOf(run: Run, input: readonly Observation[]): Cut {
  const { cut = WHOLE } = run.thread
  const view = askMemory(run, queryOf(run, input))
  if (view.from <= cut.from) return cut
  const { from, summary, recalled } = shortEnough(run, input, view)
  return { from, summary, recalled, words: roomForWords(run) }
}

/** For a behaviour's own eyes. Before the first request, how much room there is is not known: a behaviour may never ask a model. */
export function viewForBehaviour(run: Run, input: readonly Observation[]): Cut {
  if (run.prefix) return viewOf(run, input)
  const { cut = WHOLE } = run.thread
  const { from, summary, recalled } = run.memory.retrieve(queryOf(run, input))
  return from <= cut.from ? cut : { from, summary, recalled }
}

/** A summary that fits its share of a request: the memory counts characters, and a character may be two tokens. */
function shortEnough(run: Run, input: readonly Observation[], first: MemoryView): MemoryView {
  const share = roomBesidePrefix(run) * SUMMARY_SHARE
  let view = first
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const tokens = estimateTokens(view.summary)
    if (tokens <= share) break
    const room = Math.floor((view.summary.length * share) / tokens)
    view = askMemory(run, { ...queryOf(run, input), room })
  }
  return view
}

function roomForWords(run: Run): number {
  return Math.floor(Math.min(roomBesidePrefix(run) * WORDS_SHARE, MOST_WORDS))
}

/**
 * The cut with which the conversation takes at most `allowed` tokens, and no more than the provider has taken: the one there is, where that will do.
 * Contract: undefined where there is none. Nothing is recorded of those that were not enough.
 */
export function fittingCut(run: Run, open: OpenTurn, allowed: number): Cut | undefined {
  const { thread } = run
  let cut = viewOf(run, open.input)
  const most = Math.min(allowed, thread.roomLearnt)
  let room = most
  for (;;) {
    const isShown = cut === (thread.cut ?? WHOLE)
    const shown = isShown ? thread.conversation : newConversation(shownWith(thread, open, cut))
    const { tokens } = weighConversation(shown)
    if (tokens <= room) return cut
    // Once it has to be cut, far enough that the next turns need no cut of their own.
    room = most * ROOM_AFTER_CUT
    if (compact(run, cut.from)) cut = viewOf(run, open.input)
    else return tokens <= most ? cut : tighterCut(run, open, cut, { room, most })
  }
}

/** Whether the model is shown something else with it than it was shown last. */
export const isNewCut = ({ thread }: Run, cut: Cut): boolean => cut !== (thread.cut ?? WHOLE)

/** Gives up of the past as much as it takes for the model to see less of it. False: there is nothing left to give. */
export function compact(run: Run, from = run.thread.cut?.from ?? 0): boolean {
  const { past } = run.thread
  try {
    const evict = (): number => askPlugin(evictPort(kindOf(run)), () => run.memory.evict())
    for (let turns = past.length; turns > 0 && evict() > 0; turns--)
      if (askMemory(run, queryOf(run, [])).from > from) return true
  } catch (thrown) {
    diagnose(run, 'memory', asTirelessError(thrown).message)
  }
  return false
}

/**
 * What is left where no turn can be given up: the messages that are shown, each without its middle, and fewer of the owner's words.
 * Contract: the first that takes at most `room` tokens, else the least, where that is at most `most`; undefined where there is none.
 */
function tighterCut(
  run: Run,
  open: OpenTurn,
  { input: _, words = roomForWords(run), ...now }: Cut,
  { room, most }: { readonly room: number; readonly most: number },
): Cut | undefined {
  const { thread } = run
  const isSingle = messagesIn(open.input, thread.run_id ?? '').length <= 1
  for (const input of isSingle ? [false, true] : [false]) {
    let least: Cut | undefined
    for (let longest = halved(most); longest >= LEAST_LONGEST; longest = halved(longest)) {
      const next: Cut = { ...now, words: Math.min(words, longest), longest, ...(input ? { input } : {}) }
      const { tokens } = weighConversation(newConversation(shownWith(thread, open, next)))
      if (tokens <= room) return next
      if (tokens <= most) least = next
    }
    if (least) return least
  }
  return undefined
}

const halved = (tokens: number): number => Math.floor(tokens / 2)

function askMemory(run: Run, query: MemoryQuery): MemoryView {
  const next = run.thread.turn + 1
  const port = memoryViewPort(kindOf(run), next)
  const view = askPlugin(port, () => run.memory.retrieve(query))
  if (view.from > next) throw invalidReturn(port, view)
  return view
}

const kindOf = ({ thread }: Run): string => thread.setup?.memory ?? ''

/** For a memory, which may keep or change it: the list is its own, and the messages cannot be changed. */
export const pastTurnOf = ({ turn, messages }: PastTurn): PastTurn => ({ turn, messages: messages.map(deepFreeze) })

/** What the past is asked about: in the behaviour's words, or the task and what is new. */
function queryOf({ behaviour, thread, dispatch }: Run, input: readonly Observation[]): MemoryQuery {
  if (behaviour.buildMemoryQuery)
    return askPlugin(memoryQueryPort(behaviour.name), () => behaviour.buildMemoryQuery?.(ownCopy(thread.state), input))
  return { text: [dispatch.prompt, ...input.map(observationText)].join('\n') }
}
