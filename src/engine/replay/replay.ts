/**
 * Replays a recorded run with the same engine, isolated from the outside. Model, tools, critics, hooks, people and
 * clock return what the journal recorded. Behaviour, parser, memory and engine run again and must produce the same
 * records.
 * Must not know: the real store, network and clock.
 */

import { z } from 'zod'
import type { Dispatch } from '../../domain/dispatch.ts'
import { type ErrorCode, TirelessError } from '../../domain/error.ts'
import type { JournalRecord, RunSetup } from '../../domain/journal-record.ts'
import type { Wait } from '../../domain/wait.ts'
import type { Critic } from '../../ports/behaviour.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Env } from '../../ports/env.ts'
import { HOOKED_PHASES, type Hook } from '../../ports/hook.ts'
import { type Model, type Models, singleModel } from '../../ports/model.ts'
import { NO_SECRETS } from '../../ports/secrets.ts'
import { NO_SNAPSHOTS } from '../../ports/snapshots.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { Interruption } from '../abort-reason.ts'
import { advanceDispatch } from '../advance.ts'
import { RecordedIssuesError } from '../open/recorded-issues-error.ts'
import { Breaker } from '../request/model-fallback.ts'
import type { Engine } from '../run.ts'
import { Suspended } from '../suspended.ts'
import { createReplayStore } from './replay-store.ts'
import { type RecordOfKind, ReplayTape } from './replay-tape.ts'

/**
 * Maximum number of replayed processes in a row without a new record. Such processes occur, for example, if the end of
 * the run was recorded by another run.
 */
const MAX_BARREN = 3

/** Contract: returns the records that the engine produces, up to the end of the recording or the first divergence. */
export async function replayRun(
  engine: Engine,
  dispatch: Dispatch,
  past: readonly JournalRecord[],
  records: readonly JournalRecord[],
): Promise<readonly JournalRecord[]> {
  const tape = new ReplayTape(records, past)
  for (let barren = 0; barren < MAX_BARREN && !tape.isOver(); ) {
    const before = tape.committedRecords().length
    await replayProcess(engine, dispatch, tape)
    barren = tape.committedRecords().length > before ? 0 : barren + 1
  }
  return tape.committedRecords()
}

type Controllers = [AbortController, AbortController, AbortController, AbortController]

/** Replays one process of the run, until the run ends, is released, or the process was killed. */
async function replayProcess(engine: Engine, dispatch: Dispatch, tape: ReplayTape): Promise<void> {
  const [drain, abort, afterStep, immediate] = Array.from({ length: 4 }, () => new AbortController()) as Controllers
  const died = new Promise<void>((resolve) =>
    tape.restart({
      kill: resolve,
      release: () => drain.abort('replay'),
      interrupt(why) {
        if (why === 'stopping') drain.abort('replay')
        abort.abort(new Interruption(why))
      },
      cancelAfterStep: () => afterStep.abort('replay'),
    }),
  )
  const ended = tape.whyEndedHere()
  if (ended === 'cancelled') immediate.abort(new Interruption(ended))
  else if (ended) abort.abort(new Interruption(ended))
  const setup = tape.setup()
  const isolated: Engine = {
    ...engine,
    store: createReplayStore(dispatch, tape),
    clock: recordedClock(tape),
    ids: { next: () => 'replay' },
    models: recordedModels(tape, setup),
    breaker: new Breaker(),
    envs: { open: async () => recordedEnv(tape) },
    tools: new Map(
      [...setup.tools, ...lazyTools(engine)].map((name) => [name, recordedTool(tape, name, engine.tools.get(name))]),
    ),
    critics: () => setup.critics.map((name) => recordedCritic(tape, name)),
    behaviours: {
      get: (agent, name) => ({ ...engine.behaviours.get(agent, name), tools: setup.tools, critics: [] }),
    },
    hooks: () => recordedHooks(tape),
    // Records are already redacted. A secret added later must not change the replay.
    secrets: NO_SECRETS,
    snapshots: NO_SNAPSHOTS,
    skills: { brief: async () => ({ skills: setup.skills ?? [], instructions: setup.instructions ?? null }) },
    sink: { onRunOpened() {}, onRecord() {}, onRunClosed() {}, delta() {} },
    budget: setup.budget,
    replaySource: {
      onRecord: (record) => tape.addRecord(record),
      recoveredResult({ index }) {
        // In the recording, the run waited here for a person's answer and was resumed with a different configuration.
        if (tape.isReconfiguredNext() || tape.wasKilledInPhase('act')) throw new Suspended(ENDED_HERE)
        return tape.settled(index)?.result
      },
      heldResult: (index) => tape.heldResult(index),
      modelId() {
        const next = tape.next()
        if (next?.kind === 'failed') throw recordedError(next)
        return tape.find('model_requested')?.model ?? setup.model ?? 'none'
      },
      reservedUsd: () => tape.find('model_requested')?.reserved,
      costUsd: () => tape.find('model_answered')?.usd,
      fallback: () => tape.fallback(),
      approvedCalls: () => tape.approvedCalls(),
      nextIntent() {
        if (tape.wasKilledInPhase('act')) throw new Suspended(ENDED_HERE)
        return tape.nextIntent()
      },
      recordedLabel: (index) => tape.recordedLabel(index),
      recalledFacts: () => tape.nextInput()?.recalled,
    },
  }
  const replayed = { ...dispatch, metadata: { ...dispatch.metadata, ...recordedOverrides(tape, setup) } }
  const cancelling = { afterStep: afterStep.signal, immediate: immediate.signal }
  const finished = advanceDispatch(isolated, replayed, { drain: drain.signal, abort: abort.signal }, cancelling).then(
    () => {},
    () => tape.diverge(),
  )
  await Promise.race([finished, died])
}

