/**
 * The ports of a replayed run: model, tools, critics, hooks, env and clock. Each does what the next record on the tape
 * says.
 * Must not know: the engine that asks them.
 */

import { z } from 'zod'
import { type ErrorCode, TirelessError } from '../../domain/error.ts'
import type { JournalRecord, RunSetup } from '../../domain/journal-record.ts'
import type { Critic } from '../../ports/behaviour.ts'
import { believed, type Clock } from '../../ports/clock.ts'
import type { Env } from '../../ports/env.ts'
import { HOOKED_PHASES, type Hook } from '../../ports/hook.ts'
import type { MemoryKind, MemoryView } from '../../ports/memory.ts'
import { type Model, type Models, singleModel } from '../../ports/model.ts'
import type { RunEnding } from '../../ports/run-ending.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { effectOf } from '../request/toolbox.ts'
import type { RecordOfKind, ReplayTape } from './replay-tape.ts'

export function recordedEnv(tape: ReplayTape): Env {
  // replay-sources.ts replaces the issue that follows from this error by the recorded ones.
  if (tape.issues()) throw new TirelessError('internal', 'the run was refused, as recorded')
  return { ...EMPTY_ENV, isTerminal: () => recordedTerminal(tape) }
}

function recordedTerminal(tape: ReplayTape): boolean | RunEnding {
  const failure = tape.nextFailure()
  if (failure?.phase === 'CHECK_STOP') throw recordedError(failure)
  // The run may have been interrupted while it waited for the env or for a stop rule.
  const why = tape.interruptionOf(tape.next())
  if (why) tape.interrupt(why)
  return endedBy(tape, 'env_terminal')?.ending ?? false
}

/** How the env or a stop rule ended the run with the next step; undefined if it did not. */
export function endedBy(
  tape: ReplayTape,
  stop_reason: 'env_terminal' | 'stop_rule',
): { readonly ending: RunEnding; readonly rule: string | undefined } | { readonly ending: true } | undefined {
  const next = tape.find('step_committed')?.next
  if (next?.kind !== 'end' || next.stop_reason !== stop_reason) return undefined
  const { reason, answer, rule, failure_class } = next
  if (reason === undefined) return { ending: true }
  const ending = { reason, ...(answer === undefined ? {} : { answer }), ...(failure_class ? { failed: true } : {}) }
  return { ending, rule }
}

const EMPTY_ENV: Env = {
  root: '/',
  groups: ['file', 'process', 'git'],
  getOps: () => undefined,
  health: async () => ({ ok: true }),
  close: async () => {},
}

/** now() returns the time of the next record; a step takes as long as in the recording. */
export function recordedClock(tape: ReplayTape): Clock {
  return believed({ now: () => tape.now(), monotonic: () => tape.monotonic(), sleep: () => new Promise(() => {}) })
}

export function recordedModels(tape: ReplayTape, { model, fallback = [] }: RunSetup): Models {
  const first = model ?? 'none'
  return {
    ...singleModel(recordedModel(tape, first)),
    get: (id = first) => recordedModel(tape, id),
    fallbackChain: async () => [first, ...fallback],
  }
}

function recordedModel(tape: ReplayTape, id: string): Model {
  return {
    id,
    async call() {
      if (tape.isReconfiguredNext()) return tape.die()
      const [next, failure] = [tape.next(), tape.nextFailure()]
      if (next?.kind === 'model_answered') return next.answer
      if (failure) throw recordedError(failure)
      return abortOrDie(tape, next)
    },
  }
}

export function recordedError({ code, message, ruling, ts }: RecordOfKind<'failed'>): TirelessError {
  const until = ruling.kind === 'retry' ? ruling.until : null
  return new TirelessError(code, message, { retryAfterMs: until === null ? undefined : until - ts })
}

/**
 * Interrupts the run if the recorded run was interrupted here. Otherwise the process was killed: the promise never
 * resolves.
 */
function abortOrDie<T>(tape: ReplayTape, next: JournalRecord | undefined): Promise<T> {
  const why = tape.interruptionOf(next)
  if (!why) return tape.die()
  tape.interrupt(why)
  throw new TirelessError('aborted', 'interrupted, as recorded')
}

