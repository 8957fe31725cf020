/**
 * The model's view of the past: what the memory currently shows, or the last recorded cut if the memory shows more than
 * that. A cut only moves forward: after a restart the memory does not know which turns were dropped, but the journal
 * does.
 * Must not know: models. The caller passes the number of available tokens.
 * Invariants: the task is never shortened; new input is shortened only if it is a single message, because of several
 * messages some can wait for the next turn.
 */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { HistoryCut, RememberedView } from '../../domain/journal-record.ts'
import { copyJson, deepFreeze, type Json } from '../../domain/json.ts'
import type { Observation } from '../../domain/observation.ts'
import type { MemoryQuery, MemoryView, PastTurn } from '../../ports/memory.ts'
import { estimateTokens } from '../../prompt-compiler/tokens.ts'
import { observationText } from '../../prompt-compiler/turn-messages.ts'
import { recordDiagnosis } from '../phases/phase.ts'
import { copyState } from '../phases/reduce.ts'
import { askPluginInTime } from '../plugins/ask-in-time.ts'
import { askPlugin, invalidReturnError } from '../plugins/ask-plugin.ts'
import { evictPort, memoryQueryPort, memoryViewPort } from '../plugins/return-shapes.ts'
import { roomForConversation } from '../request/prompt-prefix.ts'
import type { Run } from '../run.ts'
import { messagesWithoutTask } from './bind-input.ts'
import { measureConversation, newConversation } from './message-digest.ts'
import type { OpenTurn } from './session-thread.ts'
import { messagesWithCut } from './transcript.ts'

/** The complete history is shown. */
const NO_CUT: HistoryCut = { from: 0, summary: '', recalled: [] }

/** Shares of the tokens that the prompt prefix leaves: for the owner's messages before a cut, and for the summary. */
const WORDS_SHARE = 0.25
const SUMMARY_SHARE = 0.15
/** Maximum tokens for the owner's messages before a cut. */
const MAX_WORDS_TOKENS = 30_000
const MAX_TRIES = 3
const SHARE_AFTER_CUT = 0.7
/** No message is shortened below this number of tokens. */
const MIN_MESSAGE_TOKENS = 32

/** `isStale`: whether turns were dropped since the memory was asked for this turn. */
async function currentView(run: Run, input: readonly Observation[], isStale = false): Promise<HistoryCut> {
  const { cut = NO_CUT, open } = run.thread
  const isAskedAgain = run.isMemoryDeterministic || isStale
  const view = isAskedAgain ? await askMemory(run, buildQuery(run, input)) : (open?.memory ?? NO_CUT)
  if (view.from <= cut.from) return cut
  const { from, summary, recalled } = await fitSummary(run, input, view)
  return { from, summary, recalled, words: ownerWordsRoom(run) }
}

/**
 * Asks a memory that is not deterministic, once per turn. Contract: undefined for a deterministic memory, and if the
 * view has nothing new. Throws `plugin_*`.
 */
export async function rememberView(run: Run, input: readonly Observation[]): Promise<RememberedView | undefined> {
  if (run.isMemoryDeterministic) return undefined
  const view = checkViewSize(memoryName(run), await askMemory(run, buildQuery(run, input)))
  const isNew = view.from > (run.thread.cut?.from ?? 0) || (view.messages ?? []).length > 0
  return isNew ? view : undefined
}

/** Maximum size of a view, in characters of JSON: it is part of the journal, and of the prompt. */
const MAX_VIEW = 200_000

function checkViewSize(memory: string, view: MemoryView): MemoryView {
  const { length } = JSON.stringify(view)
  if (length <= MAX_VIEW) return view
  throw new TirelessError('plugin_invalid', {
    what: `memory ${memory} returned too much from retrieve()`,
    got: `${length} characters`,
    expected: `at most ${MAX_VIEW}`,
    fix: 'return a shorter summary, or fewer texts and messages',
  })
}

/**
 * The view for a behaviour's observe(). Before the first request the available tokens are unknown, so the summary is
 * not shortened.
 */
export async function viewForBehaviour(
  run: Run,
  input: readonly Observation[],
  remembered: RememberedView | undefined,
): Promise<MemoryView> {
  const { cut = NO_CUT } = run.thread
  if (!run.isMemoryDeterministic) {
    const { messages } = remembered ?? {}
    const view = remembered && remembered.from > cut.from ? remembered : cut
    return messages === undefined ? view : { ...view, messages }
  }
  if (run.prefix) return currentView(run, input)
  const { from, summary, recalled } = await askMemory(run, buildQuery(run, input))
  return from <= cut.from ? cut : { from, summary, recalled }
}

/**
 * Asks the memory for shorter summaries until the summary fits. The memory counts characters, and one character can be
 * two tokens.
 */
