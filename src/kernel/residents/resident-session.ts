/**
 * The session of a resident: its inbox is the bus, its journal holds what the resident has in mind.
 * Must not know: when a resident looks.
 * Invariants: after many runs another session follows, so that no journal grows without end; the mind is carried over
 * with the label of what it was made of (I12).
 */

import type { Dispatch } from '../../domain/dispatch.ts'
import type { Json } from '../../domain/json.ts'
import { isCleanLabel, type Label, UNTRUSTED_LABEL } from '../../domain/label.ts'
import type { Observation } from '../../domain/observation.ts'
import type { ReplyTo } from '../../domain/reply-to.ts'
import {
  NEWS_EVENT,
  RESIDENT_BEHAVIOUR,
  type ResidentMind,
  type ResidentSetup,
  readSessionNumber,
  residentSessionId,
  residentSetting,
} from '../../domain/resident.ts'
import { foldRecord } from '../../engine/session/fold-record.ts'
import { emptyThread } from '../../engine/session/session-thread.ts'
import type { Publication } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import { commitOne, type Op, type Store } from '../../ports/store.ts'

export interface ResidentDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly kernelId: string
  prepareWorkspace(sessionId: string): Promise<{ readonly path: string }>
  /** Contract: where a resident speaks to its owner without having been asked. */
  replyTo(): Promise<ReplyTo | undefined>
  /** Contract: undefined if the state is not that of a resident. */
  readMind(state: Json): ResidentMind | undefined
}

/** An event that the runtime adds to what a look sees. */
export interface AddedEvent {
  readonly name: string
  readonly payload: Json
  readonly label?: Label
}

/** Runs of a session before another one follows it. */
const MAX_RUNS = 100
/** Above scheduled work, because the world does not wait. */
const LOOK_PRIORITY = 60
/** The newest runs of the agent that are searched for looks. */
const MAX_SEARCHED = 20

export class ResidentSession {
  readonly #deps: ResidentDeps
  readonly #agentId: string
  #n = 1
  #exists = false
  /** The session's journal as far as it was read: it is long, and read after every look. */
  #read = { session: '', thread: emptyThread(), runs: 0, seq: 0 }
  #runs = 0
  /** The state of the last run, and the label of what the session has read. */
  #memory: { readonly state: Json; readonly label: Label } | undefined
  #mind: ResidentMind | undefined
  #unread = 0

  constructor(deps: ResidentDeps, agentId: string) {
    this.#deps = deps
    this.#agentId = agentId
  }

