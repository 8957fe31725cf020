/**
 * Folds a record of the open turn into the thread: request, answer, decision, calls and failures.
 * Must not know: the store, models, tools.
 */

import type { CallResult } from '../../domain/decision.ts'
import type { JournalRecord } from '../../domain/journal-record.ts'
import { isFreeOfCharge } from '../../domain/money.ts'
import { noteViewed, type ViewedPart } from '../../domain/viewed-files.ts'
import { nonceOf } from '../../prompt-compiler/data-fence.ts'
import {
  answerMessage,
  approvedMessage,
  type JournalledResult,
  resultMessage,
} from '../../prompt-compiler/turn-messages.ts'
import { noteResult } from './expected-results.ts'
import { conversationTokens, measureConversation } from './message-digest.ts'
import { noteSpawned, SPAWN_TOOL } from './open-agents.ts'
import { addHeldSource, addResultSource } from './provenance.ts'
import { MAX_RECENT_CALLS, noteNewResult } from './repetition-guard.ts'
import { decidedCalls, type OpenTurn, type SessionThread } from './session-thread.ts'
import { noteRouted, noteTodos } from './session-work.ts'
import { appendMessage, applyCut, withUniqueCallIds, writesCallsAsText } from './transcript.ts'

type RecordOfKind<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

type OpenTurnRecord = Exclude<
  JournalRecord,
  {
    kind:
      | 'run_started'
      | 'run_ended'
      | 'input_bound'
      | 'step_committed'
      | 'diagnosed'
      | 'migrated'
      | 'refitted'
      | 'became'
  }
>

export function foldOpenTurn(thread: SessionThread, open: OpenTurn, record: OpenTurnRecord): void {
  switch (record.kind) {
    case 'cut':
      applyCut(thread, open, record.cut)
      return
    case 'model_requested':
      foldRequest(thread, open, record)
      return
    case 'failed':
      foldFailure(thread, open, record)
      return
    case 'model_answered':
      foldAnswer(thread, open, record)
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
    case 'call_settled':
      foldResult(thread, open, record)
  }
}

function foldRequest(thread: SessionThread, open: OpenTurn, record: RecordOfKind<'model_requested'>): void {
  open.isRequested = true
  open.isAwaitingAnswer = true
  open.requestSeq = record.seq
  open.reserved = record.reserved
  // The reserved money counts as spent until the cost of the answer is known. If there is never an answer, it stays.
  thread.usage.usd += record.reserved ?? 0
  open.model = record.model
  if (open.needsPrepare && record.prepared !== undefined) {
    open.needsPrepare = false
    appendMessage(thread, open, { role: 'user', text: record.prepared })
  }
  if (record.composition) {
    const { conversation } = thread
    open.requestTokens = conversationTokens(record.composition)
    thread.requestBytes = record.composition.bytes
    thread.lastRequest = { prefix: record.composition.prefix, conversation, length: conversation.messages.length }
  }
}

function foldFailure(thread: SessionThread, open: OpenTurn, record: RecordOfKind<'failed'>): void {
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

function foldAnswer(thread: SessionThread, open: OpenTurn, record: RecordOfKind<'model_answered'>): void {
  open.answer = record.answer
  thread.work.isAsked = true
  open.answeredAt = record.ts
  thread.maxAcceptedTokens = Math.max(
    thread.maxAcceptedTokens,
    open.requestTokens ?? measureConversation(thread.conversation).tokens,
  )
  open.shown = withUniqueCallIds(thread, open.turn, record.answer)
  thread.usage.tokens += record.answer.usage.input_tokens + record.answer.usage.output_tokens
  thread.usage.usd += (record.usd ?? 0) - (open.reserved ?? 0)
  appendMessage(thread, open, answerMessage(open.shown, writesCallsAsText(thread)))
}

function foldResult(thread: SessionThread, open: OpenTurn, record: RecordOfKind<'call_settled'>): void {
  open.settled.set(record.index, record.result)
  noteFacts(thread, record.result)
  noteApproval(thread, open, record)
  const intended = open.intended.get(record.index)
  const call = intended?.call
  if (call?.tool.startsWith('todo_')) noteTodos(thread, record.result)
  if (call?.tool === 'route') noteRouted(thread, record.result)
  if (call?.tool === SPAWN_TOOL) noteSpawned(thread, record.result)
  if (intended?.effect.reach === 'workspace') noteWritten(thread, record.result)
  if (call) addResultSource(thread, record, { ...call, host: intended.effect.host })
  else addHeldSource(thread, record)
  if (call && record.result.status !== 'not_started')
    thread.recent.push({ tool: call.tool, args: call.args, result: record.result })
  if (call && thread.expected) noteResult(thread.expected, call, record.result)
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
}

/**
 * The result with the nonce of its data fence. The nonce depends on the time of the record, which the author of the
 * content cannot know.
 */
const journalledResult = ({ result, outside, ts, turn, index }: RecordOfKind<'call_settled'>): JournalledResult => ({
  result,
  nonce: outside ? nonceOf(ts, turn, index, result.content) : undefined,
})

function noteApproval(
  { openApprovals: unanswered }: SessionThread,
  { shown, decided }: OpenTurn,
  { index, result: { status, facts } }: RecordOfKind<'call_settled'>,
): void {
  const id = (facts as { readonly approval?: unknown } | null | undefined)?.approval
  if (status !== 'parked' || typeof id !== 'string') return
  const toolName = shown?.calls[index]?.tool ?? (decided?.kind === 'act' ? decided.calls[index]?.tool : undefined)
  unanswered.set(id, toolName ?? 'a call')
}

/** The files of a call that changes the workspace. */
function noteWritten({ written }: SessionThread, { status, facts }: CallResult): void {
  const { seen } = (facts ?? {}) as { readonly seen?: Readonly<Record<string, string>> }
  if (status === 'ok') for (const path of Object.keys(seen ?? {})) written.add(path)
}

function noteFacts(thread: SessionThread, result: CallResult): void {
  const { facts } = result
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts)) return
  const { seen, partly, hidden_in, cwd, cost_usd } = facts as {
    readonly seen?: Readonly<Record<string, string>>
    readonly partly?: Readonly<Record<string, ViewedPart>>
    /** Files with texts that are hidden in the result. */
    readonly hidden_in?: readonly string[]
    readonly cwd?: string
    /** What the call itself cost. */
    readonly cost_usd?: number
  }
  if (typeof cost_usd === 'number' && cost_usd > 0) thread.usage.usd += cost_usd
  const files = { digests: thread.fileDigests, parts: thread.viewedParts }
  for (const [path, sha] of Object.entries(seen ?? {})) noteViewed(files, path, sha, partly?.[path])
  for (const path of hidden_in ?? []) thread.filesWithHiddenTexts.add(path)
  if (cwd !== undefined) thread.cwd = cwd
}
