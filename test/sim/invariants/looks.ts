/**
 * Residents. Looks of one resident never overlap. Every published observation is seen in exactly one look that is
 * committed. There is no look without news. A look is shown the latest slices of the moment at which it was started.
 * What a look says leaves once.
 */

import { isTerminal } from '../../../src/domain/dispatch.ts'
import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import type { Json } from '../../../src/domain/json.ts'
import type { Observation } from '../../../src/domain/observation.ts'
import { OVERFLOW_EVENT, SLICES_EVENT } from '../../../src/domain/resident.ts'
import type { ModelMessage } from '../../../src/ports/model.ts'
import type { Batch, BatchOutcome, Op } from '../../../src/ports/store.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'
import type { SessionState, TurnState } from './session.ts'

/** What the memory of a process has of a resident's slices. */
interface Slices {
  readonly values: Map<string, Json>
  /** Set since the last look was started. */
  isNew: boolean
}

type Started = Extract<Op, { op: 'enqueue' }>['dispatches'][number]

const RUNS = `SELECT d.dispatch_id AS run, d.status, d.result, d.source,
    (SELECT count(*) FROM outbox WHERE id GLOB 'reply-' || d.dispatch_id || '-*') AS posts,
    (SELECT count(DISTINCT coalesce(chat_id, '')) FROM outbox
      WHERE id GLOB 'reply-' || d.dispatch_id || '-*') AS chats
  FROM dispatches d WHERE d.agent_id = ? ORDER BY d.n`

export class Looks {
  readonly #world: World
  readonly #slices = new Map<string, Slices>()
  /** The committed looks that saw each published observation. */
  readonly #seenBy = new Map<string, string[]>()
  /** Looks that read a message: where it came from gets the answer. */
  readonly #askedFrom = new Map<string, Set<string>>()

  constructor(world: World) {
    this.#world = world
  }

  /** Contract: called when a process is told the latest value of something. */
  onSlice(proc: SimProcess, agents: readonly string[], name: string, value: Json): void {
    for (const agent of agents) {
      const slices = this.#slicesOf(proc, agent)
      slices.values.set(name, value)
      slices.isNew = true
    }
  }

  /** Contract: called when a process asks for a commit, before anything else can happen. */
  onCommitAsked(proc: SimProcess, batches: readonly Batch[]): void {
    for (const batch of batches) {
      const look = startedLook(batch)
      if (look) this.#checkSlices(proc, look, batch)
    }
  }

  /** Contract: called with every applied group of commits. */
  onCommit(proc: SimProcess, batches: readonly Batch[], outcomes: readonly BatchOutcome[]): void {
    const { plan } = this.#world
    if (!plan.residents) return
    for (const [i, batch] of batches.entries()) {
      const look = startedLook(batch)
      if (!outcomes[i]?.ok) {
        // What a look that was not started would have shown is still new.
        if (look && hasSlices(batch)) this.#slicesOf(proc, look.agent_id).isNew = true
        if (batch.ops.some(isHeard)) this.#world.counters.add('observation published twice')
        continue
      }
      for (const op of batch.ops) if (isHeard(op)) this.#notePublished(op.channel.slice(BUS.length), op.message_id)
      if (look) this.#checkNews(look)
    }
    for (const { agent_id } of plan.residents) this.#checkOverlap(agent_id)
  }

  /** Contract: called with every record. `open`: the turn that was open before it. */
  onRecord(session: SessionState, open: TurnState | undefined, record: JournalRecord): void {
    const agent = residentOf(session)
    if (agent === undefined) return
    if (record.kind === 'input_bound' && session.steps === 0 && !record.input.some(isNews))
      this.#world.fail('news', `${session.run} of ${agent} looks, and nothing is new`)
    if (record.kind === 'run_ended') this.#world.counters.add('look ended')
    if (record.kind !== 'step_committed' || !open || !(open.answer || open.decided)) return
    for (const observation of open.input) this.#noteSeen(agent, session.run ?? '', observation)
  }

