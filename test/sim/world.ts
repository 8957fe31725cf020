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
import { freshDatabase } from './database.ts'
import { Faults } from './faults.ts'
import { Truth } from './ground-truth.ts'
import { Rhythm } from './invariants/beat-timing.ts'
import { Conversations } from './invariants/conversation.ts'
import { Cycles } from './invariants/cycles.ts'
import { Garbage } from './invariants/garbage.ts'
import type { SessionState } from './invariants/session.ts'
import { StateText } from './invariants/state-document.ts'
import { Watch } from './invariants/store-mirror.ts'
import type { Boundary, Plan } from './plan.ts'
import type { Life } from './process.ts'
import { chance, type Key, whole } from './random.ts'
import type { Variant } from './variants.ts'

/** Taken before a test poisons it: the only thing of the real world that the loop needs. */
const realSetImmediate = setImmediate

const NEW_YEAR_2026 = 1_767_225_600_000
/** A process whose disk is gone finds out by its next heartbeat, and exits. In events. */
const LONGEST_SICKNESS = 60
/** How often the world lets time pass although something could be delivered. */
const IMPATIENCE = 0.04
/** And for how long at most where somebody has to keep time. */
const LONG = 60_000

/** What may hang although it was told to stop. */
const OUTSIDE: ReadonlySet<Boundary> = new Set(['open', 'model', 'paid', 'before', 'tool', 'done', 'probe', 'remains'])

export interface Violation {
  readonly invariant: string
  readonly message: string
  readonly event: number
}

interface Entry {
  readonly life: Life
  readonly kind: Boundary
  readonly label: string
  /** When it was begun, monotonic. */
  readonly since: number
  /** Not before this monotonic instant. */
  due: number | undefined
  go(): void
}

export interface Interruption<T> {
  readonly signal: AbortSignal
  /** What the call comes to when it is interrupted. */
  readonly cut: () => T
}

