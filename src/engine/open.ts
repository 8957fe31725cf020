/**
 * INIT: a claimed dispatch becomes a run. Everything it will need is found, set up and checked before its first OBSERVE; what was set up
 * is taken down again in reverse, however the run goes.
 * Must not know: what a behaviour, a model or a tool does.
 */

import type { Issue } from '../domain/decision.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import { copyJson, type Json } from '../domain/json.ts'
import { patchOf } from '../domain/patch.ts'
import type { Budget } from '../domain/task.ts'
import type { Behaviour } from '../ports/behaviour.ts'
import type { Env } from '../ports/env.ts'
import type { Memory, MemoryKind, PastTurn } from '../ports/memory.ts'
import type { Cancelling } from './advance.ts'
import { callPlugin, callPluginLater, invalidReturn, type Method, tellPlugin } from './ask-plugin.ts'
import { type Fittings, findFittings } from './fittings.ts'
import { Interruption, whyInterrupted } from './interruption.ts'
import { Leaving } from './leaving.ts'
import { Opening } from './opening.ts'
import { pastTurnOf } from './past.ts'
import { tellHooks } from './phase.ts'
import { enter, leave } from './place.ts'
import { envIssues, resourceIssues, taskIssues } from './preflight.ts'
import { checkState } from './reduce.ts'
import { type Claimed, type Run, record, type Watched } from './run.ts'

interface Taken {
  readonly watched: Watched
  close(): Promise<void>
}

export type Opened =
  | { readonly kind: 'opened'; readonly run: Run; close(): Promise<void> }
  | ({ readonly kind: 'refused'; readonly issues: readonly Issue[] } & Taken)
  /** It was parked or cut short, and this program does not have the behaviour that it is to go on with. */
  | ({ readonly kind: 'behaviour_missing'; readonly behaviour: string } & Taken)
  /** It was called off before it was set up. */
  | ({ readonly kind: 'called_off'; readonly why: Interruption['why']; readonly budget: Budget } & Taken)

/** Contract: throws only what the store throws. Nobody waits for what hangs while it is set up. */
export async function openRun(held: Claimed, abort: AbortSignal, cancelling: Cancelling): Promise<Opened> {
  const { clock, hooks } = held.engine
  const { afterStep, immediate } = cancelling
  const [late, time] = [new AbortController(), new AbortController()]
  const signal = AbortSignal.any([abort, immediate, time.signal])
  // No step is under way yet that it would have to end with.
  const patience = new Leaving(AbortSignal.any([signal, afterStep, late.signal]), clock)
  const opening = new Opening(patience)
  const watched: Watched = { ...held, hooks: hooks(), slow: new Set() }
  const isCancelled = (): boolean => afterStep.aborted || immediate.aborted
  const first = held.thread.ended
  const fittings = await findFittings(held, opening)
  const { behaviour, memory: kind, wishes, ...rest } = fittings
  if (!first && !behaviour && !isCancelled() && !signal.aborted && !held.engine.replaying) {
    patience.close()
    return { kind: 'behaviour_missing', behaviour: held.thread.behaviour ?? '', watched, close: () => opening.close() }
  }
  if (first) await begin(watched, fittings, opening)
  else if (!isCancelled()) await takeUp(held, fittings, opening)
  const inTime = limit(held, wishes.budget, late)
  // Also where something is wrong already: whoever mends a task is told everything that is wrong with it at once.
  const env = isCancelled() || signal.aborted ? undefined : await setUp(held, fittings, opening, first)
  inTime()
  patience.close()
  const taken: Taken = { watched, close: () => opening.close() }
  const { issues } = opening
  if (!env && (isCancelled() || issues.length === 0)) {
    const why = isCancelled() ? 'cancelled' : (whyInterrupted(signal) ?? whyInterrupted(late.signal) ?? 'stopping')
    return { kind: 'called_off', why, budget: wishes.budget, ...taken }
  }
  const [model] = fittings.chain
  const isKnown = held.engine.replaying !== undefined && !env
  const memory =
    kind && !isKnown
      ? await opening.attempt('TASK_MEMORY_UNUSABLE', () => remembering(kind, held.thread.past))
      : undefined
  if (!behaviour || !model || !memory || !env || issues.length > 0) return { kind: 'refused', issues, ...taken }
  const workspace = await enter(held)
  opening.afterwards(() => leave(held, workspace))
  const leaving = new Leaving(signal, clock)
  opening.afterwards(() => leaving.close())
  // To be set up is no work yet.
  opening.afterwards(limit(held, wishes.budget, time))
  const made = { ...rest, wishes, behaviour, model, memory, env, workspace }
  const run: Run = { ...watched, ...made, signal, leaving, phase: 'observe' }
  return { kind: 'opened', run, close: taken.close }
}

/** What is left of its time from now on; returned is how to stop the watch. */
function limit({ engine, thread }: Claimed, { ms }: Budget, time: AbortController): () => void {
  const over = new AbortController()
  if (ms !== null && ms > 0)
    void engine.clock
      .sleep(Math.max(0, ms - thread.spent.ms), over.signal)
      .then(() => over.signal.aborted || time.abort(new Interruption('time')))
  return () => over.abort('over')
}

