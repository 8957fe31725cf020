/**
 * Thread: a session's journal, folded. Loading after a crash and going on live use the same fold, so resume has no code of its own.
 * Must not know: the store, models, tools.
 * Invariants: I4 (an answer in the journal is never asked for again); every call in the conversation has exactly one result, and an
 * id that no other call of it has.
 */

import { answeredBy } from '../domain/approval.ts'
import type { Call, CallResult, Decision, Next } from '../domain/decision.ts'
import type { ErrorCode } from '../domain/error.ts'
import type { Recalled } from '../domain/fact.ts'
import type { Json } from '../domain/json.ts'
import { isFreeOfCharge } from '../domain/money.ts'
import type { Observation } from '../domain/observation.ts'
import { patched } from '../domain/patch.ts'
import type { Answer, Cut, JournalRecord, Setup } from '../domain/record.ts'
import { CLEAN, type Label } from '../domain/trust.ts'
import type { PastTurn } from '../ports/memory.ts'
import type { Message } from '../ports/model.ts'
import { answerMessage, approvedMessage, inputMessages, resultMessage, type Shown } from '../prompt/conversation.ts'
import { nonceOf } from '../prompt/data-fence.ts'
import { type Conversation, conversationTokens, newConversation, weighConversation } from './conversation.ts'
import { type Heard, hearInput, hearResult } from './heard.ts'
import { type SaidWords, saidIn } from './owner-words.ts'
import { barrenAfter, isNews, RECENT, wasHeldBack } from './repeats.ts'
import { cutHere, inText, refit, remind, saying, takeBack, withOwnIds } from './shown.ts'
import { afterStep, nothingSpent, type Spent } from './spent.ts'

export type Intended = Extract<JournalRecord, { kind: 'call_intended' }>

/** What the journal already knows of a turn that has not been committed. */
export interface OpenTurn {
  readonly turn: number
  readonly input: readonly Observation[]
  readonly observation: Json
  /** Why the step before was not enough. */
  readonly feedback?: string | undefined
  readonly failures: ErrorCode[]
  /** The model that was asked last, and those that failed. */
  model?: string
  readonly tried: string[]
  /** It failed, and was not tried again. */
  givenUp: boolean
  /** Its behaviour puts what the model is told into its own words, and has not done so yet. */
  unprepared: boolean
  /** One of its calls brought something new. */
  news: boolean
  requested: boolean
  /** Its last request has neither been answered nor failed. */
  asking: boolean
  /** Tokens of the conversation in it, where its record says so. */
  askedTokens?: number | undefined
  /** The number of the last request's record, and the US dollars that were set aside for its answer. */
  requestSeq: number
  reserved?: number | undefined
  answer?: Answer
  /** As the conversation shows it: each call under an id of its own. */
  shown?: Answer
  answeredAt: number
  decided?: Decision
  /** Of several candidates the one that was taken, and the list that it is in where that is not the decided one. */
  chosen?: number
  expanded?: readonly Decision[]
  readonly intended: Map<number, Intended>
  readonly settled: Map<number, CallResult>
  readonly messages: Message[]
  /** The conversation before this turn, and how many messages it had. */
  readonly before: { readonly conversation: Conversation; readonly length: number }
}

/** A settled call, for whoever looks for repetition. */
export interface Done {
  readonly tool: string
  readonly args: Json
  readonly result: CallResult
}