export function recordedTool(tape: ReplayTape, name: string, known: AnyTool | undefined): AnyTool {
  return {
    name,
    description: known?.description ?? '',
    args: known?.args ?? (z.unknown() as unknown as AnyTool['args']),
    ...(known?.volatile ? { volatile: known.volatile } : {}),
    ...(known?.argumentDescriptions ? { argumentDescriptions: known.argumentDescriptions } : {}),
    ...(known?.parameters ? { parameters: known.parameters } : {}),
    ...(known?.lazy ? { lazy: true } : {}),
    ...(known?.meant ? { meant: known.meant } : {}),
    effect: (args) =>
      (known && effectOf(known, args)) ?? tape.find('call_intended')?.effect ?? { recovery: 'once', reach: 'none' },
    async before(_, { call }) {
      const intended = tape.intended(callIndex(call))
      if (intended) return intended.before as never
      // No intent was recorded: the tool's before() failed.
      const settled = tape.settled(callIndex(call))?.result
      if (settled?.status === 'interrupted')
        tape.interrupt(tape.interruptionOf(tape.find('step_committed')) ?? 'stopping')
      const [, code = '', message = ''] = /^(\w+): (.*)$/s.exec(settled?.content ?? '') ?? []
      throw new TirelessError(code as ErrorCode, message)
    },
    async run(_, { call }) {
      const settled = tape.settled(callIndex(call))
      if (!settled || tape.isReconfiguredNext() || tape.wasKilledInPhase('act')) return tape.die()
      if (tape.issues() || tape.whyClosedHere()) return tape.die()
      const why = settled.result.status === 'interrupted' ? tape.interruptionOf(tape.find('step_committed')) : undefined
      // Interrupt one tick later, so that parallel calls have started, as in the recorded run.
      if (why) await Promise.resolve().then(() => tape.interrupt(why))
      return settled.result
    },
  }
}

const callIndex = (call: string): number => Number(call.slice(call.lastIndexOf('.') + 1))

export function recordedCritic(tape: ReplayTape, name: string): Critic {
  return {
    name,
    judge() {
      // The program was stopped while this critic was judging; the turn stayed open.
      if (tape.wasStoppedHere() || tape.wasKilledInPhase('critic')) {
        tape.interrupt('stopping')
        throw new TirelessError('aborted', 'stopped, as recorded')
      }
      const diagnosis = tape.diagnosed(`critic ${name}`)
      if (diagnosis) throw new TirelessError('plugin_failed', diagnosis.message)
      const why = tape.whyUnjudged()
      if (why) {
        tape.interrupt(why)
        throw new TirelessError('aborted', 'interrupted, as recorded')
      }
      const recorded = tape.find('step_committed')?.verdicts?.find(({ critic }) => critic === name)
      return recorded?.verdict ?? { kind: 'continue' }
    },
  }
}

/** A memory that gives what the tape says: for the next turn, or for the next cut. It fails as recorded. */
export function recordedMemory(tape: ReplayTape, name: string): MemoryKind {
  const failAsRecorded = (): void => {
    const diagnosis = tape.diagnosed('memory')
    if (diagnosis) throw new TirelessError('plugin_failed', diagnosis.message)
  }
  return {
    name,
    open: () => ({
      reset() {},
      append: failAsRecorded,
      evict() {
        failAsRecorded()
        return 1
      },
      retrieve() {
        const next = tape.next()
        if (next?.kind !== 'input_bound') return tape.find('cut')?.cut ?? NOTHING_NEW
        const failure = tape.nextFailure(1)
        if (failure?.phase === 'OBSERVE') throw recordedError(failure)
        return next.memory ?? NOTHING_NEW
      },
    }),
  }
}

const NOTHING_NEW: MemoryView = { from: 0, summary: '', recalled: [] }

/** Only hooks that failed are replayed: each fails again at the same moment. */
export function recordedHooks(tape: ReplayTape): readonly Hook[] {
  const moments = [
    'on_run_start',
    'on_run_end',
    'on_recover',
    ...HOOKED_PHASES.flatMap((name) => [`on_before_${name}`, `on_after_${name}`]),
  ]
  return tape.brokenHooks().map((name) => {
    const replayMoment = (moment: string) => () => {
      const diagnosis = tape.diagnosed(`hook ${name}: ${moment}`)
      if (diagnosis) throw new Error(diagnosis.message)
    }
    return { name, ...Object.fromEntries(moments.map((moment) => [moment, replayMoment(moment)])) } as Hook
  })
}
