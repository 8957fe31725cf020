/**
 * The world: time, what is under way, and who is told next. Every call of a port that would be I/O is an entry here; the world
 * delivers one at a time, in an order that the seed draws, and lets the program run until it has nothing left to do.
 */

import { createHash, type Hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { OP_TABLE } from '../../src/adapters/stores/sqlite/ops.ts'
import { createStoreReader, type StoreReader } from '../../src/adapters/stores/sqlite/reader.ts'
import { createWriter, type Writer } from '../../src/adapters/stores/sqlite/writer.ts'
import { GRACE_MS } from '../../src/engine/grace-period.ts'
import { Counters } from './branch-counters.ts'
import { openEmptyDatabase } from './database.ts'
import { Faults } from './faults.ts'
import { GroundTruth } from './ground-truth.ts'
import { BeatTiming } from './invariants/beat-timing.ts'
import { Conversations } from './invariants/conversation.ts'
import { Cycles } from './invariants/cycles.ts'
import { Garbage } from './invariants/garbage.ts'
import type { SessionState } from './invariants/session.ts'
import { StateDocument } from './invariants/state-document.ts'
import { StoreMirror } from './invariants/store-mirror.ts'
import type { Boundary, Plan } from './plan.ts'
import type { SimProcess } from './process.ts'
import { chance, integerBelow, type Key } from './random.ts'
import type { Variant } from './variants.ts'

/** Taken before a test poisons it: the only thing of the real world that the loop needs. */
const realSetImmediate = setImmediate

const NEW_YEAR_2026 = 1_767_225_600_000
/** A process whose disk is gone finds out by its next heartbeat, and exits. In events. */
const MAX_EVENTS_AFTER_DISK_FAILURE = 60
/** How often the world lets time pass although something could be delivered. */
const TIME_SKIP_CHANCE = 0.04
/** And for how long at most where somebody has to keep time. */
const LONGEST_SKIP_MS = 60_000

/** What may hang although it was told to stop. */
const EXTERNAL_BOUNDARIES: ReadonlySet<Boundary> = new Set([
  'open',
  'model',
  'paid',
  'before',
  'tool',
  'done',
  'probe',
  'remains',
])

export interface Violation {
  readonly invariant: string
  readonly message: string
  readonly event: number
}

interface Entry {
  readonly proc: SimProcess
  readonly kind: Boundary
  readonly label: string
  /** When it was begun, monotonic. */
  readonly since: number
  /** Not before this monotonic instant. */
  due: number | undefined
  deliver(): void
}

export interface AbortHandling<T> {
  readonly signal: AbortSignal
  /** What the call comes to when it is interrupted. */
  readonly onAbort: () => T
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
  /** The kernel's folder. */
  readonly files = new Map<string, string>()
  readonly processes: SimProcess[] = []
  readonly log: string[] | undefined
  violation: Violation | undefined
  events = 0
  monotonic = 0
  wall = NEW_YEAR_2026
  /** A process that was taken over from has written: whoever holds the home now could not hear that. */
  staleWriteSeen = false
  /** The last event that was more than waiting: not a sleep, a heartbeat or a look at the queue. */
  lastActivity = 0
  #pending: Entry[] = []
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
  }

  chance(...keys: readonly Key[]): number {
    return chance(this.plan.seed, ...keys)
  }

  /** The session of the task with that tag. */
  sessionOfTask(tag: string): SessionState | undefined {
    for (const { prompt, session } of this.mirror.dispatches.values())
      if (prompt === `task ${tag}`) return this.mirror.sessions.get(session)
    return undefined
  }

  /** The session of the dispatch whose prompt has that mark. */
  sessionWithMark(mark: string): SessionState | undefined {
    for (const { prompt, session } of this.mirror.dispatches.values())
      if (prompt.includes(mark)) return this.mirror.sessions.get(session)
    return undefined
  }

  /** Where there is a kernel, the lock on the home counts: whoever is paused, or about to leave, still has it. */
  isHomeLocked(): boolean {
    return this.plan.kernel !== undefined && this.processes.some(({ state }) => state === 'up' || state === 'paused')
  }

  /** The process that holds the home and hears. */
  homeHolder(): SimProcess | undefined {
    return this.processes.find((proc) => proc.state === 'up' && !proc.isReplaced && !proc.isExiting)
  }

  nextId(): string {
    this.#ids += 1
    return `d${String(this.#ids).padStart(4, '0')}`
  }

  /** The first violation is the one that counts: what follows it may be its consequence. */
  fail(invariant: string, message: string): void {
    this.violation ??= { invariant, message, event: this.events }
  }

  logEvent(line: string): void {
    const said = `${this.events} +${this.monotonic} ${line}`
    this.#hash.update(said)
    this.log?.push(said)
  }

  hash(): string {
    return this.#hash.digest('hex').slice(0, 16)
  }

  /** A call that the world answers when it likes. A dead process is never answered. */
  io<T>(proc: SimProcess, kind: Boundary, label: string, work: () => T, abortHandling?: AbortHandling<T>): Promise<T> {
    return this.#enter(proc, kind, label, work, undefined, abortHandling)
  }

  ioAfter<T>(
    proc: SimProcess,
    kind: Boundary,
    label: string,
    ms: number,
    work: () => T,
    abortHandling?: AbortHandling<T>,
  ): Promise<T> {
    return this.#enter(proc, kind, label, work, this.monotonic + ms, abortHandling)
  }

  #enter<T>(
    proc: SimProcess,
    kind: Boundary,
    label: string,
    work: () => T,
    due: number | undefined,
    abortHandling: AbortHandling<T> | undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (proc.state === 'dead' || proc.state === 'exited') return
      let answer = work
      const entry: Entry = {
        proc,
        kind,
        label,
        since: this.monotonic,
        due,
        deliver() {
          try {
            resolve(answer())
          } catch (thrown) {
            reject(thrown)
          }
        },
      }
      const interrupt = (): void => {
        if (abortHandling) answer = abortHandling.onAbort
        entry.due = undefined
      }
      if (abortHandling?.signal.aborted) interrupt()
      else abortHandling?.signal.addEventListener('abort', interrupt, { once: true })
      this.#pending.push(entry)
    })
  }

  /** Sleepers hear the signal at once, as the contract of the clock says. */
  sleep(proc: SimProcess, ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (!(ms > 0) || signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      if (proc.state === 'dead' || proc.state === 'exited') return
      const entry: Entry = {
        proc,
        kind: 'sleep',
        label: '',
        since: this.monotonic,
        due: this.monotonic + ms,
        deliver: resolve,
      }
      const wake = (): void => {
        this.#pending = this.#pending.filter((other) => other !== entry)
        resolve()
      }
      signal?.addEventListener('abort', wake, { once: true })
      this.#pending.push(entry)
    })
  }

  /** But for what was left behind on purpose. */
  pendingOf(proc: SimProcess): readonly string[] {
    const own = this.#pending.filter((entry) => entry.proc === proc && !this.#isLeftBehind(entry))
    return own.map(({ kind, label }) => `${kind} ${label}`)
  }

  /**
   * The contract of `Leaving`: whoever was interrupted has a moment of grace, and then the program goes on without him. That is said of what
   * lies outside the program and was begun before the abortHandling; nothing is begun after it, and no read or write is ever left behind.
   */
  #isLeftBehind({ proc, kind, since }: Entry): boolean {
    const left = EXTERNAL_BOUNDARIES.has(kind) && since <= proc.abortedAt && proc.abortedAt + GRACE_MS <= this.monotonic
    if (left) this.counters.add('left behind')
    return left
  }

  dropPending(proc: SimProcess): void {
    this.#pending = this.#pending.filter((entry) => entry.proc !== proc)
  }

  advanceTime(ms: number): void {
    this.monotonic += ms
    this.wall += ms
  }

  /** Nothing to deliver unless time passes. */
  isQuiet(): boolean {
    return !this.#pending.some(({ proc, due }) => proc.state === 'up' && (due === undefined || due <= this.monotonic))
  }

  /** Delivers one thing. False: there is nothing to deliver, now or later. */
  async deliverNext(): Promise<boolean> {
    const entry = this.#pick()
    if (!entry) return false
    this.events += 1
    this.#pending = this.#pending.filter((other) => other !== entry)
    this.advanceTime(integerBelow(this.plan.seed, 12, 'lag', this.events))
    const { proc, kind, label } = entry
    if (kind !== 'sleep' && kind !== 'read' && kind !== 'ack' && label !== 'beat') this.lastActivity = this.events
    const hit = this.faults.faultAtBoundary(proc, kind, this.counters)
    this.logEvent(`${proc.id} ${kind} ${label}${hit ? ` ${hit.kind}` : ''}`)
    if (hit?.kind === 'crash') proc.crash('crashed')
    else if (hit?.kind === 'pause') {
      this.#pending.push(entry)
      proc.pause(this.events + hit.events)
    } else entry.deliver()
    await this.flushPromises()
    this.#checkAlive()
    this.beatTiming.check()
    return true
  }

  /** A process that is up and waits for nothing that could ever come is hung. */
  #checkAlive(): void {
    const waiting = new Set(this.#pending.map(({ proc }) => proc))
    for (const proc of this.processes) {
      if (proc.state !== 'up') continue
      if (!waiting.has(proc)) this.fail('liveness', `process ${proc.id} is hung: it waits for nothing`)
      if (this.events - proc.diskFailedAt > MAX_EVENTS_AFTER_DISK_FAILURE)
        this.fail('storage', `process ${proc.id} cannot write any more, and does not exit`)
    }
  }

  /** Until every promise that could go on has done so. */
  async flushPromises(): Promise<void> {
    await new Promise((resolve) => realSetImmediate(resolve))
  }

  #pick(): Entry | undefined {
    const awake = this.#pending.filter(({ proc }) => proc.state === 'up')
    const ready = awake.filter(({ due }) => due === undefined || due <= this.monotonic)
    let next: Entry | undefined
    for (const entry of awake)
      if (entry.due !== undefined && entry.due > this.monotonic && (!next || entry.due < (next.due ?? 0))) next = entry
    const ms = (next?.due ?? 0) - this.monotonic
    const skipsTime = this.chance('impatient', this.events) < TIME_SKIP_CHANCE
    const canWait = next !== undefined && (this.plan.kernel === undefined || ms <= LONGEST_SKIP_MS)
    if (ready.length > 0 && !(skipsTime && canWait))
      return ready[integerBelow(this.plan.seed, ready.length, 'pick', this.events)]
    if (next) this.advanceTime(ms)
    return next
  }
}