export interface Thread {
  head: number
  turn: number
  open?: OpenTurn | undefined
  /** The run that the journal is in, or was in last. */
  run_id?: string
  ended: boolean
  behaviour?: string
  setup?: Setup
  stateVersion: number
  /** Committed in this run. */
  turns: number
  spent: Spent
  /** Tokens of the longest conversation that was answered in this run. */
  taken: number
  /** Tokens that the conversation may take: fewer after the provider found it too long, whatever the configuration says. */
  roomLearnt: number
  /** Whether its mind has taken in what the run is about. */
  begun: boolean
  /** Failures in a row, and in this run. */
  failed: { inARow: number; inAll: number; last?: ErrorCode }
  /** Times in a row that a critic asked for the step again. */
  retries: number
  /** Steps in a row in which a call was held back because it led nowhere. */
  stuck: number
  /** Steps in a row whose calls brought nothing that was not known before. */
  barren: number
  last?: Next
  state: Json
  cut?: Cut
  readonly past: (PastTurn & { readonly messages: Message[] })[]
  conversation: Conversation
  /** What people said to it, and its tasks, in order. */
  readonly words: SaidWords[]
  /** What the run was shown of what is remembered, and in which turn. */
  recalled?: { readonly turn: number; readonly recalled: Recalled; readonly message: Message } | undefined
  /** The last request: its prefix, and how many messages of what was said in it still stand. */
  asked?: { readonly prefix: string; readonly conversation: Conversation; length: number }
  /** Ids of calls that the conversation has used. */
  readonly called: Set<string>
  readonly recent: Done[]
  /** What calls of this run have brought, by digest. */
  readonly known: Set<string>
  /** Digests of files read or written, by path. */
  readonly seen: Map<string, string>
  /** The folder of the workspace that the session stands in. */
  cwd: string
  /** Approvals that this run has asked for and that nobody has answered: id, and the tool. */
  readonly unanswered: Map<string, string>
  /** Approvals that were acted on: each is good for one use. */
  readonly used: Set<string>
  /** The lowest label of what it has read, and what that was. */
  label: Label
  readonly heard: Heard[]
  /** What the owner's words need of tools that reach others, as far as anybody has asked. */
  intent?: Extract<JournalRecord, { kind: 'intent_fixed' }>
}

export function emptyThread(): Thread {
  return {
    head: 0,
    turn: 0,
    ended: true,
    stateVersion: 0,
    ...unused(),
    state: null,
    past: [],
    conversation: newConversation(),
    words: [],
    called: new Set(),
    seen: new Map(),
    cwd: '',
    used: new Set(),
    label: CLEAN,
    heard: [],
  }
}

/** What every run begins with. */
function unused(): Pick<
  Thread,
  | 'turns'
  | 'spent'
  | 'taken'
  | 'roomLearnt'
  | 'begun'
  | 'failed'
  | 'retries'
  | 'stuck'
  | 'barren'
  | 'known'
  | 'recent'
  | 'unanswered'
> {
  return {
    turns: 0,
    spent: nothingSpent(),
    taken: 0,
    roomLearnt: Number.POSITIVE_INFINITY,
    begun: false,
    failed: { inARow: 0, inAll: 0 },
    retries: 0,
    stuck: 0,
    barren: 0,
    known: new Set(),
    recent: [],
    unanswered: new Map(),
  }
}

export function fold(thread: Thread, record: JournalRecord): void {
  thread.head = record.seq
  switch (record.kind) {
    case 'run_started':
      Object.assign(thread, {
        run_id: record.run_id,
        ended: false,
        behaviour: record.behaviour,
        setup: record.setup,
        stateVersion: record.setup.state_version,
        state: record.state ?? null,
        ...unused(),
      })
      return
    case 'run_ended':
      thread.ended = true
      return
    case 'diagnosed':
      return
    case 'refitted':
      refit(thread, record.setup)
      return
    case 'migrated':
      thread.stateVersion = record.version
      if (record.patch) thread.state = patched(thread.state, record.patch)
      return
    case 'input_bound':
      openTurn(thread, record)
      return
    case 'step_committed':
      closeTurn(thread, record)
      return
    default:
      foldOpen(thread, opened(thread), record)
  }
}

