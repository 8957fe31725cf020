/**
 * A call that was intended by an earlier life of the program and never settled: what to do depends on its declared effect.
 * Invariants: pure and idempotent calls run again under the same key; reconcilable ones ask the world; `once` is never run again by
 * itself: the model hears of it where it can look for itself, a human where only a human can know.
 */

import type { CallResult } from '../domain/decision.ts'
import { afterCrash, whoHears } from '../domain/effect.ts'
import { assertNever, asTirelessError, TirelessError } from '../domain/error.ts'
import { copyJson } from '../domain/json.ts'
import type { Resolution, Unknown, UnknownStatus } from '../domain/unknown.ts'
import type { AnyTool, Probe } from '../ports/tool.ts'
import { checkReturn, invalidReturn } from './ask-plugin.ts'
import { checkedResult, contextOf, execute } from './execute.ts'
import { knownOf, unknownOf } from './interrupted.ts'
import { remainsPort } from './return-shapes.ts'
import { flush, type Run, record } from './run.ts'
import { Suspended } from './suspended.ts'
import type { Intended } from './thread.ts'

/** An interrupted call. `offered`: a tool that is not offered any more is not run any more, but can still say what is left. */
interface Interrupted {
  readonly run: Run
  readonly intended: Intended
  readonly tool: AnyTool | undefined
  readonly offered: AnyTool | undefined
  /** What the tool said of it, where it is not the program that was killed. */
  readonly said: string
}

export async function recoverCall(run: Run, intended: Intended, said = ''): Promise<CallResult> {
  const known = run.engine.replaying?.recovered(intended)
  if (known) return known
  const { tool: name } = intended.call
  const call = { run, intended, tool: run.engine.tools.get(name), offered: run.toolbox.get(name), said }
  const plan = call.offered ? afterCrash(intended.effect) : whoHears(intended.effect)
  switch (plan) {
    case 'rerun':
      return rerun(call)
    case 'probe':
      return afterProbe(call, await probe(call))
    case 'tell_model':
      return tellModel(call)
    case 'ask_human':
      return askHuman(call)
    default:
      return assertNever(plan)
  }
}

/** `why`: what kept it from being found out. */
type Found = Probe & { readonly why?: string }

function afterProbe(asked: Interrupted, found: Found): Promise<CallResult> | CallResult {
  const call = found.why === undefined ? asked : { ...asked, said: joined(asked.said, found.why) }
  switch (found.kind) {
    case 'happened':
      return found.result
    case 'not':
      return rerun(call)
    case 'unclear':
      return whoHears(call.intended.effect) === 'tell_model' ? tellModel(call) : askHuman(call)
    default:
      return assertNever(found)
  }
}

async function tellModel(call: Interrupted): Promise<CallResult> {
  const known = await knownOf(call.run, call.intended)
  // Listed once: a word that was said on it since must not be taken back.
  const { output_so_far } = known ?? (await listed(call, 'told_model'))
  return {
    status: 'unknown',
    content: `this call was cut short; nobody knows whether it took effect, and it was not run again. Look before you repeat it.\n${output_so_far}`,
  }
}

async function askHuman(call: Interrupted): Promise<CallResult> {
  const known = await knownOf(call.run, call.intended)
  if (known?.resolution) return afterWord(call, known.resolution)
  return waitForWord(call, known ?? (await listed(call, 'open')))
}

function waitForWord({ intended }: Interrupted, { id }: Unknown): never {
  const reason = `nobody knows whether ${intended.call.tool} took effect; tell with: unknowns resolve ${id} --as happened|not|recheck`
  throw new Suspended({ kind: 'unknown', unknown_id: id, until: null, reason })
}

async function afterWord(call: Interrupted, word: Resolution): Promise<CallResult> {
  switch (word) {
    case 'happened':
      return { status: 'ok', content: 'this call was cut short; the owner says it did take effect' }
    case 'not':
      return runAnew(call)
    case 'recheck': {
      const found = await probe(call)
      return found.kind === 'unclear' ? waitForWord(call, await listed(call, 'open')) : afterProbe(call, found)
    }
    default:
      return assertNever(word)
  }
}

/** Nothing is begun in a run that was interrupted: what it has found out is found out again by the next life. */
function stillGoing({ run }: Interrupted): void {
  if (run.signal.aborted) throw new TirelessError('aborted', 'the runtime was stopping')
}

/** The owner's word was about one attempt. The next one has an intent, and if need be an unknown outcome, of its own. */
async function runAnew(again: Interrupted): Promise<CallResult> {
  stillGoing(again)
  const { run, intended, offered } = again
  if (!offered)
    return { status: 'not_started', content: 'the owner says it did not take effect; the tool is not offered any more' }
  const { turn, index, call, effect } = intended
  const next = record(run, { kind: 'call_intended', turn, index, attempt: intended.attempt + 1, call, effect })
  await flush(run, [])
  return execute(run, offered, next as Intended)
}

function rerun(call: Interrupted): Promise<CallResult> | CallResult {
  // Not told as not started: an earlier life may have done it.
  stillGoing(call)
  const { run, intended, offered } = call
  return offered
    ? execute(run, offered, intended)
    : { status: 'not_started', content: 'it did not take effect, and the tool is not offered any more' }
}

async function probe(call: Interrupted): Promise<Found> {
  const { run, tool, intended } = call
  if (!tool?.probe) return { kind: 'unclear' }
  stillGoing(call)
  const context = contextOf(run, intended, run.signal)
  const { before = null, call: asked } = intended
  const ask = tool.probe.bind(tool, copyJson(asked.args) as never, copyJson(before), context)
  try {
    return checkedProbe(tool.name, await run.leaving.or(ask, leftBehind))
  } catch (thrown) {
    if (run.signal.aborted) throw new TirelessError('aborted', 'the runtime was stopping', { cause: thrown })
    // A world that cannot be asked is no answer. To end the run over it would leave the call neither settled nor listed.
    return { kind: 'unclear', why: `it could not be found out: ${asTirelessError(thrown).message}` }
  }
}

function checkedProbe(tool: string, found: unknown): Probe {
  const { kind, result } = (found ?? {}) as { readonly kind?: unknown; readonly result?: unknown }
  if (kind === 'not' || kind === 'unclear') return { kind }
  if (kind === 'happened') return { kind, result: checkedResult(tool, 'probe', result) }
  const expected = "{ kind: 'happened', result }, { kind: 'not' } or { kind: 'unclear' }"
  throw invalidReturn({ who: `tool ${tool}`, method: 'probe', expected }, found)
}

async function whatRemains(call: Interrupted): Promise<string> {
  const { run, tool, intended, said } = call
  if (!tool?.remains) return said
  stillGoing(call)
  const look = tool.remains.bind(tool, copyJson(intended.call.args) as never, contextOf(run, intended, run.signal))
  try {
    const left = checkReturn(remainsPort(tool.name), await run.leaving.or(look, leftBehind))
    return joined(said, left)
  } catch (thrown) {
    if (run.signal.aborted) throw new TirelessError('aborted', 'the runtime was stopping', { cause: thrown })
    return joined(said, `what is left of it could not be found out: ${asTirelessError(thrown).message}`)
  }
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n')

function leftBehind(): never {
  throw new TirelessError('aborted', 'the run was interrupted while a tool looked for what is left of a call')
}

/** Lists it, or lists it again after a word that led nowhere. */
async function listed(call: Interrupted, status: UnknownStatus): Promise<Unknown> {
  const unknown = unknownOf(call.run, call.intended, status, await whatRemains(call))
  await flush(call.run, [{ op: 'unknown', unknown }])
  return unknown
}
