/**
 * The thread: the state of a session, folded from its journal. A live run and a restart after a crash compute it with
 * the same code, so there is no separate code for resuming.
 * Must not know: the store, models, tools.
 * Invariants: I4 (an answer in the journal is never requested again); every call in the conversation has exactly one
 * result and a unique id.
 */

import { answeredApprovalId } from '../../domain/approval.ts'
import type { Call, CallResult, Decision, Next } from '../../domain/decision.ts'
import type { ErrorCode } from '../../domain/error.ts'
import type { RecalledFacts } from '../../domain/fact.ts'
import type { HistoryCut, JournalRecord, ModelAnswer, RunSetup } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { applyPatch } from '../../domain/json-patch.ts'
import { CLEAN_LABEL } from '../../domain/label.ts'
import { isFreeOfCharge } from '../../domain/money.ts'
import type { Observation } from '../../domain/observation.ts'
import type { PastTurn } from '../../ports/memory.ts'
import type { ModelMessage } from '../../ports/model.ts'
import { nonceOf } from '../../prompt-compiler/data-fence.ts'
import {
  answerMessage,
  approvedMessage,
  inputMessages,
  type JournalledResult,
  resultMessage,
} from '../../prompt-compiler/turn-messages.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { type Conversation, conversationTokens, measureConversation, newConversation } from './message-digest.ts'
import { messagesFromInput, type SessionMessage } from './owner-words.ts'
import { addInputSources, addResultSource, type Provenance } from './provenance.ts'
import { countStepsWithoutNews, hasBlockedCall, MAX_RECENT_CALLS, noteNewResult } from './repetition-guard.ts'
import {
  appendMessage,
  applyCut,
  dropTurn,
  insertRecalled,
  switchParser,
  withUniqueCallIds,
  writesCallsAsText,
} from './transcript.ts'
import { addStepUsage, noUsage, type RunUsage } from './usage.ts'

export type IntendedCall = Extract<JournalRecord, { kind: 'call_intended' }>

/** A turn that is not committed yet, as far as the journal contains it. */
export interface OpenTurn {
  readonly turn: number
  readonly input: readonly Observation[]
  readonly observation: Json
  /** Feedback on the previous step. */
  readonly feedback?: string | undefined
  readonly failures: ErrorCode[]
  /** The model of the last request. */
  model?: string
  readonly triedModels: string[]
  /** Whether a failure of this turn was not retried. */
  isGivenUp: boolean
  /** Whether the behaviour still has to write the model's input with prepare(). */
  needsPrepare: boolean
  /** Whether a call of this turn returned a result that is new in this run. */
  hasNews: boolean
  isRequested: boolean
  /** Whether the last request has neither an answer nor a failure yet. */
  isAwaitingAnswer: boolean
  /** Tokens of the conversation in the last request, if recorded. */
  requestTokens?: number | undefined
  /** Sequence number of the last request's record. */
  requestSeq: number
  reserved?: number | undefined
  answer?: ModelAnswer
  /** The answer as shown in the conversation: each call has a unique id. */
  shown?: ModelAnswer
  answeredAt: number
  decided?: Decision
  /** Index of the chosen candidate in `expanded`, or in the decision if `expanded` is missing. */
  chosen?: number
  expanded?: readonly Decision[]
  readonly intended: Map<number, IntendedCall>
  readonly settled: Map<number, CallResult>
  readonly messages: ModelMessage[]
  /** The conversation before this turn and its number of messages. */
  readonly before: { readonly conversation: Conversation; readonly length: number }
}

/** A settled call, for the repetition guard. */
export interface SettledCall {
  readonly tool: string
  readonly args: Json
  readonly result: CallResult
}