async function begin(run: Watched, { behaviour, wishes, setup }: Fittings, opening: Opening): Promise<void> {
  const { dispatch_id: run_id, agent_id, prompt: task, metadata } = run.dispatch
  const state =
    behaviour && (await opening.attempt('TASK_STATE_INVALID', () => initialState(behaviour, task, metadata)))
  record(run, {
    ...{ kind: 'run_started', run_id, agent_id, behaviour: behaviour?.name ?? '', task, setup },
    ...(state == null ? {} : { state }),
  })
  await tellHooks(run, 'on_run_start', {})
  // What was wrong with a recorded run is in its recording.
  if (!run.engine.replaying) opening.issues.push(...taskIssues(task, wishes.budget))
}

function initialState(behaviour: Behaviour, task: string, metadata: Dispatch['metadata']): Json {
  const method = { who: `behaviour ${behaviour.name}`, method: 'initState' }
  const state = callPlugin(method, () => behaviour.initState(task, metadata))
  return state === null ? null : checkState(behaviour, 'initState', state)
}

/** The program, or its configuration, may have been changed while the run slept: then the journal says so. */
async function takeUp(held: Claimed, { behaviour, setup }: Fittings, opening: Opening): Promise<void> {
  if (!behaviour) return
  await opening.attempt('TASK_STATE_INVALID', () => migrate(held, behaviour))
  if (JSON.stringify(setup) !== JSON.stringify(held.thread.setup)) record(held, { kind: 'refitted', setup })
}

/** Its state is brought to the version that the behaviour knows, once. */
function migrate(held: Claimed, behaviour: Behaviour): void {
  const { thread } = held
  const { state: shape } = behaviour
  if (!shape || shape.version === thread.stateVersion) return
  if (!shape.migrate) throw new Error(`no way from state version ${thread.stateVersion} to ${shape.version}`)
  const migrated = checkState(behaviour, 'state.migrate', shape.migrate(copyJson(thread.state), thread.stateVersion))
  const patch = patchOf(thread.state, migrated)
  record(held, { kind: 'migrated', version: shape.version, ...(patch === undefined ? {} : { patch }) })
}

/** Undefined: something is wrong, or it was left behind. */
async function setUp(
  held: Claimed,
  { wishes, toolbox }: Fittings,
  opening: Opening,
  first: boolean,
): Promise<Env | undefined> {
  // Not left behind: the store always comes to an end.
  const workspace = await opening.attempt('ENV_SETUP_FAILED', () => workspaceOf(held))
  if (workspace === undefined) return undefined
  const env = await opening.setUp(
    'ENV_SETUP_FAILED',
    async () => checkedEnv(await callPluginLater(OPEN_ENV, () => held.engine.envs.open(workspace, wishes.env))),
    (late) => late.close(),
  )
  if (!env) return undefined
  const found = async (code: string, look: () => Promise<readonly Issue[]>): Promise<void> => {
    opening.issues.push(...((await opening.setUp(code, look, () => {})) ?? []))
  }
  if (first) await found('TASK_RESOURCE_INVALID', () => resourceIssues(env, wishes.resources, opening.isWhole))
  await found('ENV_HEALTH_CHECK_FAILED', () => envIssues(env, toolbox.values()))
  for (const tool of toolbox.values())
    if (opening.isWhole)
      await opening.setUp(
        'ENV_TOOL_SETUP_FAILED',
        () => callPluginLater({ who: `tool ${tool.name}`, method: 'setup' }, () => tool.setup?.({ env })),
        () => tool.teardown?.({ env }),
      )
  return opening.isWhole ? env : undefined
}

const OPEN_ENV: Method = { who: 'envs', method: 'open' }

/** What is missing of it would show only when a tool asks for it. */
function checkedEnv(opened: unknown): Env {
  const env = opened as Partial<Env> | null | undefined
  const isWhole =
    typeof env?.root === 'string' &&
    Array.isArray(env.groups) &&
    (['getOps', 'health', 'close'] as const).every((name) => typeof env[name] === 'function')
  if (isWhole) return env as Env
  const expected = 'an env: { root, groups, getOps(), health(), close() }'
  throw invalidReturn({ ...OPEN_ENV, expected }, opened)
}

async function workspaceOf({ engine, dispatch }: Claimed): Promise<string> {
  const session = await engine.store.session(dispatch.session_id)
  if (!session) throw new Error(`dispatch ${dispatch.dispatch_id} has no session ${dispatch.session_id}`)
  return session.workspace
}

const METHODS = ['reset', 'append', 'retrieve', 'evict'] as const satisfies readonly (keyof Memory)[]

function remembering(kind: MemoryKind, past: readonly PastTurn[]): Memory {
  const who = `memory ${kind.name}`
  const memory = callPlugin({ who, method: 'open' }, () => kind.open()) as Memory
  const missing = METHODS.find((name) => typeof memory?.[name] !== 'function')
  if (missing !== undefined)
    throw invalidReturn({ who, method: 'open', expected: `an object with ${METHODS.join(', ')}` }, memory)
  tellPlugin({ who, method: 'reset' }, () => memory.reset())
  for (const turn of past) tellPlugin({ who, method: 'append' }, () => memory.append(pastTurnOf(turn)))
  return memory
}
