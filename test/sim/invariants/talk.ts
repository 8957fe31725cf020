/**
 * Conversations. Every message that was accepted is shown to a model by exactly one session that answers it. Every run
 * that read a message from a chat posts exactly one reply there when it ends, unless it passed the message on. Text
 * from outside stays fenced in what a behaviour is shown of its session (I12).
 */

import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import { isFrontSession, readReplyTo } from '../../../src/domain/reply-to.ts'
import { readRouted } from '../../../src/domain/routed.ts'
import type { ModelMessage } from '../../../src/ports/model.ts'
import type { Batch, BatchOutcome } from '../../../src/ports/store.ts'
import { ASSISTANT } from '../ports/talk.ts'
import type { World } from '../world.ts'
import { MARK } from './conversation.ts'
import type { SessionState, TurnState } from './session.ts'

type OwnerText = Extract<Observation, { type: 'user_message' }>

interface TalkRun {
  readonly session_id: string
  /** Messages that a turn of it had as input, by id, and those that it decided on. */
  readonly bound: Map<string, OwnerText>
  readonly read: Map<string, OwnerText>
  /** Marks of messages that a rule has read, and no request has shown yet. */
  readonly unshown: Set<string>
  /** It passed its messages on and said nothing: the session that got them answers. */
  isPassedOn: boolean
  end: Extract<JournalRecord, { kind: 'run_ended' }> | undefined
}