/** The part of the thread that is reset when a run starts. */
export interface RunProgress {
  /** Steps committed in this run. */
  turns: number
  usage: RunUsage
  /** Tokens of the longest conversation that a provider accepted in this run. */
  maxAcceptedTokens: number
  /** Maximum tokens of the conversation; lowered when the provider rejects a request as too long. */
  learntTokenLimit: number
  /** Whether the first input of the run was answered. */
  hasAnsweredInput: boolean
  /** Failures in a row and in total, in this run. */
  failed: { inARow: number; inAll: number; last?: ErrorCode }
  /** Retries in a row that a critic requested. */
  retries: number
  /** Steps in a row with a call that was blocked as a repetition. */
  blockedSteps: number
  /** Steps in a row whose calls returned nothing new. */
  stepsWithoutNews: number
  /** The last calls, for the repetition guard. */
  readonly recent: SettledCall[]
  /** Digests of the results of this run's calls. */
  readonly resultDigests: Set<string>
  /** Open approvals that this run requested: id → tool. */
  readonly openApprovals: Map<string, string>
}

export interface SessionThread extends RunProgress, Provenance {
  head: number
  turn: number
  open?: OpenTurn | undefined
  /** The current run, or the last run if none is open. */
  run_id?: string
  ended: boolean
  behaviour?: string
  setup?: RunSetup
  stateVersion: number
  last?: Next
  state: Json
  cut?: HistoryCut
  readonly past: (PastTurn & { readonly messages: ModelMessage[] })[]
  conversation: Conversation
  /** Messages from people and the tasks of the session's runs, in order. */
  readonly userMessages: SessionMessage[]
  /** The recalled facts that the model was shown in this run, and in which turn. */
  recalled?: { readonly turn: number; readonly recalled: RecalledFacts; readonly message: ModelMessage } | undefined
  /** The last request: its prefix, and how many of its messages are still in the conversation. */
  lastRequest?: { readonly prefix: string; readonly conversation: Conversation; length: number }
  /** Call ids used in the conversation. */
  readonly callIds: Set<string>
  /** Digests of files read or written, by path. */
  readonly fileDigests: Map<string, string>
  /** Current folder, relative to the workspace. */
  cwd: string
  /** Approvals that were used; each is valid once. */
  readonly usedApprovals: Set<string>
  /** The recorded intent: which outward calls the owner's messages need. Missing until the intent is first needed. */
  intent?: Extract<JournalRecord, { kind: 'intent_fixed' }>
}

export function emptyThread(): SessionThread {
  return {
    head: 0,
    turn: 0,
    ended: true,
    stateVersion: 0,
    ...freshRunState(),
    state: null,
    past: [],
    conversation: newConversation(),
    userMessages: [],
    callIds: new Set(),
    fileDigests: new Map(),
    cwd: '',
    usedApprovals: new Set(),
    label: CLEAN_LABEL,
    sources: [],
  }
}

/** Initial values for a new run. */
function freshRunState(): RunProgress {
  return {
    turns: 0,
    usage: noUsage(),
    maxAcceptedTokens: 0,
    learntTokenLimit: Number.POSITIVE_INFINITY,
    hasAnsweredInput: false,
    failed: { inARow: 0, inAll: 0 },
    retries: 0,
    blockedSteps: 0,
    stepsWithoutNews: 0,
    resultDigests: new Set(),
    recent: [],
    openApprovals: new Map(),
  }
}

export function foldRecord(thread: SessionThread, record: JournalRecord): void {
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
        ...freshRunState(),
      })
      return
    case 'run_ended':
      thread.ended = true
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

