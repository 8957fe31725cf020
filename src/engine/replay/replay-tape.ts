/**
 * The replay tape: the records of a run and the replay's position in them. The next record on the tape says what the
 * replay has to do next.
 */

import { writeBehaviourName } from '../../domain/behaviour-name.ts'
import type { Call, CallResult, Issue } from '../../domain/decision.ts'
import type { JournalRecord, RunSetup } from '../../domain/journal-record.ts'
import type { StopReason } from '../../domain/stop-reason.ts'
import { HOOKED_PHASES, type HookedPhase } from '../../ports/hook.ts'
import { type Interruption, NOT_STARTED_INTERRUPTED } from '../abort-reason.ts'
import type { RecordedLabel } from '../calls/result-labels.ts'
import { isUnrecovered } from '../calls/unknown-outcome.ts'
import { failureFrom, indexFrom, runningSums } from './record-lists.ts'

export type RecordOfKind<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

type EndedEarly = Exclude<Interruption['why'], 'stopping'>

/** How the tape ends a replayed process in the same way as the recorded process ended. */
interface ProcessControl {
  kill(): void
  /** Releases the run after its step. */
  release(): void
  interrupt(why: Interruption['why']): void
  cancelAfterStep(): void
}

/** Kinds of records that are written for a run that cannot be opened, besides those of its open turn. */
const CLOSING_KINDS: ReadonlySet<JournalRecord['kind']> = new Set(['run_ended', 'diagnosed'])

export class ReplayTape {
  /** The session's journal before the run. */
  readonly past: readonly JournalRecord[]
  /** The first behaviour, with its parameters. */
  readonly behaviour: string
  readonly #records: readonly JournalRecord[]
  /** Records produced so far. The first `#written` of them are committed. */
  readonly #made: JournalRecord[] = []
  #written = 0
  /** Number of steps among the produced records. */
  #steps = 0
  /** Running sums of the recorded step durations: 0, first, first two, … */
  readonly #elapsed: readonly number[]
  #isDiverged = false
  #ends: ProcessControl = { kill() {}, release() {}, interrupt() {}, cancelAfterStep() {} }
  #hasStepStarted = false

  constructor(records: readonly JournalRecord[], past: readonly JournalRecord[]) {
    const [started] = records
    if (started?.kind !== 'run_started') throw new Error('a recording must start with run_started')
    this.past = past
    this.behaviour = writeBehaviourName({ name: started.behaviour, params: started.params ?? {} })
    this.#records = records
    this.#elapsed = runningSums(records.flatMap((record) => (record.kind === 'step_committed' ? [record.ms] : [])))
  }

  /** Starts the next replayed process. Records that were not committed are dropped. */
  restart(ends: ProcessControl): void {
    this.#ends = ends
    this.#steps -= this.#made.splice(this.#written).filter(isStep).length
    this.#hasStepStarted = false
  }

  /** Whether the replay is complete, or has diverged from the recording and cannot continue. */
  isOver(): boolean {
    return this.#isDiverged || this.#written >= this.#records.length
  }

  diverge(): void {
    this.#isDiverged = true
    this.#ends.kill()
  }

  committedRecords(): readonly JournalRecord[] {
    return this.#made.slice(0, this.#written)
  }

  addRecord(record: JournalRecord): void {
    if (this.next()?.kind !== record.kind) this.#isDiverged = true
    this.#made.push(record)
    const next = this.next()
    if (next?.kind === 'call_settled' && next.result.content === NOT_STARTED_INTERRUPTED.content)
      this.interrupt(this.interruptionOf(this.find('step_committed')) ?? 'stopping')
    const reason = record.kind === 'step_committed' && record.next.kind === 'end' ? undefined : this.whyEndedHere()
    if (reason === 'cancelled') this.#ends.cancelAfterStep()
    else if (reason) this.interrupt(reason)
    if (record.kind !== 'step_committed') return
    this.#steps += 1
    this.#hasStepStarted = false
    // The recorded run was released here or never continued.
    if (this.wasStoppedHere()) this.#ends.release()
  }

  markCommitted(): void {
    this.#written = this.#made.length
  }