function openTurn(thread: Thread, record: Extract<JournalRecord, { kind: 'input_bound' }>): void {
  thread.turn = record.turn
  thread.open = {
    turn: record.turn,
    input: record.input,
    observation: record.observation === undefined ? (record.input as unknown as Json) : record.observation,
    feedback: record.feedback,
    failures: [],
    tried: [],
    givenUp: false,
    unprepared: record.prepares ?? false,
    news: false,
    requested: false,
    asking: false,
    requestSeq: 0,
    answeredAt: record.ts,
    intended: new Map(),
    settled: new Map(),
    messages: [],
    before: { conversation: thread.conversation, length: thread.conversation.messages.length },
  }
  for (const observation of record.input) thread.unanswered.delete(answeredBy(observation) ?? '')
  hearInput(thread, record)
  thread.words.push(...saidIn(thread.run_id ?? '', record))
  if (!thread.begun) remind(thread, thread.open, record)
  const shown = record.prepares ? [] : record.input
  for (const message of inputMessages(shown, record.feedback)) saying(thread, thread.open, message)
}

type InTurn = Exclude<
  JournalRecord,
  { kind: 'run_started' | 'run_ended' | 'input_bound' | 'step_committed' | 'diagnosed' | 'migrated' | 'refitted' }
>

function foldOpen(thread: Thread, open: OpenTurn, record: InTurn): void {
  switch (record.kind) {
    case 'cut':
      cutHere(thread, open, record.cut)
      return
    case 'model_requested':
      open.requested = true
      open.asking = true
      open.requestSeq = record.seq
      open.reserved = record.reserved
      // What an earlier request of this turn had set aside is gone: nobody knows what became of it.
      thread.spent.usd += record.reserved ?? 0
      open.model = record.model
      if (open.unprepared && record.prepared !== undefined) {
        open.unprepared = false
        saying(thread, open, { role: 'user', text: record.prepared })
      }
      if (record.composition) {
        const { conversation } = thread
        open.askedTokens = conversationTokens(record.composition)
        thread.asked = { prefix: record.composition.prefix, conversation, length: conversation.messages.length }
      }
      return
    case 'failed':
      open.failures.push(record.code)
      if (isFreeOfCharge(record.code) || record.code.startsWith('budget_')) thread.spent.usd -= open.reserved ?? 0
      open.reserved = undefined
      // To wait for others' money is no failure.
      if (record.code === 'budget_busy') return
      if (record.code === 'model_oversize' && open.asking) thread.roomLearnt = roomAfter(thread)
      open.asking = false
      if (record.phase === 'DECIDE' && open.model !== undefined) open.tried.push(open.model)
      open.givenUp ||= record.ruling.kind !== 'retry'
      thread.failed.inARow += 1
      thread.failed.last = record.code
      thread.failed.inAll += 1
      return
    case 'model_answered':
      open.answer = record.answer
      open.answeredAt = record.ts
      thread.taken = Math.max(thread.taken, open.askedTokens ?? weighConversation(thread.conversation).tokens)
      open.shown = withOwnIds(thread, open.turn, record.answer)
      thread.spent.tokens += record.answer.usage.input_tokens + record.answer.usage.output_tokens
      thread.spent.usd += (record.usd ?? 0) - (open.reserved ?? 0)
      saying(thread, open, answerMessage(open.shown, inText(thread)))
      return
    case 'decided':
      open.decided = record.decision
      for (const { approval } of callsOf(open)) if (approval !== undefined) thread.used.add(approval)
      return
    case 'branched':
      if (record.chosen !== null) open.chosen = record.chosen
      if (record.candidates) open.expanded = record.candidates
      return
    case 'intent_fixed':
      thread.intent = record
      thread.spent.tokens += record.usage.input_tokens + record.usage.output_tokens
      thread.spent.usd += record.usd ?? 0
      return
    case 'call_intended':
      open.intended.set(record.index, record)
      return
    case 'call_settled': {
      open.settled.set(record.index, record.result)
      remember(thread, record.result)
      noteAsked(thread, open, record)
      const intended = open.intended.get(record.index)
      const call = intended?.call
      if (call) hearResult(thread, record, call.tool, intended.effect.host)
      if (call && record.result.status !== 'not_started')
        thread.recent.push({ tool: call.tool, args: call.args, result: record.result })
      if (isNews(thread.known, call, record.result)) open.news = true
      if (thread.recent.length > RECENT) thread.recent.shift()
      if (open.shown?.calls[record.index])
        saying(thread, open, resultMessage(open.shown, record.index, shownOf(record), inText(thread)))
      const allowed = callsOf(open)[record.index]
      if (allowed?.approval === undefined) return
      saying(thread, open, approvedMessage(allowed.tool, shownOf(record)))
      // What has not begun has used nothing up.
      if (record.result.status === 'not_started') thread.used.delete(allowed.approval)
      return
    }
  }
}

