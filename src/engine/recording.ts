/** Recording: the records of a run, and how far its replay has come in them. What comes next in it is what happened. */

import type { Call, CallResult, Issue } from '../domain/decision.ts'
import type { JournalRecord, Setup } from '../domain/record.ts'
import type { StopReason } from '../domain/stop.ts'
import { HOOKED_PHASES, type HookedPhase } from '../ports/hook.ts'
import { INTERRUPTED_BEFORE, type Interruption } from './interruption.ts'
import type { Worth } from './labels.ts'

export type Kind<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

type CutShort = Exclude<Interruption['why'], 'stopping'>

/** How a life of the replay is told that it is over. */
export interface Ends {
  die(): void
  /** Given back after its step. */
  rest(): void
  interrupt(why: Interruption['why']): void
  cancelAfterStep(): void
}

/** What is written of a run that cannot be opened. */
const CLOSING: ReadonlySet<JournalRecord['kind']> = new Set([
  'call_settled',
  'step_committed',
  'run_ended',
  'diagnosed',
])

export class Recording {
  /** What the session's journal held before the run. */
  readonly past: readonly JournalRecord[]
  readonly behaviour: string
  readonly #records: readonly JournalRecord[]
  /** Made so far; those behind `#written` are not on its disk. */
  readonly #made: JournalRecord[] = []
  #written = 0
  /** Steps among those made. */
  #steps = 0
  /** How long the recorded steps took: none of them, the first, the first two, … */
  readonly #elapsed: readonly number[]
  #parted = false
  #ends: Ends = { die() {}, rest() {}, interrupt() {}, cancelAfterStep() {} }
  #stepBegun = false

  constructor(records: readonly JournalRecord[], past: readonly JournalRecord[]) {
    const [started] = records
    if (started?.kind !== 'run_started') throw new Error('a recording begins with the start of its run')
    this.past = past
    this.behaviour = started.behaviour
    this.#records = records
    this.#elapsed = sumsOf(records.flatMap((record) => (record.kind === 'step_committed' ? [record.ms] : [])))
  }

  /** A life begins with what is on its disk. */
  begin(ends: Ends): void {
    this.#ends = ends
    this.#steps -= this.#made.splice(this.#written).filter(isStep).length
    this.#stepBegun = false
  }

  /** It has come through, or the two have parted: then there is no telling what would come next. */
  over(): boolean {
    return this.#parted || this.#written >= this.#records.length
  }

  part(): void {
    this.#parted = true
    this.#ends.die()
  }

  produced(): readonly JournalRecord[] {
    return this.#made.slice(0, this.#written)
  }

  made(record: JournalRecord): void {
    if (this.next()?.kind !== record.kind) this.#parted = true
    this.#made.push(record)
    const next = this.next()
    if (next?.kind === 'call_settled' && next.result.content === INTERRUPTED_BEFORE.content)
      this.interrupt(this.whyCutShort(this.find('step_committed')) ?? 'stopping')
    const ended = record.kind === 'step_committed' && record.next.kind === 'end' ? undefined : this.whyEndedHere()
    if (ended === 'cancelled') this.#ends.cancelAfterStep()
    else if (ended) this.interrupt(ended)
    if (record.kind !== 'step_committed') return
    this.#steps += 1
    this.#stepBegun = false
    // Given back after it, or never gone on with.
    if (this.isPutDown()) this.#ends.rest()
  }

  written(): void {
    this.#written = this.#made.length
  }

  next(): JournalRecord | undefined {
    return this.#records[this.#made.length]
  }

  /** What is left of the turn that it is in, or of the one that it is about to begin. */
  #turn(): readonly JournalRecord[] {
    const from = this.#made.length
    const end = indexFrom(this.#records, from, isStep)
    return this.#records.slice(from, end < 0 ? undefined : end + 1)
  }

  find<K extends JournalRecord['kind']>(kind: K): Kind<K> | undefined {
    return this.#turn().find((record): record is Kind<K> => record.kind === kind)
  }

  intended(index: number): Kind<'call_intended'> | undefined {
    const found = this.#turn().find((record) => record.kind === 'call_intended' && record.index === index)
    return found as Kind<'call_intended'> | undefined
  }

  settled(index: number): Kind<'call_settled'> | undefined {
    const upcoming = this.#turn()
    const settled = upcoming.find((record) => record.kind === 'call_settled' && record.index === index)
    return this.intended(index) ? undefined : (settled as Kind<'call_settled'> | undefined)
  }

  held(index: number): CallResult | undefined {
    const result = this.settled(index)?.result
    return (result?.facts as { readonly held?: boolean } | undefined)?.held ? result : undefined
  }

  approved(): readonly Call[] {
    const decision = this.find('decided')?.decision
    return decision?.kind === 'act' ? decision.calls.filter(({ approval }) => approval !== undefined) : []
  }

  intent(): Kind<'intent_fixed'> | undefined {
    const next = this.next()
    return next?.kind === 'intent_fixed' ? next : undefined
  }

  worth(index: number): Worth {
    const settled = this.#turn().find((record) => record.kind === 'call_settled' && record.index === index)
    const { label, outside } = (settled ?? {}) as Worth
    return { ...(label === undefined ? {} : { label }), ...(outside === undefined ? {} : { outside }) }
  }

