/**
 * Run: one claimed dispatch on its session. Holds what a step needs, and the only way it writes: record, then flush.
 * Must not know: who claimed it and why, which store, model or env is behind the ports.
 * Invariants: I1 (no run without a claimed dispatch), I3 (every write carries the fence), I9 (telling cannot fail the teller).
 */

import { createHash } from 'node:crypto'
import type { Dispatch } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { eventOf } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import type { JournalRecord, RecordBody } from '../domain/record.ts'
import type { Behaviour, Behaviours, Critic } from '../ports/behaviour.ts'
import type { Clock } from '../ports/clock.ts'
import type { Env, Envs } from '../ports/env.ts'
import type { Ids } from '../ports/ids.ts'
import type { Model, Models, ToolSpec } from '../ports/model.ts'
import type { Sink } from '../ports/sink.ts'
import { commitOne, type Fence, type Op, type ResultsOf, type Store } from '../ports/store.ts'
import type { AnyTool } from '../ports/tool.ts'
import { emptyThread, fold, type Thread } from './thread.ts'
import { specsOf } from './toolbox.ts'

export interface Engine {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly models: Models
  readonly envs: Envs
  readonly behaviours: Behaviours
  readonly tools: ReadonlyMap<string, AnyTool>
  readonly critics: () => readonly Critic[]
  readonly sink: Sink
  /** Steps a run may take; null: as many as it likes. */
  readonly maxSteps: number | null
}

/** A claimed dispatch and its session's journal: all it takes to write, also to end a run that cannot be opened. */
export interface Claimed {
  readonly engine: Engine
  readonly dispatch: Dispatch
  readonly fence: Fence
  readonly thread: Thread
  /** Records made and not yet on disk. */
  readonly unwritten: JournalRecord[]
}

export interface Run extends Claimed {
  readonly behaviour: Behaviour
  readonly model: Model
  readonly env: Env
  readonly toolbox: ReadonlyMap<string, AnyTool>
  /** What every request of this behaviour begins with, and its digest. */
  readonly prefix: { readonly system: string; readonly tools: readonly ToolSpec[]; readonly digest: string }
}

export function claimed(engine: Engine, dispatch: Dispatch, records: readonly JournalRecord[]): Claimed {
  const thread = emptyThread()
  for (const record of records) fold(thread, record)
  const fence = { dispatch_id: dispatch.dispatch_id, token: dispatch.token }
  return { engine, dispatch, fence, thread, unwritten: [] }
}

export async function openRun(held: Claimed): Promise<Run> {
  const { engine, dispatch, thread } = held
  const session = await engine.store.session(dispatch.session_id)
  if (!session)
    throw new TirelessError('not_found', `dispatch ${dispatch.dispatch_id} has no session ${dispatch.session_id}`)
  const behaviour = engine.behaviours.get(dispatch.agent_id, thread.ended ? undefined : thread.behaviour)
  const toolbox = new Map(
    behaviour.tools.flatMap((name) => (engine.tools.has(name) ? [[name, engine.tools.get(name) as AnyTool]] : [])),
  )
  const { model } = dispatch.metadata
  return {
    ...held,
    behaviour,
    model: engine.models.get(typeof model === 'string' ? model : undefined),
    env: await engine.envs.open(session.workspace),
    toolbox,
    prefix: prefixOf(behaviour.systemPrompt(), specsOf(toolbox)),
  }
}

function prefixOf(system: string, tools: readonly ToolSpec[]): Run['prefix'] {
  return {
    system,
    tools,
    digest: createHash('sha256')
      .update(JSON.stringify([system, tools]))
      .digest('hex'),
  }
}

export function record(run: Claimed, body: RecordBody): JournalRecord {
  const made = { ...body, seq: run.thread.head + 1, ts: run.engine.clock.now() } as JournalRecord
  fold(run.thread, made)
  run.unwritten.push(made)
  return made
}

/** Everything recorded so far, and `ops` with it, in one commit. When it returns, it is on disk. */
export async function flush<const Ops extends readonly Op[]>(run: Claimed, ops: Ops): Promise<ResultsOf<Ops>> {
  const { store } = run.engine
  const records = run.unwritten.splice(0)
  if (records.length === 0) return commitOne(store, ops, run.fence)
  const append = { op: 'append', session_id: run.dispatch.session_id, records } as const
  const [, ...results] = await commitOne(store, [append, ...ops], run.fence)
  for (const made of records) tell(run, made)
  return results as unknown as ResultsOf<Ops>
}

function tell(run: Claimed, made: JournalRecord): void {
  try {
    run.engine.sink.event(eventOf(run.dispatch.dispatch_id, run.dispatch.session_id, made))
  } catch {
    // I9: a sink that breaks its contract is its own problem.
  }
}

export function stateOf(run: Run): Json {
  return run.thread.state ?? run.behaviour.initState(run.dispatch.prompt)
}
