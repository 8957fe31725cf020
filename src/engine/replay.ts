/**
 * Replay: a recorded run, lived again by the same engine with nothing outside it. Model, tools, critics, hooks, people and time say
 * what the journal says they said; everything else (behaviour, parser, memory, the engine itself) is done anew, and must come to the same.
 * Must not know: a store, a network, a clock.
 */

import { z } from 'zod'
import type { Dispatch } from '../domain/dispatch.ts'
import { type ErrorCode, TirelessError } from '../domain/error.ts'
import type { JournalRecord, Setup } from '../domain/record.ts'
import type { Wait } from '../domain/wait.ts'
import type { Critic } from '../ports/behaviour.ts'
import type { Clock } from '../ports/clock.ts'
import type { Env } from '../ports/env.ts'
import { HOOKED_PHASES, type Hook } from '../ports/hook.ts'
import { type Model, type Models, onlyModel } from '../ports/model.ts'
import { NO_SECRETS } from '../ports/secrets.ts'
import { NO_SNAPSHOTS } from '../ports/snapshots.ts'
import type { AnyTool } from '../ports/tool.ts'
import { advance } from './advance.ts'
import { Breaker } from './chain.ts'
import { Interruption } from './interruption.ts'
import { type Kind, Recording } from './recording.ts'
import { replayStore } from './replay-store.ts'
import type { Engine } from './run.ts'
import { Suspended } from './suspended.ts'
import { Unfit } from './unfit.ts'

/** Lives in a row that bring nothing new: then it goes in circles, because another run had the last word on this one. */
const MOST_BARREN = 3

/** Contract: the records that the engine makes of it; it ends where the recording ends, or where the two have parted. */
export async function replay(
  engine: Engine,
  dispatch: Dispatch,
  past: readonly JournalRecord[],
  records: readonly JournalRecord[],
): Promise<readonly JournalRecord[]> {
  const tape = new Recording(records, past)
  for (let barren = 0; barren < MOST_BARREN && !tape.over(); ) {
    const before = tape.produced().length
    await live(engine, dispatch, tape)
    barren = tape.produced().length > before ? 0 : barren + 1
  }
  return tape.produced()
}

type Controllers = [AbortController, AbortController, AbortController, AbortController]