/** Results of tools that declare nothing are untrusted. */
const UNTRUSTED_TEXT = /\b(?:book|shell|post) is done\b/
/** The results of approved calls stand for themselves, as those of other calls do. */
const APPROVED = /^\[approved: .*$/gm
const FENCED = /<data (\w+) [^>]*>[\s\S]*?<\/data \1>/g

export class Talk {
  readonly #world: World
  readonly #runs = new Map<string, TalkRun>()

  constructor(world: World) {
    this.#world = world
  }

  /** Contract: called with every record. `open`: the turn that was open before it. */
  onRecord(session: SessionState, open: TurnState | undefined, record: JournalRecord): void {
    if (record.kind === 'run_started' && record.agent_id === ASSISTANT)
      this.#runs.set(record.run_id, {
        ...{
          session_id: session.session_id,
          bound: new Map(),
          read: new Map(),
          unshown: new Set(),
          isPassedOn: false,
          end: undefined,
        },
      })
    if (record.kind === 'run_ended') this.#endRun(record)
    const run = this.#runs.get(session.run ?? '')
    if (run && record.kind === 'call_settled') this.#noteRoute(run, record)
    if (run && open && record.kind === 'step_committed') readInput(run, open)
  }

  /** Contract: called when a request reaches the provider. */
  onRequest(session: SessionState, messages: readonly ModelMessage[]): void {
    const run = this.#runs.get(session.run ?? '')
    if (!run) return
    const texts = messages.flatMap((message) => (message.role === 'user' ? [message.text] : []))
    for (const mark of run.unshown) if (texts.some((text) => text.includes(mark))) run.unshown.delete(mark)
    if (texts.some((text) => UNTRUSTED_TEXT.test(text.replaceAll(FENCED, '').replaceAll(APPROVED, ''))))
      this.#world.fail('I12', `${session.session_id} turn ${session.turns}: text from outside is shown without a fence`)
  }

  /** Contract: called with every applied group of commits. No run posts a second reply to a chat. */
  onCommit(batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    const isPosted = batches.some(({ ops }, i) => outcomes[i]?.ok && ops.some(({ op }) => op === 'post'))
    if (!isPosted) return
    this.#world.counters.add('reply posted')
    for (const [run_id, { session_id }] of this.#runs)
      for (const [chat, replies] of this.#repliesOf(run_id))
        if (replies.length > 1)
          this.#world.fail('one reply', `${session_id}: ${chat} got ${replies.join(' and ')} of one run`)
  }

  checkEnd(): void {
    for (const [run_id, run] of this.#runs) {
      if (!run.end || this.#world.mirror.pruned.has(run.session_id)) continue
      this.#checkReplied(run_id, run, run.end)
      if (isFrontSession(run.session_id) && run.end.stop_reason === 'final') this.#checkPassedOn(run)
    }
  }

  #endRun(record: Extract<JournalRecord, { kind: 'run_ended' }>): void {
    const run = this.#runs.get(record.run_id)
    if (!run) return
    run.end = record
    if (record.stop_reason === 'final' && run.unshown.size > 0)
      this.#world.fail(
        'incoming message',
        `${run.session_id}: ${[...run.unshown].join(', ')} was read by a rule, and no model was shown it`,
      )
  }

  #noteRoute(run: TalkRun, { result }: Extract<JournalRecord, { kind: 'call_settled' }>): void {
    const { routed } = (result.facts ?? {}) as { readonly routed?: { readonly to: 'session' | 'new' | 'none' } }
    if (!routed) return
    this.#world.counters.add(ROUTES[routed.to])
    run.isPassedOn = readRouted(result)?.reply === undefined
  }

  #checkReplied(run_id: string, { session_id, bound, isPassedOn }: TalkRun, end: NonNullable<TalkRun['end']>): void {
    // A run that was set aside could not say anything.
    if ((isPassedOn && end.stop_reason === 'final') || end.error?.includes('without a record in its journal')) return
    const standing = readReplyTo(this.#metadataOf(run_id).reply_to as never)
    const named = [...bound.values()].flatMap(({ reply_to }) => (reply_to ? [reply_to] : []))
    const targets = [...named, ...(standing && (bound.has(run_id) || named.length === 0) ? [standing] : [])]
    const replies = this.#repliesOf(run_id)
    for (const to of targets) {
      const chat = 'channel' in to ? to.chat : null
      if (chat !== null && (replies.get(chat)?.length ?? 0) !== 1)
        this.#world.fail('one reply', `${session_id}: run ${run_id} ended, and ${chat} got no reply`)
    }
  }

  /** A message that a front session read was answered there, or is in exactly one other session. */
  #checkPassedOn({ session_id, read, isPassedOn }: TalkRun): void {
    for (const { id, text } of read.values()) {
      const places = this.#placesOf(id, text)
      if (places.length > 1)
        this.#world.fail('incoming message', `${id} of ${session_id} was passed on to ${places.join(' and ')}`)
      if (places.length === 0 && isPassedOn && this.#world.mirror.pruned.size === 0)
        this.#world.fail('incoming message', `${id} was read by ${session_id}, and neither answered nor passed on`)
    }
  }

  #placesOf(id: string, text: string): readonly string[] {
    const { mirror } = this.#world
    const idOf = (n: number): string => mirror.sessions.get(n)?.session_id ?? ''
    const inboxes = [...mirror.inbox.values()].filter(({ observation }) => observation.id === id)
    const tasks = [...mirror.dispatches.values()].filter(({ prompt }) => prompt.includes(text))
    const sessions = [...inboxes, ...tasks].map(({ session }) => idOf(session))
    return [...new Set(sessions)].filter((one) => !isFrontSession(one))
  }

  /** Ids of the replies of a run, by chat. */
  #repliesOf(run_id: string): ReadonlyMap<string, readonly string[]> {
    const replies = new Map<string, string[]>()
    const rows = this.#world.db
      .prepare("SELECT id, chat_id FROM outbox WHERE id GLOB 'reply-' || ? || '-*'")
      .all(run_id)
    for (const { id, chat_id } of rows)
      replies.set(String(chat_id), [...(replies.get(String(chat_id)) ?? []), String(id)])
    return replies
  }

  #metadataOf(run_id: string): { readonly reply_to?: unknown } {
    const row = this.#world.db.prepare('SELECT metadata FROM dispatches WHERE dispatch_id = ?').get(run_id)
    return JSON.parse(String(row?.metadata ?? '{}')) as { readonly reply_to?: unknown }
  }
}

const ROUTES = {
  session: 'message passed on to a session',
  new: 'message passed on to a new session',
  none: 'message answered at once',
} as const

/** Input counts as read if the turn has a decision; what only a rule has seen must be shown later. */
function readInput(run: TalkRun, { input, answer, decided }: TurnState): void {
  for (const observation of input) {
    if (observation.type !== 'user_message') continue
    run.bound.set(observation.id, observation)
    if (!answer && !decided) continue
    run.read.set(observation.id, observation)
    const [mark] = MARK.exec(observation.text) ?? []
    if (!answer && mark !== undefined) run.unshown.add(mark)
  }
}
