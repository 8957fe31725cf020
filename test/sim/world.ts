/**
 * The simulated world: its time, its pending I/O, and the order of events. Every port call that would be I/O is an
 * entry here. The world delivers one entry at a time, in an order drawn from the seed, and lets the program run until
 * it waits again.
 */

import { createHash, type Hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { encodeBatch } from '../../src/adapters/stores/encode-batch.ts'
import { OP_TABLE } from '../../src/adapters/stores/sqlite/ops.ts'
import { createStoreReader, type StoreReader } from '../../src/adapters/stores/sqlite/reader.ts'
import { createWriter, type Writer } from '../../src/adapters/stores/sqlite/writer.ts'
import { Counters } from './branch-counters.ts'
import { openEmptyDatabase } from './database.ts'
import { Faults } from './faults.ts'
import { GroundTruth } from './ground-truth.ts'
import { homesOf, type SimHome } from './homes.ts'
import { BeatTiming } from './invariants/beat-timing.ts'
import { Conversations } from './invariants/conversation.ts'
import { Cycles } from './invariants/cycles.ts'
import { Garbage } from './invariants/garbage.ts'
import { Looks } from './invariants/looks.ts'
import { Moves } from './invariants/moves.ts'
import type { SessionState } from './invariants/session.ts'
import { StateDocument } from './invariants/state-document.ts'
import { StoreMirror } from './invariants/store-mirror.ts'
import { SubAgents } from './invariants/sub-agents.ts'
import { Talk } from './invariants/talk.ts'
import { Todos } from './invariants/todos.ts'
import { type AbortHandling, type OutsideCall, type PendingCall, PendingCalls, wasAbandoned } from './pending-calls.ts'
import type { Boundary, Plan } from './plan.ts'
import { VersionedFiles } from './ports/versioned-files.ts'
import { Workspaces } from './ports/workspace.ts'
import type { SimProcess } from './process.ts'
import { chance, integerBelow, type Key } from './random.ts'
import { SeveralProcesses } from './several-processes.ts'
import { hasTalk, PAIRING } from './talk-plan.ts'
import { hasUndo } from './undo-plan.ts'
import type { Variant } from './variants.ts'

/** Saved before `forbidRealWorld` replaces it: the event loop of the simulator needs it. */
const realSetImmediate = setImmediate

const NEW_YEAR_2026 = 1_767_225_600_000
/** A process whose disk failed notices it at its next heartbeat and exits. In events. */
const MAX_EVENTS_AFTER_DISK_FAILURE = 60
/** Chance that time advances although an entry could be delivered. */
const TIME_SKIP_CHANCE = 0.04
/** Longest such advance in a world with a kernel, which must keep its schedules. */
const LONGEST_SKIP_MS = 60_000

export interface Violation {
  readonly invariant: string
  readonly message: string
  readonly event: number
}

export class World {
  readonly plan: Plan
  readonly variant: Variant
  readonly counters = new Counters()
  readonly faults: Faults
  readonly truth: GroundTruth
  readonly db: DatabaseSync = openEmptyDatabase()
  readonly writer: Writer
  readonly reader: StoreReader
  readonly mirror: StoreMirror
  readonly conversations = new Conversations()
  readonly cycles = new Cycles(this)
  readonly stateDocument = new StateDocument(this)
  readonly beatTiming = new BeatTiming(this)
  readonly garbage = new Garbage(this)
  readonly todos = new Todos(this)
  readonly moves = new Moves(this)
  readonly talk = new Talk(this)
  readonly subAgents = new SubAgents(this)
  readonly looks = new Looks(this)
  readonly workspaces = new Workspaces()
  readonly versionedFiles = new VersionedFiles(this)
  /** The files of the kernel's folder. */
  readonly files = new Map<string, string>()
  readonly processes: SimProcess[] = []
  readonly homes: readonly SimHome[]
  readonly several: SeveralProcesses
  readonly log: string[] | undefined
  violation: Violation | undefined
  events = 0
  monotonic = 0
  wall = NEW_YEAR_2026
  /** A superseded process has written: the current holder of the home gets no wake signal for that. */
  staleWriteSeen = false
  /** The last event that was more than waiting: not a sleep, a heartbeat or a read. */
  lastActivity = 0
  readonly #pending = new PendingCalls()
  #ids = 0
  readonly #hash: Hash = createHash('sha256')

  constructor(plan: Plan, variant: Variant, options: { readonly log?: boolean } = {}) {
    this.plan = plan
    this.variant = variant
    this.log = options.log ? [] : undefined
    this.faults = new Faults(plan)
    this.writer = createWriter(this.db, variant.ops?.(OP_TABLE) ?? OP_TABLE)
    this.reader = createStoreReader(this.db)
    this.mirror = new StoreMirror(this)
    this.truth = new GroundTruth(this)
    this.homes = homesOf(this)
    this.several = new SeveralProcesses(this)
    if (hasTalk(plan.seed)) this.writer.apply([encodeBatch({ ops: [PAIRING] })])
  }

  chance(...keys: readonly Key[]): number {
    return chance(this.plan.seed, ...keys)
  }

  /** Returns the session of the task with this tag. */
  sessionOfTask(tag: string): SessionState | undefined {
    return this.#sessionOf((prompt) => prompt === `task ${tag}`)
  }

  /** Returns the session of the dispatch whose prompt contains this mark. */
  sessionWithMark(mark: string): SessionState | undefined {
    return this.#sessionOf((prompt) => prompt.includes(mark))
  }

  #sessionOf(isOwn: (prompt: string) => boolean): SessionState | undefined {
    const own = [...this.mirror.dispatches.values()].find(({ prompt }) => isOwn(prompt))
    return own && this.mirror.sessions.get(own.session)
  }

  /** Files of the home are not fenced as the store is: without the lock, two processes would write them at once. */
  hasHomeLock(): boolean {
    const { kernel, residents, seed } = this.plan
    return (kernel ?? residents) !== undefined || hasUndo(seed)
  }

  /** A paused or exiting process still holds the lock on the home. */
  isHomeLocked(): boolean {
    return this.hasHomeLock() && this.processes.some(({ state }) => state === 'up' || state === 'paused')
  }

  /** Returns the process that holds the home and accepts commands. */
  homeHolder(): SimProcess | undefined {
    return this.processes.find((proc) => proc.state === 'up' && !proc.isReplaced && !proc.isExiting)
  }

  nextId(): string {
    this.#ids += 1
    return `d${String(this.#ids).padStart(4, '0')}`
  }

  /** Keeps the first violation: later ones may be its consequences. */
  fail(invariant: string, message: string): void {
    this.violation ??= { invariant, message, event: this.events }
  }

  logEvent(line: string): void {
    const entry = `${this.events} +${this.monotonic} ${line}`
    this.#hash.update(entry)
    this.log?.push(entry)
  }

  hash(): string {
    return this.#hash.digest('hex').slice(0, 16)
  }

  /** A call that the world answers at a time of its choice. A dead process gets no answer. */
  io<T>(proc: SimProcess, kind: Boundary, label: string, work: () => T, abortHandling?: AbortHandling<T>): Promise<T> {
    return this.#pending.enter(proc, { kind, label, work, abortHandling }, { since: this.monotonic, due: undefined })
  }

  /** Like `io`, but not answered before `ms` have passed. */
  ioAfter<T>(proc: SimProcess, ms: number, call: OutsideCall<T>): Promise<T> {
    return this.#pending.enter(proc, call, { since: this.monotonic, due: this.monotonic + ms })
  }

  sleep(proc: SimProcess, ms: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#pending.sleep(proc, { ms, since: this.monotonic, signal })
  }

  /** Calls that the process still waits for, except those that it abandoned. */
  pendingOf(proc: SimProcess): readonly string[] {
    const own = this.#pending.of(proc).filter((entry) => entry.kind !== 'notified' && !this.#isAbandoned(entry))
    return own.map(({ kind, label }) => `${kind} ${label}`)
  }

  #isAbandoned(entry: PendingCall): boolean {
    const isAbandoned = wasAbandoned(entry, this.monotonic)
    if (isAbandoned) this.counters.add('call abandoned after the grace period')
    return isAbandoned
  }

  dropPending(proc: SimProcess): void {
    this.#pending.drop(proc)
  }

  advanceTime(ms: number): void {
    this.monotonic += ms
    this.wall += ms
  }

  /** When the next entry can be delivered, if time passes. */
  nextDueAt(): number {
    return this.#pending.nextDue(this.monotonic)?.due ?? Number.POSITIVE_INFINITY
  }

  /** Tells whether nothing can be delivered unless time passes. */
  isQuiet(): boolean {
    return this.#pending.ready(this.monotonic).length === 0
  }

  /** Delivers one entry. Returns false if there is none, now or later. */
  async deliverNext(): Promise<boolean> {
    const entry = this.#pick()
    if (!entry) return false
    this.events += 1
    this.#pending.remove(entry)
    this.advanceTime(integerBelow(this.plan.seed, 12, 'lag', this.events))
    const { proc, kind, label } = entry
    if (kind !== 'sleep' && kind !== 'read' && kind !== 'ack' && label !== 'beat') this.lastActivity = this.events
    const hit = this.faults.faultAtBoundary(proc, kind, this.counters)
    this.logEvent(`${proc.id} ${kind} ${label}${hit ? ` ${hit.kind}` : ''}`)
    if (hit?.kind === 'crash') proc.crash('crashed')
    else if (hit) {
      this.#pending.add(entry)
      proc.suffer(hit)
    } else if (this.#pending.isCutOff(entry, this.monotonic)) proc.giveUp(entry)
    else entry.deliver()
    await this.flushPromises()
    this.#checkAlive()
    this.beatTiming.check()
    this.several.check()
    return true
  }

  /** A running process that waits for nothing is hung. */
  #checkAlive(): void {
    const waiting = this.#pending.processes()
    for (const proc of this.processes) {
      if (proc.state !== 'up') continue
      if (!waiting.has(proc)) this.fail('liveness', `process ${proc.id} is hung: it waits for nothing`)
      if (this.events - proc.diskFailedAt > MAX_EVENTS_AFTER_DISK_FAILURE)
        this.fail('storage', `process ${proc.id} cannot write any more and does not exit`)
    }
  }

  /** Waits until every promise that can settle has settled. */
  async flushPromises(): Promise<void> {
    await new Promise((resolve) => realSetImmediate(resolve))
  }

  #pick(): PendingCall | undefined {
    const ready = this.#pending.ready(this.monotonic)
    const next = this.#pending.nextDue(this.monotonic)
    const ms = (next?.due ?? 0) - this.monotonic
    // Several processes rely on answers in time; what hangs is a fault of the plan.
    const skipsTime = this.plan.several === undefined && this.chance('impatient', this.events) < TIME_SKIP_CHANCE
    const canWait = next !== undefined && (this.plan.kernel === undefined || ms <= LONGEST_SKIP_MS)
    if (ready.length > 0 && !(skipsTime && canWait))
      return ready[integerBelow(this.plan.seed, ready.length, 'pick', this.events)]
    if (next) this.advanceTime(ms)
    return next?.call
  }
}