  /** Contract: called when a request reaches the provider. Nothing is acknowledged unseen. */
  onRequest(session: SessionState, messages: readonly ModelMessage[]): void {
    const agent = residentOf(session)
    if (agent === undefined) return
    const shown = messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).join('\n')
    for (const observation of session.open?.input ?? []) {
      const mark = observation.type === 'user_message' ? observation.text : JSON.stringify(observation.payload ?? null)
      if (isNews(observation) && !shown.includes(mark))
        this.#world.fail('incoming message', `${observation.id} is bound in ${session.session_id}, and not shown`)
    }
  }

  isPublished(agent: string, id: string): boolean {
    return this.#seenBy.has(`${agent}/${id}`)
  }

  /** Contract: whether a resident has something left to look at. */
  hasUnread(): boolean {
    return [...this.#seenBy.values()].some((looks) => looks.length === 0)
  }

  checkEnd(): void {
    for (const [key, looks] of this.#seenBy)
      if (looks.length !== 1) this.#world.fail('seen once', `${key} was seen in ${looks.length} looks: ${looks}`)
    for (const { agent_id } of this.#world.plan.residents ?? []) this.#checkReplies(agent_id)
  }

  #notePublished(agent: string, id: string): void {
    const key = `${agent}/${id}`
    if (this.#seenBy.has(key)) this.#world.fail('seen once', `${key} was published twice`)
    this.#seenBy.set(key, [])
  }

  #noteSeen(agent: string, run: string, observation: Observation): void {
    const looks = this.#seenBy.get(`${agent}/${observation.id}`)
    looks?.push(run)
    if (looks && looks.length > 1)
      this.#world.fail('seen once', `${observation.id} was seen by ${agent} in ${looks.join(' and ')}`)
    if (observation.type === 'system_event' && observation.name === SLICES_EVENT)
      this.#world.counters.add('slices seen')
    if (!observation.reply_to) return
    const { reply_to: to } = observation
    this.#askedFrom.set(run, (this.#askedFrom.get(run) ?? new Set()).add('chat' in to ? `${to.chat}` : ''))
  }

  #slicesOf(proc: SimProcess, agent: string): Slices {
    const key = `${proc.id} ${agent}`
    const slices = this.#slices.get(key) ?? { values: new Map(), isNew: false }
    this.#slices.set(key, slices)
    return slices
  }

  #checkSlices(proc: SimProcess, { agent_id, dispatch_id }: Started, batch: Batch): void {
    const slices = this.#slicesOf(proc, agent_id)
    const expected = slices.isNew ? JSON.stringify(Object.fromEntries(slices.values)) : 'none'
    const [shown = 'none'] = batch.ops.flatMap((op) => (isSlices(op) ? [JSON.stringify(op.observation.payload)] : []))
    slices.isNew = false
    if (shown !== expected)
      this.#world.fail('latest slices', `${dispatch_id} of ${agent_id} is shown ${shown}; the latest is ${expected}`)
  }

  #checkNews({ agent_id, session_id, dispatch_id }: Started): void {
    const { mirror, counters } = this.#world
    counters.add('look started')
    if (!mirror.unread(mirror.byId.get(session_id)?.n ?? 0).some(isNews))
      this.#world.fail('news', `${dispatch_id} of ${agent_id} was started, and nothing is new`)
  }

  #checkOverlap(agent: string): void {
    const open = this.#runsOf(agent).filter(({ status }) => !isTerminal(status as never))
    if (open.length > 1)
      this.#world.fail('looks overlap', `${agent} has the looks ${open.map(({ run }) => run).join(' and ')} at a time`)
  }

  /** What was said is in the chats that it is for, once. */
  #checkReplies(agent: string): void {
    for (const { run, status, result, posts, chats } of this.#runsOf(agent)) {
      const asked = this.#askedFrom.get(run) ?? new Set([''])
      const due = this.#askedFrom.has(run) ? [...asked].filter(Boolean).length : 1
      const said = status === 'done' && result !== null && result !== ''
      if (said) this.#world.counters.add('look spoke')
      if (posts !== chats || (said && posts !== due) || (status === 'done' && !said && posts > 0))
        this.#world.fail('one reply', `${run} of ${agent} is ${status} with ${result}: ${posts} replies, ${due} due`)
    }
  }

  #runsOf(agent: string) {
    return this.#world.db.prepare(RUNS).all(agent) as unknown as readonly {
      readonly run: string
      readonly status: string
      readonly result: string | null
      readonly posts: number
      readonly chats: number
    }[]
  }
}

const BUS = 'bus '

const isHeard = (op: Op): op is Extract<Op, { op: 'hear' }> => op.op === 'hear' && op.channel.startsWith(BUS)

const isSlices = (op: Op): op is Extract<Op, { op: 'publish' }> & { observation: { payload?: Json } } =>
  op.op === 'publish' && op.observation.type === 'system_event' && op.observation.name === SLICES_EVENT

const hasSlices = ({ ops }: Batch): boolean => ops.some(isSlices)

const startedLook = ({ ops }: Batch): Started | undefined =>
  ops.flatMap((op) => (op.op === 'enqueue' ? op.dispatches : [])).find(({ source }) => source === 'resident')

/** What the runtime adds to a look is no reason to look. */
const isNews = (observation: Observation): boolean =>
  observation.type !== 'system_event' || ![SLICES_EVENT, OVERFLOW_EVENT, 'memory'].includes(observation.name)

/** The resident whose session this is. */
export const residentOf = ({ session_id }: SessionState): string | undefined =>
  /^resident-(.+)-\d+/.exec(session_id)?.[1]
