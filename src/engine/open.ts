/**
 * INIT: opens a claimed dispatch as a run. All components are resolved, set up and checked before the first OBSERVE,
 * and closed in reverse order when the run ends.
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

interface UnopenedRun {
  readonly watched: Watched
  close(): Promise<void>
}

export type Opened =
  | { readonly kind: 'opened'; readonly run: Run; close(): Promise<void> }
  | ({ readonly kind: 'refused'; readonly issues: readonly Issue[] } & UnopenedRun)
  /** The run is to be resumed, but its behaviour is not installed. */
  | ({ readonly kind: 'behaviour_missing'; readonly behaviour: string } & UnopenedRun)
  /** The run was interrupted before its setup was complete. */
  | ({ readonly kind: 'called_off'; readonly why: Interruption['why']; readonly budget: Budget } & UnopenedRun)

/** Contract: rejects only with errors of the store. Setup work that hangs is abandoned. */
export async function openRun(claim: Claimed, abort: AbortSignal, cancelling: Cancelling): Promise<Opened> {
  const { clock, hooks } = claim.engine
  const { afterStep, immediate } = cancelling
  const [setupTimeLimit, timeLimit] = [new AbortController(), new AbortController()]
  const signal = AbortSignal.any([abort, immediate, timeLimit.signal])
  // No step is running yet, so "cancel after the step" takes effect at once.
  const setupGrace = new Leaving(AbortSignal.any([signal, afterStep, setupTimeLimit.signal]), clock)
  const opening = new Opening(setupGrace)
  const watched: Watched = { ...claim, hooks: hooks(), slow: new Set() }
  const isCancelled = (): boolean => afterStep.aborted || immediate.aborted
  const isFirstOpening = claim.thread.ended
  const fittings = await findFittings(claim, opening)
  const { behaviour, memory: kind, wishes, ...rest } = fittings
  if (!isFirstOpening && !behaviour && !isCancelled() && !signal.aborted && !claim.engine.replaying) {
    setupGrace.close()
    return { kind: 'behaviour_missing', behaviour: claim.thread.behaviour ?? '', watched, close: () => opening.close() }
  }
  if (isFirstOpening) await startRun(watched, fittings, opening)
  else if (!isCancelled()) await recordChanges(claim, fittings, opening)
  const stopTimer = startTimer(claim, wishes.budget, setupTimeLimit)
  // Continue even after an issue, so that all issues of a task are reported at once.
  const env = isCancelled() || signal.aborted ? undefined : await setUp(claim, fittings, opening, isFirstOpening)
  stopTimer()
  setupGrace.close()
  const unopened: UnopenedRun = { watched, close: () => opening.close() }
  const { issues } = opening
  if (!env && (isCancelled() || issues.length === 0)) {
    const why = isCancelled()
      ? 'cancelled'
      : (whyInterrupted(signal) ?? whyInterrupted(setupTimeLimit.signal) ?? 'stopping')
    return { kind: 'called_off', why, budget: wishes.budget, ...unopened }
  }
  const [model] = fittings.chain
  const isRecordedRefusal = claim.engine.replaying !== undefined && !env
  const memory =
    kind && !isRecordedRefusal
      ? await opening.attempt('TASK_MEMORY_UNUSABLE', () => openMemory(kind, claim.thread.past))
      : undefined
  if (!behaviour || !model || !memory || !env || issues.length > 0) return { kind: 'refused', issues, ...unopened }
  const workspace = await enter(claim)
  opening.afterwards(() => leave(claim, workspace))
  const leaving = new Leaving(signal, clock)
  opening.afterwards(() => leaving.close())
  // The time limit of the run starts after the setup.
  opening.afterwards(startTimer(claim, wishes.budget, timeLimit))
  const components = { behaviour, model, memory, env, workspace }
  const run: Run = { ...watched, ...rest, ...components, wishes, signal, leaving, phase: 'observe' }
  return { kind: 'opened', run, close: unopened.close }
}

/** Aborts `timeLimit` when the run's remaining time is over. Returns a function that stops the timer. */
function startTimer({ engine, thread }: Claimed, { ms }: Budget, timeLimit: AbortController): () => void {
  const stopped = new AbortController()
  if (ms !== null && ms > 0)
    void engine.clock
      .sleep(Math.max(0, ms - thread.spent.ms), stopped.signal)
      .then(() => stopped.signal.aborted || timeLimit.abort(new Interruption('time')))
  return () => stopped.abort('over')
}