/** One life of the run: until it ends, rests, or was killed. */
async function live(engine: Engine, dispatch: Dispatch, tape: Recording): Promise<void> {
  const [drain, abort, afterStep, immediate] = Array.from({ length: 4 }, () => new AbortController()) as Controllers
  const died = new Promise<void>((resolve) =>
    tape.begin({
      die: resolve,
      rest: () => drain.abort('replay'),
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
  const alone: Engine = {
    ...engine,
    store: replayStore(dispatch, tape),
    clock: clockOf(tape),
    ids: { next: () => 'replay' },
    models: modelsOf(tape, setup),
    breaker: new Breaker(),
    envs: { open: async () => envOf(tape) },
    tools: new Map(
      [...setup.tools, ...lazyIn(engine)].map((name) => [name, toolOf(tape, name, engine.tools.get(name))]),
    ),
    critics: () => setup.critics.map((name) => criticOf(tape, name)),
    behaviours: {
      get: (agent, name) => ({ ...engine.behaviours.get(agent, name), tools: setup.tools, critics: [] }),
    },
    hooks: () => hooksOf(tape),
    // What was recorded holds none; one that is known since then must not make it another.
    secrets: NO_SECRETS,
    snapshots: NO_SNAPSHOTS,
    skills: { brief: async () => ({ skills: setup.skills ?? [], instructions: setup.instructions ?? null }) },
    sink: { opened() {}, recorded() {}, closed() {}, delta() {} },
    budget: setup.budget,
    replaying: {
      made: (record) => tape.made(record),
      recovered({ index }) {
        // It waited for somebody's word, and had become something else when that came.
        if (tape.isTakenUpAnew() || tape.isHookedAnew('act')) throw new Suspended(CUT_SHORT)
        return tape.settled(index)?.result
      },
      held: (index) => tape.held(index),
      asked() {
        const next = tape.next()
        if (next?.kind === 'failed') throw failureOf(next)
        return tape.find('model_requested')?.model ?? setup.model ?? 'none'
      },
      reserved: () => tape.find('model_requested')?.reserved,
      cost: () => tape.find('model_answered')?.usd,
      standIn: () => tape.standIn(),
      approved: () => tape.approved(),
      intent() {
        if (tape.isHookedAnew('act')) throw new Suspended(CUT_SHORT)
        return tape.intent()
      },
      worth: (index) => tape.worth(index),
      recalled: () => tape.nextInput()?.recalled,
    },
  }
  const asked = { ...dispatch, metadata: { ...dispatch.metadata, ...wishesOf(tape, setup) } }
  const cancelling = { afterStep: afterStep.signal, immediate: immediate.signal }
  const lived = advance(alone, asked, { drain: drain.signal, abort: abort.signal }, cancelling).then(
    () => {},
    () => tape.part(),
  )
  await Promise.race([lived, died])
}

/** How a life ends that was killed where nothing is waited for. */
const CUT_SHORT: Wait = { kind: 'unknown', unknown_id: '', until: null, reason: 'replay' }

const lazyIn = ({ tools }: Engine): readonly string[] =>
  [...tools.values()].flatMap(({ name, lazy }) => (lazy ? [name] : []))

const wishesOf = ({ behaviour }: Recording, { parser, memory, budget }: Setup) => ({
  behaviour,
  parser,
  memory,
  budget: { ...budget },
  resources: [],
})

function envOf(tape: Recording): Env {
  const issues = tape.issues()
  if (issues) throw new Unfit(issues)
  return ENV
}

const ENV: Env = {
  root: '/',
  groups: ['file', 'process', 'git'],
  getOps: () => undefined,
  health: async () => ({ ok: true }),
  close: async () => {},
}

/** Time stands at what is being recorded; a step takes as long as it took. */
function clockOf(tape: Recording): Clock {
  return { now: () => tape.now(), monotonic: () => tape.monotonic(), sleep: () => new Promise(() => {}) }
}

/** Contract of all that follows: what comes next in the recording is what happened. */
function modelsOf(tape: Recording, { model, fallback = [] }: Setup): Models {
  const first = model ?? 'none'
  return {
    ...onlyModel(modelOf(tape, first)),
    get: (id = first) => modelOf(tape, id),
    chain: async () => [first, ...fallback],
  }
}

function modelOf(tape: Recording, id: string): Model {
  return {
    id,
    async call() {
      if (tape.isTakenUpAnew()) return tape.die()
      const next = tape.next()
      if (next?.kind === 'model_answered') return next.answer
      if (next?.kind === 'failed') throw failureOf(next)
      return interruptedOr(tape, next)
    },
  }
}

function failureOf({ code, message, ruling, ts }: Kind<'failed'>): TirelessError {
  const until = ruling.kind === 'retry' ? ruling.until : null
  return new TirelessError(code, message, { retryAfterMs: until === null ? undefined : until - ts })
}

/** The run was cut short here, or the program was killed: then nobody ever hears of it again. */
function interruptedOr<T>(tape: Recording, next: JournalRecord | undefined): Promise<T> {
  const why = tape.whyCutShort(next)
  if (!why) return tape.die()
  tape.interrupt(why)
  throw new TirelessError('aborted', 'cut short, as it was')
}

function toolOf(tape: Recording, name: string, known: AnyTool | undefined): AnyTool {
  return {
    name,
    description: known?.description ?? '',
    args: known?.args ?? (z.unknown() as unknown as AnyTool['args']),
    ...(known?.volatile ? { volatile: known.volatile } : {}),
    ...(known?.parameters ? { parameters: known.parameters } : {}),
    ...(known?.lazy ? { lazy: true } : {}),
    ...(known?.meant ? { meant: known.meant } : {}),
    effect: (args) => known?.effect(args) ?? tape.find('call_intended')?.effect ?? { recovery: 'once', reach: 'none' },
    async before(_, { call }) {
      const intended = tape.intended(indexOf(call))
      if (intended) return intended.before as never
      // It never came to the intent: the look before it failed.
      const settled = tape.settled(indexOf(call))?.result
      if (settled?.status === 'interrupted') tape.interrupt(tape.whyCutShort(tape.find('step_committed')) ?? 'stopping')
      const [, code = '', message = ''] = /^(\w+): (.*)$/s.exec(settled?.content ?? '') ?? []
      throw new TirelessError(code as ErrorCode, message)
    },
    async run(_, { call }) {
      const settled = tape.settled(indexOf(call))
      if (!settled || tape.isTakenUpAnew() || tape.isHookedAnew('act') || tape.issues()) return tape.die()
      const why = settled.result.status === 'interrupted' ? tape.whyCutShort(tape.find('step_committed')) : undefined
      // What stands beside it has begun by then, as it had when they were cut short.
      if (why) await Promise.resolve().then(() => tape.interrupt(why))
      return settled.result
    },
  }
}

const indexOf = (call: string): number => Number(call.slice(call.lastIndexOf('.') + 1))

function criticOf(tape: Recording, name: string): Critic {
  return {
    name,
    judge() {
      // The program was stopped while it was asked, and its turn was left as it was.
      if (tape.isPutDown() || tape.isHookedAnew('critic')) {
        tape.interrupt('stopping')
        throw new TirelessError('aborted', 'stopped, as it was')
      }
      const broke = tape.diagnosed(`critic ${name}`)
      if (broke) throw new TirelessError('plugin_failed', broke.message)
      const said = tape.find('step_committed')?.verdicts?.find(({ critic }) => critic === name)
      return said?.verdict ?? { kind: 'continue' }
    },
  }
}

/** Hooks only matter where they broke: each breaks again where it did. */
function hooksOf(tape: Recording): readonly Hook[] {
  const moments = [
    'on_run_start',
    'on_run_end',
    'on_recover',
    ...HOOKED_PHASES.flatMap((name) => [`on_before_${name}`, `on_after_${name}`]),
  ]
  return tape.brokenHooks().map((name) => {
    const told = (moment: string) => () => {
      const broke = tape.diagnosed(`hook ${name}: ${moment}`)
      if (broke) throw new Error(broke.message)
    }
    return { name, ...Object.fromEntries(moments.map((moment) => [moment, told(moment)])) } as Hook
  })
}