  /** Whether another model stood in for the one that failed here. */
  standIn(): 'now' | 'later' | undefined {
    const next = this.next()
    if (next?.kind !== 'failed' || next.ruling.kind !== 'retry') return undefined
    return next.ruling.until === null ? 'now' : 'later'
  }

  diagnosed(about: string): Kind<'diagnosed'> | undefined {
    const next = this.next()
    return next?.kind === 'diagnosed' && next.about === about ? next : undefined
  }

  brokenHooks(): readonly string[] {
    const names = this.#records.flatMap((record) => {
      const found = record.kind === 'diagnosed' ? /^hook (.*): on_\w+$/.exec(record.about) : null
      return found?.[1] === undefined ? [] : [found[1]]
    })
    return [...new Set(names)]
  }

  /** What it is made with in the life that comes. */
  setup(): Setup {
    const next = this.next()
    const last = next && isSetup(next) ? next : this.#made.findLast(isSetup)
    return (last as Kind<'run_started' | 'refitted'>).setup
  }

  /** Why it could not be opened in this life, if it could not. */
  issues(): readonly Issue[] | undefined {
    const last = this.#records.at(-1)
    if (last?.kind !== 'run_ended' || !this.next()) return undefined
    const goesOn = indexFrom(this.#records, this.#made.length, (record) => !isClosing(record))
    return goesOn < 0 ? last.issues : undefined
  }

  /** The program was killed here, and came back as something else. */
  isTakenUpAnew(): boolean {
    const next = this.next()
    return next?.kind === 'refitted' || next?.kind === 'migrated'
  }

  /**
   * Whether the life that came this far, into `phase`, was killed or stopped here: the next one tells hooks of that turn again, and one of them
   * broke in a moment that lies behind this one.
   */
  isHookedAnew(phase: HookedPhase): boolean {
    const next = this.next()
    const [, when, name] = (next?.kind === 'diagnosed' && /^hook .*: on_(before|after)_(\w+)$/s.exec(next.about)) || []
    const [at, here] = [HOOKED_PHASES.indexOf(name as HookedPhase), HOOKED_PHASES.indexOf(phase)]
    return at >= 0 && (at < here || (at === here && when === 'before'))
  }

  /** The life that came this far was stopped here: for good, or what comes next is of another one. */
  isPutDown(): boolean {
    return !this.next() || this.isTakenUpAnew() || this.issues() !== undefined
  }

  /** It came to its end here, and not by a step. */
  whyEndedHere(): CutShort | undefined {
    const next = this.next()
    return next?.kind === 'run_ended' ? cutShortBy(next.stop_reason) : undefined
  }

  whyCutShort(record: JournalRecord | undefined): CutShort | undefined {
    if (record?.kind !== 'step_committed' || record.next.kind !== 'end') return undefined
    return cutShortBy(record.next.stop_reason)
  }

  interrupt(why: Interruption['why']): void {
    this.#ends.interrupt(why)
  }

  /** Contract: never comes back; the life that asked is over, as it was then. */
  die(): Promise<never> {
    this.#ends.die()
    return new Promise(() => {})
  }

  /** What is new to the turn that comes; the task itself the run knows. */
  input(task: string): Kind<'input_bound'>['input'] {
    return this.nextInput()?.input.filter(({ id }) => id !== task) ?? []
  }

  nextInput(): Kind<'input_bound'> | undefined {
    const at = indexFrom(this.#records, this.#made.length, ({ kind }) => kind === 'input_bound')
    return this.#records[at] as Kind<'input_bound'> | undefined
  }

  /** Whether a call that was left open was, by the word of its owner, to be tried again. */
  triedAgain(): readonly Kind<'call_intended'>[] {
    return this.#turn().filter((record): record is Kind<'call_intended'> => record.kind === 'call_intended')
  }

  now(): number {
    return this.next()?.ts ?? this.#records.at(-1)?.ts ?? 0
  }

  /** At the first question a step's beginning, after that its end. */
  monotonic(): number {
    const steps = this.#steps + (this.#stepBegun ? 1 : 0)
    this.#stepBegun = true
    return this.#elapsed[steps] ?? this.#elapsed.at(-1) ?? 0
  }
}

function cutShortBy(stop_reason: StopReason): CutShort | undefined {
  if (stop_reason === 'cancelled') return 'cancelled'
  return stop_reason === 'budget_time' ? 'time' : undefined
}

const isStep = ({ kind }: JournalRecord): boolean => kind === 'step_committed'

const isSetup = ({ kind }: JournalRecord): boolean => kind === 'run_started' || kind === 'refitted'

const isClosing = (record: JournalRecord): boolean =>
  CLOSING.has(record.kind) && (record.kind !== 'step_committed' || record.next.kind === 'end')

/** A recording is long, and is asked at every record where it stands: nothing here may walk through all of it. */
function indexFrom(
  records: readonly JournalRecord[],
  from: number,
  wanted: (record: JournalRecord) => boolean,
): number {
  for (let at = from; at < records.length; at += 1) if (wanted(records[at] as JournalRecord)) return at
  return -1
}

function sumsOf(numbers: readonly number[]): readonly number[] {
  const sums = [0]
  for (const number of numbers) sums.push((sums.at(-1) ?? 0) + number)
  return sums
}