  get id(): string {
    return residentSessionId(this.#agentId, this.#n)
  }

  get exists(): boolean {
    return this.#exists
  }

  get unread(): number {
    return this.#unread
  }

  get mind(): ResidentMind | undefined {
    return this.#mind
  }

  /** Contract: reads what an earlier process left; the last looks, newest first. */
  async load(): Promise<readonly Dispatch[]> {
    const { store, readMind } = this.#deps
    const setting = await store.setting(residentSetting(this.#agentId))
    this.#n = readSessionNumber(setting)
    this.#memory = readMemory(setting)
    const session = await store.session(this.id)
    this.#exists = session !== undefined
    if (session) await this.readMind()
    if (this.#memory) this.#mind ??= readMind(this.#memory.state)
    return !session && this.#n === 1 ? [] : this.lastLooks()
  }

  /** Contract: reads what is unread: a run that no look started may have seen it. */
  async countUnread(): Promise<number> {
    this.#unread = (await this.#deps.store.inbox(this.id)).length
    return this.#unread
  }

  /** Contract: newest first. */
  async lastLooks(): Promise<readonly Dispatch[]> {
    const { store, kernelId } = this.#deps
    const recent = await store.recent(kernelId, this.#agentId, MAX_SEARCHED)
    return recent.filter(({ metadata }) => metadata.behaviour === RESIDENT_BEHAVIOUR)
  }

  /** Contract: operations that add the observation, and a missing session; refused if it was added before. */
  async publishOps({ id, observation, label, replyTo }: Publication, setup: ResidentSetup): Promise<readonly Op[]> {
    const { store, clock, ids } = this.#deps
    const now = clock.now()
    const session = await store.session(this.id)
    // A message wakes a look that waits, for an approval for example; everything else waits for the next look.
    const isLoud = observation.type === 'user_message' && session?.status === 'waiting'
    const published: Observation = {
      ...{ id, ts: now, ...observation, ...(isLoud ? {} : { quiet: true as const }) },
      ...(label === undefined ? {} : { label }),
      // What comes from an untrusted source is not from the owner, even if the text says so.
      ...(observation.type === 'user_message' && label?.trust === 'untrusted' ? { words: 'source' as const } : {}),
      ...(replyTo === undefined ? {} : { reply_to: replyTo }),
    }
    // Retention deleted it: the next look gets the mind from here.
    if (!session) {
      this.#runs = 0
      this.#read = { ...this.#read, session: '' }
    }
    return [
      { op: 'hear', channel: `bus ${this.#agentId}`, message_id: id, now: this.#deps.clock.borneOut() },
      ...(session ? [] : [await this.#openOp(setup, now)]),
      { op: 'publish', session_id: this.id, observation: published, successor_id: ids.next(), now },
    ]
  }

  notePublished(): void {
    this.#exists = true
    this.#unread += 1
  }

  /** Contract: operations that start a look. */
  async lookOps(dispatch_id: string, setup: ResidentSetup, added: readonly AddedEvent[]): Promise<readonly Op[]> {
    const { kernelId, clock } = this.#deps
    const now = clock.now()
    const carried = this.#runs === 0 ? this.#memory : undefined
    const labelled =
      carried && !isCleanLabel(carried.label) ? [{ name: 'memory', payload: null, label: carried.label }] : []
    const dispatch = {
      ...{ dispatch_id, kernel_id: kernelId, agent_id: this.#agentId, session_id: this.id, workspace: '' },
      ...{ prompt: '', priority: LOOK_PRIORITY, source: 'resident' },
      metadata: {
        ...(await this.#metadata(setup)),
        // Not `memory`: that key names the kind of memory that a run uses.
        ...(carried ? { mind: carried.state } : {}),
      },
    }
    return [
      ...[...labelled, ...added].map((event) => this.eventOp(event, now)),
      { op: 'enqueue', dispatches: [dispatch], now },
    ]
  }

  /** Contract: operations that let a look go on that waits, for an approval for example. */
  nudgeOps(): readonly Op[] {
    const { ids, clock } = this.#deps
    const now = clock.now()
    const observation = { id: ids.next(), type: 'system_event', name: NEWS_EVENT, ts: now } as const
    return [{ op: 'publish', session_id: this.id, observation, successor_id: ids.next(), now }]
  }

  /** Contract: reads the mind and what is unread. */
  async readMind(): Promise<void> {
    const { store, readMind } = this.#deps
    if (this.#read.session !== this.id) this.#read = { session: this.id, thread: emptyThread(), runs: 0, seq: 0 }
    const read = this.#read
    for (const record of await store.journal(this.id, read.seq + 1)) {
      foldRecord(read.thread, record)
      read.seq = record.seq
      if (record.kind === 'run_started') read.runs += 1
    }
    this.#runs = read.runs
    await this.countUnread()
    if (this.#runs === 0) return
    const { thread } = read
    this.#memory = { state: thread.state, label: thread.label }
    this.#mind = readMind(thread.state) ?? this.#mind
  }

  /**
   * Contract: goes on in another session after many runs. The mind is also kept outside of sessions, because retention
   * deletes sessions.
   */
  async moveOn(): Promise<void> {
    const { store } = this.#deps
    if (!this.#memory) return
    const isLong = this.#runs >= MAX_RUNS && this.#unread === 0
    const { state, label } = this.#memory
    const n = isLong ? this.#n + 1 : this.#n
    const value = { n, memory: state, label: { ...label } }
    await commitOne(store, [{ op: 'set', name: residentSetting(this.#agentId), value }])
    if (!isLong) return
    this.#n = n
    this.#exists = false
    this.#runs = 0
  }

  async #metadata(setup: ResidentSetup): Promise<Readonly<Record<string, Json>>> {
    const owner = await this.#deps.replyTo()
    const shared = { behaviour: RESIDENT_BEHAVIOUR, resident: setup }
    return owner === undefined ? shared : { ...shared, reply_to: { ...owner } }
  }

  async #openOp(setup: ResidentSetup, now: number): Promise<Op> {
    const { kernelId, prepareWorkspace } = this.#deps
    const { path: workspace } = await prepareWorkspace(`resident-${this.#agentId}`)
    return {
      ...{ op: 'open_session', session_id: this.id, kernel_id: kernelId, agent_id: this.#agentId, workspace, now },
      // For runs that no look starts: a late answer to the session wakes it.
      metadata: await this.#metadata(setup),
    }
  }

  /** Contract: the operation that adds the event to what the next look sees. */
  eventOp({ name, payload, label }: AddedEvent, now = this.#deps.clock.now()): Op {
    const { ids } = this.#deps
    return {
      ...{ op: 'publish', session_id: this.id, successor_id: ids.next(), now },
      observation: {
        ...{ id: ids.next(), type: 'system_event', name, payload, ts: now, quiet: true },
        ...(label === undefined ? {} : { label }),
      },
    }
  }
}

function readMemory(setting: Json): { readonly state: Json; readonly label: Label } | undefined {
  const { memory, label } = (setting ?? {}) as { readonly memory?: Json; readonly label?: Partial<Label> }
  if (memory === undefined) return undefined
  const isTrusted = label?.trust === 'trusted'
  return {
    state: memory,
    label: { trust: isTrusted ? 'trusted' : UNTRUSTED_LABEL.trust, private: label?.private !== false },
  }
}