  next(): JournalRecord | undefined {
    return this.#records[this.#made.length]
  }

  /** The failure that is recorded next, or after `skipped` records. */
  nextFailure(skipped = 0): RecordOfKind<'failed'> | undefined {
    return failureFrom(this.#records, this.#made.length + skipped)
  }

  /** The remaining records of the current turn, or of the next turn if the current turn is complete. */
  #remainingTurn(): readonly JournalRecord[] {
    const from = this.#made.length
    const end = indexFrom(this.#records, from, isStep)
    return this.#records.slice(from, end < 0 ? undefined : end + 1)
  }

  find<K extends JournalRecord['kind']>(kind: K): RecordOfKind<K> | undefined {
    return this.#remainingTurn().find((record): record is RecordOfKind<K> => record.kind === kind)
  }

  intended(index: number): RecordOfKind<'call_intended'> | undefined {
    const found = this.#remainingTurn().find((record) => record.kind === 'call_intended' && record.index === index)
    return found as RecordOfKind<'call_intended'> | undefined
  }

  settled(index: number): RecordOfKind<'call_settled'> | undefined {
    const settled = this.#remainingTurn().find((record) => record.kind === 'call_settled' && record.index === index)
    return this.intended(index) ? undefined : (settled as RecordOfKind<'call_settled'> | undefined)
  }

  heldResult(index: number): CallResult | undefined {
    const result = this.settled(index)?.result
    return (result?.facts as { readonly held?: boolean } | undefined)?.held ? result : undefined
  }

  approvedCalls(): readonly Call[] {
    const decision = this.find('decided')?.decision
    return decision?.kind === 'act' ? decision.calls.filter(({ approval }) => approval !== undefined) : []
  }

  nextIntent(): RecordOfKind<'intent_fixed'> | undefined {
    const next = this.next()
    return next?.kind === 'intent_fixed' ? next : undefined
  }

  recordedLabel(index: number): RecordedLabel {
    const settled = this.#remainingTurn().find((record) => record.kind === 'call_settled' && record.index === index)
    const { label, outside } = (settled ?? {}) as RecordedLabel
    return { ...(label === undefined ? {} : { label }), ...(outside === undefined ? {} : { outside }) }
  }

  /** Whether a fallback model replaced the model that failed here. */
  fallback(): 'now' | 'later' | undefined {
    const next = this.nextFailure()
    if (next?.ruling.kind !== 'retry') return undefined
    return next.ruling.until === null ? 'now' : 'later'
  }

  diagnosed(about: string): RecordOfKind<'diagnosed'> | undefined {
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

  /** The setup of the next process. */
  setup(): RunSetup {
    const next = this.next()
    const last = next && isSetup(next) ? next : this.#made.findLast(isSetup)
    return (last as RecordOfKind<'run_started' | 'refitted' | 'became'>).setup
  }

  /** The files that the recorded run had to write; undefined: no result was expected of it. */
  outputs(): readonly string[] | undefined {
    const started = this.#records.find((record) => record.kind === 'run_started')
    return started?.outputs
  }

  /** The issues that kept the run from being opened at this point; undefined if it was opened. */
  issues(): readonly Issue[] | undefined {
    const last = this.#records.at(-1)
    if (last?.kind !== 'run_ended' || !this.next()) return undefined
    const nextOpenIndex = indexFrom(this.#records, this.#made.length, (record) => !this.#isClosing(record))
    return nextOpenIndex < 0 ? last.issues : undefined
  }

  /** Why the next process only closed the open turn of the run, in place of resuming it; undefined if it did not. */
  whyClosedHere(): EndedEarly | undefined {
    const isResumed = (record: JournalRecord): boolean =>
      !this.#isClosing(record) || (record.kind === 'call_settled' && !isUnrecovered(record.result))
    const at = indexFrom(this.#records, this.#made.length, isResumed)
    return at < 0 ? this.whyEndedHere(this.#records.at(-1)) : undefined
  }

  /**
   * Whether a process that could not open the run may have written this record. Such a process settles only calls that
   * have an intent; the results of all others (not started, refused, blocked) are of a process that ran the turn.
   */
  #isClosing(record: JournalRecord): boolean {
    if (record.kind === 'step_committed') return record.next.kind === 'end'
    if (record.kind !== 'call_settled') return CLOSING_KINDS.has(record.kind)
    const intentOrStep = this.#made.findLast(
      (made) => isStep(made) || (made.kind === 'call_intended' && made.index === record.index),
    )
    return intentOrStep?.kind === 'call_intended'
  }

  /** Whether the run was opened again here, with another behaviour, configuration or version of the program. */
  isReconfiguredNext(): boolean {
    const next = this.next()
    return next?.kind === 'refitted' || next?.kind === 'migrated' || next?.kind === 'became'
  }

  /**
   * Whether the recorded process was killed or stopped here, in `phase`. The evidence: the next record is the failure
   * of a hook of an earlier phase, because the next process calls the hooks of the turn again.
   */
  wasKilledInPhase(phase: HookedPhase): boolean {
    const next = this.next()
    const [, when, name] = (next?.kind === 'diagnosed' && /^hook .*: on_(before|after)_(\w+)$/s.exec(next.about)) || []
    const [at, current] = [HOOKED_PHASES.indexOf(name as HookedPhase), HOOKED_PHASES.indexOf(phase)]
    return at >= 0 && (at < current || (at === current && when === 'before'))
  }

  /** Whether the recorded process was stopped here: the recording ends, or the next record is of another process. */
  wasStoppedHere(): boolean {
    return !this.next() || this.isReconfiguredNext() || this.issues() !== undefined
  }

  /** Why the run ended here between two steps; undefined if it did not. */
  whyEndedHere(next = this.next()): EndedEarly | undefined {
    return next?.kind === 'run_ended' ? interruptionFor(next.stop_reason) : undefined
  }

  interruptionOf(record: JournalRecord | undefined): EndedEarly | undefined {
    if (record?.kind !== 'step_committed' || record.next.kind !== 'end') return undefined
    return interruptionFor(record.next.stop_reason)
  }

  /** Why the step ended without the verdict of any critic: the run was cancelled, or its time was over. */
  whyUnjudged(): EndedEarly | undefined {
    const next = this.next()
    return next?.kind === 'step_committed' && next.verdicts === undefined ? this.interruptionOf(next) : undefined
  }

  interrupt(why: Interruption['why']): void {
    this.#ends.interrupt(why)
  }

  /** Contract: never resolves; the replayed process ends here, as the recorded one did. */
  die(): Promise<never> {
    this.#ends.kill()
    return new Promise(() => {})
  }

  /** The input of the next turn without the run's task. */
  input(task: string): RecordOfKind<'input_bound'>['input'] {
    return this.nextInput()?.input.filter(({ id }) => id !== task) ?? []
  }

  nextInput(): RecordOfKind<'input_bound'> | undefined {
    const at = indexFrom(this.#records, this.#made.length, ({ kind }) => kind === 'input_bound')
    return this.#records[at] as RecordOfKind<'input_bound'> | undefined
  }

  /** Interrupted calls that a person declared as not executed, so that they ran again. */
  repeatedCalls(): readonly RecordOfKind<'call_intended'>[] {
    return this.#remainingTurn().filter(
      (record): record is RecordOfKind<'call_intended'> => record.kind === 'call_intended',
    )
  }

  now(): number {
    return this.next()?.ts ?? this.#records.at(-1)?.ts ?? 0
  }

  /** The first read during a step returns the recorded start of the step, later reads its recorded end. */
  monotonic(): number {
    const steps = this.#steps + (this.#hasStepStarted ? 1 : 0)
    this.#hasStepStarted = true
    return this.#elapsed[steps] ?? this.#elapsed.at(-1) ?? 0
  }
}

function interruptionFor(stop_reason: StopReason): EndedEarly | undefined {
  if (stop_reason === 'cancelled') return 'cancelled'
  return stop_reason === 'budget_time' ? 'time' : undefined
}

const isStep = ({ kind }: JournalRecord): boolean => kind === 'step_committed'

const isSetup = ({ kind }: JournalRecord): boolean => kind === 'run_started' || kind === 'refitted' || kind === 'became'