async function fitSummary(run: Run, input: readonly Observation[], first: MemoryView): Promise<MemoryView> {
  const share = roomForConversation(run) * SUMMARY_SHARE
  let view = first
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const tokens = estimateTokens(view.summary)
    if (tokens <= share) break
    const room = Math.floor((view.summary.length * share) / tokens)
    view = await askMemory(run, { ...buildQuery(run, input), maxChars: room })
  }
  return view
}

function ownerWordsRoom(run: Run): number {
  return Math.floor(Math.min(roomForConversation(run) * WORDS_SHARE, MAX_WORDS_TOKENS))
}

/**
 * Finds a cut with which the conversation has at most `allowed` tokens and no more than the provider accepts.
 * Contract: returns the current cut if it fits; undefined if no cut fits. Records nothing.
 */
export async function findFittingCut(run: Run, open: OpenTurn, allowed: number): Promise<HistoryCut | undefined> {
  const { thread } = run
  let cut = await currentView(run, open.input)
  const most = Math.min(allowed, thread.learntTokenLimit)
  let room = most
  for (;;) {
    const isShown = cut === (thread.cut ?? NO_CUT)
    const shown = isShown ? thread.conversation : newConversation(messagesWithCut(thread, open, cut))
    const { tokens } = measureConversation(shown)
    if (tokens <= room) return cut
    // When a cut is needed, cut further, so that the next turns need no cut.
    room = most * SHARE_AFTER_CUT
    if (await dropOldTurns(run, cut.from)) cut = await currentView(run, open.input, true)
    else return tokens <= most ? cut : shortenedCut(run, open, cut, { room, most })
  }
}

/** Whether the cut changes the history that the model sees. */
export const isNewCut = ({ thread }: Run, cut: HistoryCut): boolean => cut !== (thread.cut ?? NO_CUT)

/** Drops turns until the model sees less history. Contract: false if nothing can be dropped. */
export async function dropOldTurns(run: Run, from = run.thread.cut?.from ?? 0): Promise<boolean> {
  const { past } = run.thread
  try {
    const evict = (): Promise<number> => askPluginInTime(run, evictPort(memoryName(run)), () => run.memory.evict())
    for (let turns = past.length; turns > 0 && (await evict()) > 0; turns--)
      if ((await askMemory(run, buildQuery(run, []))).from > from) return true
  } catch (thrown) {
    recordDiagnosis(run, 'memory', asTirelessError(thrown).message)
  }
  return false
}

/**
 * The last resort when no turn can be dropped: shortens each shown message, and the owner's messages before the cut.
 * Contract: returns the first cut within `room` tokens, else the smallest cut within `most`, else undefined.
 */
function shortenedCut(
  run: Run,
  open: OpenTurn,
  { input: _, words = ownerWordsRoom(run), ...now }: HistoryCut,
  { room, most }: { readonly room: number; readonly most: number },
): HistoryCut | undefined {
  const { thread } = run
  const isSingle = messagesWithoutTask(open.input, thread.run_id ?? '').length <= 1
  for (const input of isSingle ? [false, true] : [false]) {
    let least: HistoryCut | undefined
    for (let longest = halve(most); longest >= MIN_MESSAGE_TOKENS; longest = halve(longest)) {
      const next: HistoryCut = { ...now, words: Math.min(words, longest), longest, ...(input ? { input } : {}) }
      const { tokens } = measureConversation(newConversation(messagesWithCut(thread, open, next)))
      if (tokens <= room) return next
      if (tokens <= most) least = next
    }
    if (least) return least
  }
  return undefined
}

const halve = (tokens: number): number => Math.floor(tokens / 2)

async function askMemory(run: Run, query: MemoryQuery): Promise<MemoryView> {
  const next = run.thread.turn + 1
  const port = memoryViewPort(memoryName(run), next)
  const view = await askPluginInTime(run, port, () => run.memory.retrieve(query))
  if (view.from > next) throw invalidReturnError(port, view)
  return view
}

const memoryName = ({ thread }: Run): string => thread.setup?.memory ?? ''

/** A copy for a memory plugin, which may change the list; the messages are frozen. */
export const copyPastTurn = ({ turn, messages }: PastTurn): PastTurn => ({ turn, messages: messages.map(deepFreeze) })

/** The query for the memory: from the behaviour, else the task and the new input. */
function buildQuery(run: Run, input: readonly Observation[]): MemoryQuery {
  const { behaviour, thread, dispatch } = run
  const { buildMemoryQuery } = behaviour
  const query: MemoryQuery = buildMemoryQuery
    ? askPlugin(memoryQueryPort(behaviour.name), () => buildMemoryQuery.call(behaviour, copyState(thread.state), input))
    : { text: [dispatch.prompt, ...input.map(observationText)].join('\n') }
  // Built-in memories need only the text, and copies take time.
  return run.isMemoryDeterministic ? query : { ...query, state: copyState(thread.state), input: copyInput(input) }
}

const copyInput = (input: readonly Observation[]): readonly Observation[] =>
  copyJson(input as unknown as Json) as unknown as readonly Observation[]
