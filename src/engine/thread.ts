/**
 * Thread: a session's journal, folded. Loading after a crash and going on live use the same fold, so resume has no code of its own.
 * Must not know: the store, models, tools.
 * Invariants: I4 (an answer in the journal is never asked for again); every call in the conversation has exactly one result, and an
 * id that no other call of it has.
 */

import { createHash } from 'node:crypto'
import type { CallResult, Decision, Next } from '../domain/decision.ts'
import type { ErrorCode } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { Observation } from '../domain/observation.ts'
import type { Answer, JournalRecord } from '../domain/record.ts'
import type { Message } from '../ports/model.ts'
import { answerMessage, inputMessages, resultMessage } from '../prompt/conversation.ts'

export type Intended = Extract<JournalRecord, { kind: 'call_intended' }>

/** What the journal already knows of a turn that has not been committed. */
export interface OpenTurn {
  readonly turn: number
  readonly input: readonly Observation[]
  readonly failures: ErrorCode[]
  answer?: Answer
  /** As the conversation shows it: each call under an id of its own. */
  shown?: Answer
  answeredAt: number
  decided?: Decision
  readonly intended: Map<number, Intended>
  readonly settled: Map<number, CallResult>
  /** Where the conversation stood before this turn. */
  readonly before: { readonly messages: number; readonly digest: string }
}

export interface Thread {
  head: number
  turn: number
  open?: OpenTurn | undefined
  /** The run that the journal is in, or was in last. */
  run_id?: string
  ended: boolean
  behaviour?: string
  /** Steps committed in this run. */
  steps: number
  /** Steps in a row that decided nothing usable. */
  invalid: number
  last?: Next
  state?: Json
  readonly messages: Message[]
  /** Ids of calls that the conversation has used. */
  readonly called: Set<string>
  /** Digest of all messages, rolled forward one at a time. */
  digest: string
  /** Digests of files read or written, by path. */
  readonly seen: Map<string, string>
}

export function emptyThread(): Thread {
  return {
    head: 0,
    turn: 0,
    ended: true,
    steps: 0,
    invalid: 0,
    messages: [],
    called: new Set(),
    digest: '',
    seen: new Map(),
  }
}

export function fold(thread: Thread, record: JournalRecord): void {
  thread.head = record.seq
  switch (record.kind) {
    case 'run_started':
      thread.run_id = record.run_id
      thread.ended = false
      thread.behaviour = record.behaviour
      thread.steps = 0
      thread.invalid = 0
      delete thread.state
      return
    case 'run_ended':
      thread.ended = true
      return
    case 'input_bound':
      thread.turn = record.turn
      thread.open = {
        turn: record.turn,
        input: record.input,
        failures: [],
        answeredAt: record.ts,
        intended: new Map(),
        settled: new Map(),
        before: { messages: thread.messages.length, digest: thread.digest },
      }
      for (const message of inputMessages(record.input, record.feedback)) say(thread, message)
      return
    case 'step_committed':
      closeTurn(thread, record.next)
      if (record.state !== undefined) thread.state = record.state
      return
    default:
      foldOpen(thread, opened(thread), record)
  }
}

function foldOpen(
  thread: Thread,
  open: OpenTurn,
  record: Exclude<JournalRecord, { kind: 'run_started' | 'run_ended' | 'input_bound' | 'step_committed' }>,
): void {
  switch (record.kind) {
    case 'model_requested':
      return
    case 'model_failed':
      open.failures.push(record.code)
      return
    case 'model_answered':
      open.answer = record.answer
      open.answeredAt = record.ts
      open.shown = withOwnIds(thread, open.turn, record.answer)
      say(thread, answerMessage(open.shown))
      return
    case 'decided':
      open.decided = record.decision
      return
    case 'call_intended':
      open.intended.set(record.index, record)
      return
    case 'call_settled': {
      open.settled.set(record.index, record.result)
      remember(thread, record.result)
      if (open.shown?.calls[record.index]) say(thread, resultMessage(open.shown, record.index, record.result))
      return
    }
  }
}

/** A turn without an answer leaves no trace in the conversation: its input is still unread and will be bound again. */
function closeTurn(thread: Thread, next: Next): void {
  const open = opened(thread)
  thread.last = next
  thread.open = undefined
  thread.steps += 1
  if (!open.answer && !open.decided) {
    thread.messages.length = open.before.messages
    thread.digest = open.before.digest
    return
  }
  if (open.shown)
    for (const index of open.shown.calls.keys())
      if (!open.settled.has(index))
        say(thread, resultMessage(open.shown, index, { status: 'not_started', content: 'this call was not started' }))
  thread.invalid = next.kind === 'continue' && next.invalid ? thread.invalid + 1 : 0
}

/** Some providers count from nought in every answer, or give no id; a history with an id twice would be refused by others. */
function withOwnIds(thread: Thread, turn: number, answer: Answer): Answer {
  const calls = answer.calls.map((call) => {
    let id = call.id
    for (let n = 1; id === '' || thread.called.has(id); n++) id = `${call.id || 'call'}_t${turn}${n > 1 ? `_${n}` : ''}`
    thread.called.add(id)
    return { ...call, id }
  })
  return { ...answer, calls }
}

function say(thread: Thread, message: Message): void {
  thread.messages.push(message)
  thread.digest = createHash('sha256').update(thread.digest).update(JSON.stringify(message)).digest('hex')
}

function remember(thread: Thread, result: CallResult): void {
  const { facts } = result
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts)) return
  const { seen } = facts as { readonly seen?: Readonly<Record<string, string>> }
  for (const [path, sha] of Object.entries(seen ?? {})) thread.seen.set(path, sha)
}

export function opened(thread: Thread): OpenTurn {
  if (!thread.open) throw new Error('the journal has a record of a turn that was never opened')
  return thread.open
}