async function startRun(run: Watched, { behaviour, wishes, setup }: Fittings, opening: Opening): Promise<void> {
  const { dispatch_id: run_id, agent_id, prompt: task, metadata } = run.dispatch
  const state =
    behaviour && (await opening.attempt('TASK_STATE_INVALID', () => initialState(behaviour, task, metadata)))
  record(run, {
    ...{ kind: 'run_started', run_id, agent_id, behaviour: behaviour?.name ?? '', task, setup },
    ...(state == null ? {} : { state }),
  })
  await tellHooks(run, 'on_run_start', {})
  // In a replay, the issues come from the recording.
  if (!run.engine.replaying) opening.issues.push(...taskIssues(task, wishes.budget))
}

function initialState(behaviour: Behaviour, task: string, metadata: Dispatch['metadata']): Json {
  const method = { who: `behaviour ${behaviour.name}`, method: 'initState' }
  const state = callPlugin(method, () => behaviour.initState(task, metadata))
  return state === null ? null : checkState(behaviour, 'initState', state)
}

/** Records changes of program or configuration since the run was parked. */
async function recordChanges(claim: Claimed, { behaviour, setup }: Fittings, opening: Opening): Promise<void> {
  if (!behaviour) return
  await opening.attempt('TASK_STATE_INVALID', () => migrate(claim, behaviour))
  if (JSON.stringify(setup) !== JSON.stringify(claim.thread.setup)) record(claim, { kind: 'refitted', setup })
}

/** Migrates the state to the behaviour's version, once. */
function migrate(claim: Claimed, behaviour: Behaviour): void {
  const { thread } = claim
  const { state: shape } = behaviour
  if (!shape || shape.version === thread.stateVersion) return
  if (!shape.migrate) throw new Error(`no migration from state version ${thread.stateVersion} to ${shape.version}`)
  const migrated = checkState(behaviour, 'state.migrate', shape.migrate(copyJson(thread.state), thread.stateVersion))
  const patch = patchOf(thread.state, migrated)
  record(claim, { kind: 'migrated', version: shape.version, ...(patch === undefined ? {} : { patch }) })
}

/** Contract: undefined if there is an issue or the setup was abandoned. */
async function setUp(
  claim: Claimed,
  { wishes, toolbox }: Fittings,
  opening: Opening,
  isFirstOpening: boolean,
): Promise<Env | undefined> {
  // Never abandoned: operations of the store always end.
  const workspace = await opening.attempt('ENV_SETUP_FAILED', () => workspaceOf(claim))
  if (workspace === undefined) return undefined
  const env = await opening.setUp(
    'ENV_SETUP_FAILED',
    async () => checkEnv(await callPluginLater(OPEN_ENV, () => claim.engine.envs.open(workspace, wishes.env))),
    (env) => env.close(),
  )
  if (!env) return undefined
  const addIssues = async (code: string, check: () => Promise<readonly Issue[]>): Promise<void> => {
    opening.issues.push(...((await opening.setUp(code, check, () => {})) ?? []))
  }
  if (isFirstOpening)
    await addIssues('TASK_RESOURCE_INVALID', () => resourceIssues(env, wishes.resources, opening.isWhole))
  await addIssues('ENV_HEALTH_CHECK_FAILED', () => envIssues(env, toolbox.values()))
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

/** Checks the object now; a missing method would otherwise fail in a later tool call. */
function checkEnv(opened: unknown): Env {
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

const MEMORY_METHODS = ['reset', 'append', 'retrieve', 'evict'] as const satisfies readonly (keyof Memory)[]

function openMemory(kind: MemoryKind, past: readonly PastTurn[]): Memory {
  const who = `memory ${kind.name}`
  const memory = callPlugin({ who, method: 'open' }, () => kind.open()) as Memory
  const missing = MEMORY_METHODS.find((name) => typeof memory?.[name] !== 'function')
  if (missing !== undefined)
    throw invalidReturn({ who, method: 'open', expected: `an object with ${MEMORY_METHODS.join(', ')}` }, memory)
  tellPlugin({ who, method: 'reset' }, () => memory.reset())
  for (const turn of past) tellPlugin({ who, method: 'append' }, () => memory.append(pastTurnOf(turn)))
  return memory
}