export class World {
  readonly plan: Plan
  readonly variant: Variant
  readonly counters = new Counters()
  readonly faults: Faults
  readonly truth: Truth
  readonly db: DatabaseSync = freshDatabase()
  readonly writer: Writer
  readonly reader: StoreReader
  readonly watch: Watch
  readonly conversations = new Conversations()
  readonly cycles = new Cycles(this)
  readonly state = new StateText(this)
  readonly rhythm = new Rhythm(this)
  readonly garbage = new Garbage(this)
  /** The kernel's folder. */
  readonly files = new Map<string, string>()
  readonly lives: Life[] = []
  readonly log: string[] | undefined
  violation: Violation | undefined
  events = 0
  monotonic = 0
  wall = NEW_YEAR_2026
  /** A process that was taken over from has written: whoever holds the home now could not hear that. */
  strangers = false
  /** The last event that was more than waiting: not a sleep, a heartbeat or a look at the queue. */
  stirred = 0
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
    this.watch = new Watch(this)
    this.truth = new Truth(this)
  }

  chance(...keys: readonly Key[]): number {
    return chance(this.plan.seed, ...keys)
  }

  /** The session of the task with that tag. */
  sessionOf(tag: string): SessionState | undefined {
    for (const { prompt, session } of this.watch.dispatches.values())
      if (prompt === `task ${tag}`) return this.watch.sessions.get(session)
    return undefined
  }

  /** The session of the dispatch whose prompt has that mark. */
  sessionMarked(mark: string): SessionState | undefined {
    for (const { prompt, session } of this.watch.dispatches.values())
      if (prompt.includes(mark)) return this.watch.sessions.get(session)
    return undefined
  }

  /** Where there is a kernel, the lock on the home counts: whoever is paused, or about to leave, still has it. */
  held(): boolean {
    return this.plan.kernel !== undefined && this.lives.some(({ state }) => state === 'up' || state === 'paused')
  }

  /** The process that holds the home and hears. */
  holder(): Life | undefined {
    return this.lives.find((life) => life.state === 'up' && !life.zombie && !life.leaving)
  }

  nextId(): string {
    this.#ids += 1
    return `d${String(this.#ids).padStart(4, '0')}`
  }

  /** The first violation is the one that counts: what follows it may be its consequence. */
  fail(invariant: string, message: string): void {
    this.violation ??= { invariant, message, event: this.events }
  }

  note(line: string): void {
    const said = `${this.events} +${this.monotonic} ${line}`
    this.#hash.update(said)
    this.log?.push(said)
  }

  hash(): string {
    return this.#hash.digest('hex').slice(0, 16)
  }

  /** A call that the world answers when it likes. A dead process is never answered. */
  io<T>(life: Life, kind: Boundary, label: string, work: () => T, interruption?: Interruption<T>): Promise<T> {
    return this.#enter(life, kind, label, work, undefined, interruption)
  }

  later<T>(life: Life, kind: Boundary, label: string, ms: number, work: () => T, cut?: Interruption<T>): Promise<T> {
    return this.#enter(life, kind, label, work, this.monotonic + ms, cut)
  }

  #enter<T>(
    life: Life,
    kind: Boundary,
    label: string,
    work: () => T,
    due: number | undefined,
    interruption: Interruption<T> | undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (life.state === 'dead' || life.state === 'over') return
      let answer = work
      const entry: Entry = {
        life,
        kind,
        label,
        since: this.monotonic,
        due,
        go() {
          try {
            resolve(answer())
          } catch (thrown) {
            reject(thrown)
          }
        },
      }
      const interrupt = (): void => {
        if (interruption) answer = interruption.cut
        entry.due = undefined
      }
      if (interruption?.signal.aborted) interrupt()
      else interruption?.signal.addEventListener('abort', interrupt, { once: true })
      this.#pending.push(entry)
    })
  }

  /** Sleepers hear the signal at once, as the contract of the clock says. */
  sleep(life: Life, ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (!(ms > 0) || signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      if (life.state === 'dead' || life.state === 'over') return
      const entry: Entry = {
        life,
        kind: 'sleep',
        label: '',
        since: this.monotonic,
        due: this.monotonic + ms,
        go: resolve,
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
  underWay(life: Life): readonly string[] {
    const own = this.#pending.filter((entry) => entry.life === life && !this.#isLeftBehind(entry))
    return own.map(({ kind, label }) => `${kind} ${label}`)
  }

  /**
   * The contract of `Leaving`: whoever was interrupted has a moment of grace, and then the program goes on without him. That is said of what
   * lies outside the program and was begun before the interruption; nothing is begun after it, and no read or write is ever left behind.
   */
  #isLeftBehind({ life, kind, since }: Entry): boolean {
    const left = OUTSIDE.has(kind) && since <= life.abortedAt && life.abortedAt + GRACE_MS <= this.monotonic
    if (left) this.counters.add('left behind')
    return left
  }

  forget(life: Life): void {
    this.#pending = this.#pending.filter((entry) => entry.life !== life)
  }

  pass(ms: number): void {
    this.monotonic += ms
    this.wall += ms
  }

  /** Nothing to deliver unless time passes. */
  quiet(): boolean {
    return !this.#pending.some(({ life, due }) => life.state === 'up' && (due === undefined || due <= this.monotonic))
  }

  /** Delivers one thing. False: there is nothing to deliver, now or later. */
  async deliver(): Promise<boolean> {
    const entry = this.#pick()
    if (!entry) return false
    this.events += 1
    this.#pending = this.#pending.filter((other) => other !== entry)
    this.pass(whole(this.plan.seed, 12, 'lag', this.events))
    const { life, kind, label } = entry
    if (kind !== 'sleep' && kind !== 'read' && kind !== 'ack' && label !== 'beat') this.stirred = this.events
    const blow = this.faults.strike(life, kind, this.counters)
    this.note(`${life.id} ${kind} ${label}${blow ? ` ${blow.kind}` : ''}`)
    if (blow?.kind === 'crash') life.die('crashed')
    else if (blow?.kind === 'pause') {
      this.#pending.push(entry)
      life.pause(this.events + blow.events)
    } else entry.go()
    await this.settle()
    this.#checkAlive()
    this.rhythm.check()
    return true
  }

  /** A process that is up and waits for nothing that could ever come is hung. */
  #checkAlive(): void {
    const waiting = new Set(this.#pending.map(({ life }) => life))
    for (const life of this.lives) {
      if (life.state !== 'up') continue
      if (!waiting.has(life)) this.fail('liveness', `life ${life.id} is hung: it waits for nothing`)
      if (this.events - life.sickSince > LONGEST_SICKNESS)
        this.fail('storage', `life ${life.id} cannot write any more, and does not exit`)
    }
  }

  /** Until every promise that could go on has done so. */
  async settle(): Promise<void> {
    await new Promise((resolve) => realSetImmediate(resolve))
  }

  #pick(): Entry | undefined {
    const awake = this.#pending.filter(({ life }) => life.state === 'up')
    const ready = awake.filter(({ due }) => due === undefined || due <= this.monotonic)
    let next: Entry | undefined
    for (const entry of awake)
      if (entry.due !== undefined && entry.due > this.monotonic && (!next || entry.due < (next.due ?? 0))) next = entry
    const ms = (next?.due ?? 0) - this.monotonic
    const impatient = this.chance('impatient', this.events) < IMPATIENCE
    const canWait = next !== undefined && (this.plan.kernel === undefined || ms <= LONG)
    if (ready.length > 0 && !(impatient && canWait))
      return ready[whole(this.plan.seed, ready.length, 'pick', this.events)]
    if (next) this.pass(ms)
    return next
  }
}
