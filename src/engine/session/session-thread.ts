/**
 * The thread: the state of a session, folded from its journal (fold-record.ts). A live run and a restart after a crash
 * compute it with the same code, so there is no separate code for resuming.
 * Must not know: the store, models, tools.
 * Invariants: I4 (an answer in the journal is never requested again); every call in the conversation has exactly one
 * result and a unique id.
 */

import type { Call, CallResult, Decision, Next } from '../../domain/decision.ts'
import type { ErrorCode } from '../../domain/error.ts'
import type { RecalledFacts } from '../../domain/fact.ts'
import type { HistoryCut, JournalRecord, ModelAnswer, RememberedView, RunSetup } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { CLEAN_LABEL } from '../../domain/label.ts'
import type { Observation } from '../../domain/observation.ts'
import type { ReplyTo } from '../../domain/reply-to.ts'
import type { OpenAgent } from '../../domain/sub-agent.ts'
import type { ViewedPart } from '../../domain/viewed-files.ts'
import type { PastTurn } from '../../ports/memory.ts'
import type { ModelMessage } from '../../ports/model.ts'
import { type ExpectedResults, expectResults } from './expected-results.ts'
import { type Conversation, newConversation } from './message-digest.ts'
import type { SessionMessage } from './owner-words.ts'
import type { Provenance } from './provenance.ts'
import { noWork, type SessionWork } from './session-work.ts'
import type { UnfinishedInput } from './unfinished-input.ts'
import { noUsage, type RunUsage } from './usage.ts'

export type IntendedCall = Extract<JournalRecord, { kind: 'call_intended' }>

/** A turn that is not committed yet, as far as the journal contains it. */
export interface OpenTurn {
  readonly turn: number
  readonly input: readonly Observation[]
  readonly observation: Json
  /** What the memory gave for this turn. */
  readonly memory?: RememberedView | undefined
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
interface RunProgress {
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
  /** What the run must have to show; undefined: nothing is expected. */
  readonly expected: ExpectedResults | undefined
  /** The last calls, for the repetition guard. */
  recent: SettledCall[]
  /** Digests of the results of this run's calls. */
  readonly resultDigests: Set<string>
  /** Open approvals that this run requested: id → tool. */
  readonly openApprovals: Map<string, string>
  /** Where the messages that this run has read came from. */
  readonly replyTo: { readonly reply_to?: ReplyTo }[]
  /** Files that this run created or changed, as its calls name them. */
  readonly written: Set<string>
  /** Sub-agents of this run whose results it has not read, by their run. */
  readonly agents: Map<string, OpenAgent>
  /** Money of sub-agents: reserved for the open ones, spent by those whose results were read. */
  delegatedUsd: number
  /** Whether the run was told that it cannot end while sub-agents are open. */
  isToldOfAgents: boolean
  /** Bytes of the run's last request. */
  requestBytes: number
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
  cut?: HistoryCut | undefined
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
  /** The lines of files that were viewed only in part, by path. */
  readonly viewedParts: Map<string, readonly ViewedPart[]>
  /** Files that contain texts which were hidden in results of calls, besides those of `fileDigests`. */
  readonly filesWithHiddenTexts: Set<string>
  /** Current folder, relative to the workspace. */
  cwd: string
  /** Approvals that were used; each is valid once. */
  readonly usedApprovals: Set<string>
  readonly unfinished: UnfinishedInput
  readonly work: SessionWork
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
    viewedParts: new Map(),
    filesWithHiddenTexts: new Set(),
    cwd: '',
    usedApprovals: new Set(),
    unfinished: new Map(),
    work: noWork(),
    label: CLEAN_LABEL,
    sources: [],
  }
}

/** Initial values for a new run. */
export function freshRunState(outputs?: readonly string[]): RunProgress {
  return {
    expected: expectResults(outputs),
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
    replyTo: [],
    written: new Set(),
    agents: new Map(),
    delegatedUsd: 0,
    isToldOfAgents: false,
    requestBytes: 0,
  }
}

export function requireOpenTurn(thread: SessionThread): OpenTurn {
  if (!thread.open) throw new Error('the journal contains a record of a turn that was never opened')
  return thread.open
}

/** Calls that were decided without a model. */
export const decidedCalls = ({ decided }: OpenTurn): readonly Call[] => (decided?.kind === 'act' ? decided.calls : [])