/** A wait that ends the replayed process at a point at which the recorded process was killed without a wait. */
const ENDED_HERE: Wait = { kind: 'unknown', unknown_id: '', until: null, reason: 'replay' }

const lazyTools = ({ tools }: Engine): readonly string[] =>
  [...tools.values()].flatMap(({ name, lazy }) => (lazy ? [name] : []))

const recordedOverrides = ({ behaviour }: ReplayTape, { parser, memory, budget }: RunSetup) => ({
  behaviour,
  parser,
  memory,
  budget: { ...budget },
  resources: [],
})

function recordedEnv(tape: ReplayTape): Env {
  const issues = tape.issues()
  if (issues) throw new RecordedIssuesError(issues)
  return EMPTY_ENV
}

const EMPTY_ENV: Env = {
  root: '/',
  groups: ['file', 'process', 'git'],
  getOps: () => undefined,
  health: async () => ({ ok: true }),
  close: async () => {},
}

/** now() returns the time of the next record; a step takes as long as in the recording. */
function recordedClock(tape: ReplayTape): Clock {
  return { now: () => tape.now(), monotonic: () => tape.monotonic(), sleep: () => new Promise(() => {}) }
}

/** The functions below do what the next record on the tape says. */
function recordedModels(tape: ReplayTape, { model, fallback = [] }: RunSetup): Models {
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
      const next = tape.next()
      if (next?.kind === 'model_answered') return next.answer
      if (next?.kind === 'failed') throw recordedError(next)
      return abortOrDie(tape, next)
    },
  }
}

function recordedError({ code, message, ruling, ts }: RecordOfKind<'failed'>): TirelessError {
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

function recordedTool(tape: ReplayTape, name: string, known: AnyTool | undefined): AnyTool {
  return {
    name,
    description: known?.description ?? '',
    args: known?.args ?? (z.unknown() as unknown as AnyTool['args']),
    ...(known?.volatile ? { volatile: known.volatile } : {}),
    ...(known?.argumentDescriptions ? { argumentDescriptions: known.argumentDescriptions } : {}),
    ...(known?.parameters ? { parameters: known.parameters } : {}),
    ...(known?.lazy ? { lazy: true } : {}),
    ...(known?.meant ? { meant: known.meant } : {}),
    effect: (args) => known?.effect(args) ?? tape.find('call_intended')?.effect ?? { recovery: 'once', reach: 'none' },
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
      if (!settled || tape.isReconfiguredNext() || tape.wasKilledInPhase('act') || tape.issues()) return tape.die()
      const why = settled.result.status === 'interrupted' ? tape.interruptionOf(tape.find('step_committed')) : undefined
      // Interrupt one tick later, so that parallel calls have started, as in the recorded run.
      if (why) await Promise.resolve().then(() => tape.interrupt(why))
      return settled.result
    },
  }
}

const callIndex = (call: string): number => Number(call.slice(call.lastIndexOf('.') + 1))

function recordedCritic(tape: ReplayTape, name: string): Critic {
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
      const recorded = tape.find('step_committed')?.verdicts?.find(({ critic }) => critic === name)
      return recorded?.verdict ?? { kind: 'continue' }
    },
  }
}

/** Only hooks that failed are replayed: each fails again at the same moment. */
function recordedHooks(tape: ReplayTape): readonly Hook[] {
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