function openTurn(thread: SessionThread, record: Extract<JournalRecord, { kind: 'input_bound' }>): void {
  thread.turn = record.turn
  thread.open = {
    turn: record.turn,
    input: record.input,
    observation: record.observation === undefined ? (record.input as unknown as Json) : record.observation,
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
  addInputSources(thread, record)
  thread.userMessages.push(...messagesFromInput(thread.run_id ?? '', record))
  if (!thread.hasAnsweredInput) insertRecalled(thread, thread.open, record)
  const shown = record.prepares ? [] : record.input
  for (const message of inputMessages(shown, record.feedback)) appendMessage(thread, thread.open, message)
}

type OpenTurnRecord = Exclude<
  JournalRecord,
  { kind: 'run_started' | 'run_ended' | 'input_bound' | 'step_committed' | 'diagnosed' | 'migrated' | 'refitted' }
>

function foldOpenTurn(thread: SessionThread, open: OpenTurn, record: OpenTurnRecord): void {
  switch (record.kind) {
    case 'cut':
      applyCut(thread, open, record.cut)
      return
    case 'model_requested':
      open.isRequested = true
      open.isAwaitingAnswer = true
      open.requestSeq = record.seq
      open.reserved = record.reserved
      // The reserved money counts as spent until the cost of the answer is known. If there is never an answer, it
      // stays.
      thread.usage.usd += record.reserved ?? 0
      open.model = record.model
      if (open.needsPrepare && record.prepared !== undefined) {
        open.needsPrepare = false
        appendMessage(thread, open, { role: 'user', text: record.prepared })
      }
      if (record.composition) {
        const { conversation } = thread
        open.requestTokens = conversationTokens(record.composition)
        thread.lastRequest = { prefix: record.composition.prefix, conversation, length: conversation.messages.length }
      }
      return
    case 'failed':
      open.failures.push(record.code)
      if (isFreeOfCharge(record.code) || record.code.startsWith('budget_')) thread.usage.usd -= open.reserved ?? 0
      open.reserved = undefined
      // Waiting for money that other runs have reserved is not a failure.
      if (record.code === 'budget_busy') return
      if (record.code === 'model_oversize' && open.isAwaitingAnswer) thread.learntTokenLimit = roomAfterOverflow(thread)
      open.isAwaitingAnswer = false
      if (record.phase === 'DECIDE' && open.model !== undefined) open.triedModels.push(open.model)
      open.isGivenUp ||= record.ruling.kind !== 'retry'
      thread.failed.inARow += 1
      thread.failed.last = record.code
      thread.failed.inAll += 1
      return
    case 'model_answered':
      open.answer = record.answer
      open.answeredAt = record.ts
      thread.maxAcceptedTokens = Math.max(
        thread.maxAcceptedTokens,
        open.requestTokens ?? measureConversation(thread.conversation).tokens,
      )
      open.shown = withUniqueCallIds(thread, open.turn, record.answer)
      thread.usage.tokens += record.answer.usage.input_tokens + record.answer.usage.output_tokens
      thread.usage.usd += (record.usd ?? 0) - (open.reserved ?? 0)
      appendMessage(thread, open, answerMessage(open.shown, writesCallsAsText(thread)))
      return
    case 'decided':
      open.decided = record.decision
      for (const { approval } of decidedCalls(open)) if (approval !== undefined) thread.usedApprovals.add(approval)
      return
    case 'branched':
      if (record.chosen !== null) open.chosen = record.chosen
      if (record.candidates) open.expanded = record.candidates
      return
    case 'intent_fixed':
      thread.intent = record
      thread.usage.tokens += record.usage.input_tokens + record.usage.output_tokens
      thread.usage.usd += record.usd ?? 0
      return
    case 'call_intended':
      open.intended.set(record.index, record)
      return
    case 'call_settled': {
      open.settled.set(record.index, record.result)
      noteFacts(thread, record.result)
      noteApproval(thread, open, record)
      const intended = open.intended.get(record.index)
      const call = intended?.call
      if (call) addResultSource(thread, record, { ...call, host: intended.effect.host })
      if (call && record.result.status !== 'not_started')
        thread.recent.push({ tool: call.tool, args: call.args, result: record.result })
      if (noteNewResult(thread.resultDigests, call, record.result)) open.hasNews = true
      if (thread.recent.length > MAX_RECENT_CALLS) thread.recent.shift()
      if (open.shown?.calls[record.index])
        appendMessage(
          thread,
          open,
          resultMessage(open.shown, record.index, journalledResult(record), writesCallsAsText(thread)),
        )
      const allowed = decidedCalls(open)[record.index]
      if (allowed?.approval === undefined) return
      appendMessage(thread, open, approvedMessage(allowed.tool, journalledResult(record)))
      // A call that did not start has not used its approval.
      if (record.result.status === 'not_started') thread.usedApprovals.delete(allowed.approval)
      return
    }
  }
}

/**
 * The learnt token limit is never below this. If the provider rejects even so few tokens, the conversation is not the
 * cause.
 */
export const MIN_ROOM_TOKENS = 500

/**
 * The token limit after the provider rejected the conversation: the longest accepted conversation or half of the
 * rejected conversation, whichever is longer, but at most 90 % of the rejected conversation.
 */
function roomAfterOverflow({ maxAcceptedTokens: taken, conversation }: SessionThread): number {
  const { tokens } = measureConversation(conversation)
  return Math.floor(Math.max(MIN_ROOM_TOKENS, Math.min(tokens * 0.9, Math.max(taken, tokens / 2))))
}

/** A turn without an answer is removed from the conversation: its input is still unread and will be bound again. */
function closeTurn(
  thread: SessionThread,
  { next, patch, ms }: Extract<JournalRecord, { kind: 'step_committed' }>,
): void {
  const open = requireOpenTurn(thread)
  thread.last = next
  thread.open = undefined
  thread.turns += 1
  thread.usage = addStepUsage(thread.usage, next, ms)
  if (patch) thread.state = applyPatch(thread.state, patch)
  if (!open.answer && !open.decided) {
    dropTurn(thread, open)
    return
  }
  if (open.shown)
    for (const index of open.shown.calls.keys())
      if (!open.settled.has(index))
        appendMessage(thread, open, resultMessage(open.shown, index, notStarted(), writesCallsAsText(thread)))
  for (const [index, { tool, approval }] of decidedCalls(open).entries())
    if (approval !== undefined && !open.settled.has(index))
      appendMessage(thread, open, approvedMessage(tool, notStarted()))
  thread.hasAnsweredInput = true
  thread.past.push({ turn: open.turn, messages: open.messages })
  if (!open.isGivenUp) thread.failed.inARow = 0
  thread.retries = next.kind === 'continue' && next.retry ? thread.retries + 1 : 0
  thread.blockedSteps = hasBlockedCall(open) ? thread.blockedSteps + 1 : 0
  thread.stepsWithoutNews = countStepsWithoutNews(thread, open)
}

const notStarted = (): JournalledResult => ({
  result: { status: 'not_started', content: loadPrompt('results/failed-call.md#not_started') },
})

/**
 * The result with the nonce of its data fence. The nonce depends on the time of the record, which the author of the
 * content cannot know.
 */
const journalledResult = ({
  result,
  outside,
  ts,
  turn,
  index,
}: Extract<JournalRecord, { kind: 'call_settled' }>): JournalledResult => ({
  result,
  nonce: outside ? nonceOf(ts, turn, index, result.content) : undefined,
})

/** Calls that were decided without a model. */
const decidedCalls = ({ decided }: OpenTurn): readonly Call[] => (decided?.kind === 'act' ? decided.calls : [])

function noteApproval(
  { openApprovals: unanswered }: SessionThread,
  { shown, decided }: OpenTurn,
  { index, result: { status, facts } }: Extract<JournalRecord, { kind: 'call_settled' }>,
): void {
  const id = (facts as { readonly approval?: unknown } | null | undefined)?.approval
  if (status !== 'parked' || typeof id !== 'string') return
  const toolName = shown?.calls[index]?.tool ?? (decided?.kind === 'act' ? decided.calls[index]?.tool : undefined)
  unanswered.set(id, toolName ?? 'a call')
}

function noteFacts(thread: SessionThread, result: CallResult): void {
  const { facts } = result
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts)) return
  const { seen, cwd } = facts as { readonly seen?: Readonly<Record<string, string>>; readonly cwd?: string }
  for (const [path, sha] of Object.entries(seen ?? {})) thread.fileDigests.set(path, sha)
  if (cwd !== undefined) thread.cwd = cwd
}

export function requireOpenTurn(thread: SessionThread): OpenTurn {
  if (!thread.open) throw new Error('the journal contains a record of a turn that was never opened')
  return thread.open
}