/** Where so little was too long, it is not the conversation that is. */
export const LEAST_ROOM = 500

/** What was taken before it was too long, or half of what was not; in any case less than that. */
function roomAfter({ taken, conversation }: Thread): number {
  const { tokens } = weighConversation(conversation)
  return Math.floor(Math.max(LEAST_ROOM, Math.min(tokens * 0.9, Math.max(taken, tokens / 2))))
}

/** A turn without an answer leaves no trace in the conversation: its input is still unread and will be bound again. */
function closeTurn(thread: Thread, { next, patch, ms }: Extract<JournalRecord, { kind: 'step_committed' }>): void {
  const open = opened(thread)
  thread.last = next
  thread.open = undefined
  thread.turns += 1
  thread.spent = afterStep(thread.spent, next, ms)
  if (patch) thread.state = patched(thread.state, patch)
  if (!open.answer && !open.decided) {
    takeBack(thread, open)
    return
  }
  if (open.shown)
    for (const index of open.shown.calls.keys())
      if (!open.settled.has(index)) saying(thread, open, resultMessage(open.shown, index, NOT_STARTED, inText(thread)))
  for (const [index, { tool, approval }] of callsOf(open).entries())
    if (approval !== undefined && !open.settled.has(index)) saying(thread, open, approvedMessage(tool, NOT_STARTED))
  thread.begun = true
  thread.past.push({ turn: open.turn, messages: open.messages })
  if (!open.givenUp) thread.failed.inARow = 0
  thread.retries = next.kind === 'continue' && next.retry ? thread.retries + 1 : 0
  thread.stuck = wasHeldBack(open) ? thread.stuck + 1 : 0
  thread.barren = barrenAfter(thread, open)
}

const NOT_STARTED: Shown = { result: { status: 'not_started', content: 'this call was not started' } }

/** Nobody who wrote it can have known when it would be journalled. */
const shownOf = ({ result, outside, ts, turn, index }: Extract<JournalRecord, { kind: 'call_settled' }>): Shown => ({
  result,
  nonce: outside ? nonceOf(ts, turn, index, result.content) : undefined,
})

/** What was decided without a model. */
const callsOf = ({ decided }: OpenTurn): readonly Call[] => (decided?.kind === 'act' ? decided.calls : [])

function noteAsked(
  { unanswered }: Thread,
  { shown, decided }: OpenTurn,
  { index, result: { status, facts } }: Extract<JournalRecord, { kind: 'call_settled' }>,
): void {
  const id = (facts as { readonly approval?: unknown } | null | undefined)?.approval
  if (status !== 'parked' || typeof id !== 'string') return
  const named = shown?.calls[index]?.tool ?? (decided?.kind === 'act' ? decided.calls[index]?.tool : undefined)
  unanswered.set(id, named ?? 'a call')
}

function remember(thread: Thread, result: CallResult): void {
  const { facts } = result
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts)) return
  const { seen, cwd } = facts as { readonly seen?: Readonly<Record<string, string>>; readonly cwd?: string }
  for (const [path, sha] of Object.entries(seen ?? {})) thread.seen.set(path, sha)
  if (cwd !== undefined) thread.cwd = cwd
}

export function opened(thread: Thread): OpenTurn {
  if (!thread.open) throw new Error('the journal has a record of a turn that was never opened')
  return thread.open
}
