/**
 * INIT: opens a claimed dispatch as a run. All components are resolved, set up and checked before the first OBSERVE,
 * and closed in reverse order when the run ends.
 * Must not know: what a behaviour, a model or a tool does.
 */

import type { Issue } from '../../domain/decision.ts'
import { copyJson, type Json } from '../../domain/json.ts'
import { patchBetween } from '../../domain/json-patch.ts'
import type { Budget } from '../../domain/task.ts'
import type { Behaviour } from '../../ports/behaviour.ts'
import { startTimer } from '../../ports/deadline.ts'
import type { Env } from '../../ports/env.ts'
import type { Memory, MemoryKind } from '../../ports/memory.ts'
import { Interruption, interruptionReason } from '../abort-reason.ts'
import type { CancelSignals } from '../advance.ts'
import { acquireWorkspace, releaseWorkspace } from '../calls/shared-workspace.ts'
import { GracePeriod } from '../grace-period.ts'
import { runHooks } from '../phases/phase.ts'
import { checkState } from '../phases/reduce.ts'
import { callPlugin, callPluginAsync, invalidReturnError, type PluginMethod } from '../plugins/ask-plugin.ts'
import { appendRecord, type ClaimedRun, type ObservedRun, type Run } from '../run.ts'
import { openMemory } from './open-memory.ts'
import { findEnvIssues, findResourceIssues } from './preflight.ts'
import { nextBehaviourOf, type RunComponents, resolveComponents } from './resolve-components.ts'
import { SetupScope } from './setup-scope.ts'

interface UnopenedRun {
  readonly watched: ObservedRun
  close(): Promise<void>
}

type OpenedRun =
  | { readonly kind: 'opened'; readonly run: Run; close(): Promise<void> }
  | ({ readonly kind: 'refused'; readonly issues: readonly Issue[] } & UnopenedRun)
  /** The run is to be resumed, but its behaviour is not installed. */
  | ({ readonly kind: 'behaviour_missing'; readonly behaviour: string } & UnopenedRun)
  /** The run was interrupted before its setup was complete. */
  | ({ readonly kind: 'called_off'; readonly why: Interruption['why']; readonly budget: Budget } & UnopenedRun)

/** Contract: rejects only with errors of the store. Setup work that hangs is abandoned. */
export async function openRun(claim: ClaimedRun, abort: AbortSignal, cancelling: CancelSignals): Promise<OpenedRun> {
  const { clock, hooks, sources } = claim.engine
  const { afterStep, immediate } = cancelling
  const [setupTimeLimit, timeLimit] = [new AbortController(), new AbortController()]
  const signal = AbortSignal.any([abort, immediate, timeLimit.signal])
  // No step is running yet, so "cancel after the step" takes effect at once.
  const setupGrace = new GracePeriod(AbortSignal.any([signal, afterStep, setupTimeLimit.signal]), clock)
  const opening = new SetupScope(setupGrace)
  try {
    const watched: ObservedRun = { ...claim, hooks: hooks(), slowHooks: new Set() }
    const isCancelled = (): boolean => afterStep.aborted || immediate.aborted
    const isFirstOpening = claim.thread.ended
    const fittings = await resolveComponents(claim, opening)
    const { behaviour, memory: kind, overrides: wishes, ...rest } = fittings
    if (!isFirstOpening && !behaviour && !isCancelled() && !signal.aborted && sources.start.waitsForBehaviour) {
      setupGrace.close()
      return {
        kind: 'behaviour_missing',
        behaviour: nextBehaviourOf(claim.thread),
        watched,
        close: () => opening.close(),
      }
    }
    if (isFirstOpening) await startRun(watched, fittings, opening)
    else if (claim.thread.work.chosen) await enterBehaviour(claim, fittings, opening)
    else if (!isCancelled()) await recordChanges(claim, fittings, opening)
    const stopTimer = startRunTimer(claim, wishes.budget, setupTimeLimit)
    opening.addCleanup(stopTimer)
    // Continue even after an issue, so that all issues of a task are reported at once.
    const env = isCancelled() || signal.aborted ? undefined : await setUp(claim, fittings, opening, isFirstOpening)
    const memory = kind && (await setUpMemory(claim, kind, opening))
    stopTimer()
    setupGrace.close()
    const unopened: UnopenedRun = { watched, close: () => opening.close() }
    if (!(env && memory) && (isCancelled() || opening.issues.length === 0)) {
      const why = isCancelled()
        ? 'cancelled'
        : (interruptionReason(signal) ?? interruptionReason(setupTimeLimit.signal) ?? 'stopping')
      return { kind: 'called_off', why, budget: wishes.budget, ...unopened }
    }
    const [model] = fittings.models
    const issues = sources.start.confirmIssues(opening.issues)
    if (!behaviour || !model || !memory || !env || issues.length > 0) return { kind: 'refused', issues, ...unopened }
    const workspace = await acquireWorkspace(claim)
    opening.addCleanup(() => releaseWorkspace(claim, workspace))
    const leaving = new GracePeriod(signal, clock)
    opening.addCleanup(() => leaving.close())
    // The time limit of the run starts after the setup.
    opening.addCleanup(startRunTimer(claim, wishes.budget, timeLimit))
    const isMemoryDeterministic = kind?.isDeterministic === true
    const components = { behaviour, model, memory, isMemoryDeterministic, env, workspace }
    const run: Run = { ...watched, ...rest, ...components, overrides: wishes, signal, grace: leaving, phase: 'observe' }
    return { kind: 'opened', run, close: unopened.close }
  } catch (thrown) {
    // A timer that is left would keep the process alive for as long as the run may take.
    setupGrace.close()
    await opening.close()
    throw thrown
  }
}

/** Aborts `timeLimit` when the run's remaining time is over. Returns a function that stops the timer. */
function startRunTimer({ engine, thread }: ClaimedRun, { ms }: Budget, timeLimit: AbortController): () => void {
  const left = ms !== null && ms > 0 ? Math.max(0, ms - thread.usage.ms) : Number.POSITIVE_INFINITY
  return startTimer(engine.clock, left, () => timeLimit.abort(new Interruption('time')))
}

async function startRun(
  run: ObservedRun,
  { behaviour, params, overrides: wishes, setup }: RunComponents,
  opening: SetupScope,
): Promise<void> {
  const { dispatch_id: run_id, agent_id, prompt: task } = run.dispatch
  const state =
    behaviour &&
    (await opening.attempt('TASK_STATE_INVALID', () => initialState(run, behaviour, previousState(run, behaviour))))
  const outputs = run.engine.sources.start.findOutputs(run.dispatch, setup)
  appendRecord(run, {
    ...{ kind: 'run_started', run_id, agent_id, behaviour: behaviour?.name ?? '', task, setup },
    ...(Object.keys(params).length === 0 ? {} : { params }),
    ...(outputs === undefined ? {} : { outputs }),
    ...(state == null ? {} : { state }),
    ...(behaviour?.next === undefined ? {} : { anew: true }),
  })
  await runHooks(run, 'on_run_start', {})
  opening.issues.push(...run.engine.sources.start.findTaskIssues(run, wishes.budget))
}

/** Enters the behaviour that the last step chose. */
async function enterBehaviour(claim: ClaimedRun, { behaviour, setup }: RunComponents, opening: SetupScope) {
  if (!behaviour) return
  const state = await opening.attempt('TASK_STATE_INVALID', () => initialState(claim, behaviour))
  appendRecord(claim, {
    ...{ kind: 'became', behaviour: behaviour.name, setup },
    ...(state == null ? {} : { state }),
  })
}

/** The last state of the session's previous run, if it had the same behaviour. */
const previousState = ({ thread }: ClaimedRun, { name }: Behaviour): Json | undefined =>
  thread.behaviour === name ? copyJson(thread.state) : undefined

function initialState({ dispatch }: ClaimedRun, behaviour: Behaviour, previous?: Json): Json {
  const { prompt: task, metadata } = dispatch
  const method = { who: `behaviour ${behaviour.name}`, method: 'initState' }
  const state = callPlugin(method, () => behaviour.initState(task, metadata, previous))
  return state === null ? null : checkState(behaviour, 'initState', state)
}

/** Records changes of program or configuration since the run was parked. */
async function recordChanges(
  claim: ClaimedRun,
  { behaviour, setup }: RunComponents,
  opening: SetupScope,
): Promise<void> {
  if (!behaviour) return
  await opening.attempt('TASK_STATE_INVALID', () => migrate(claim, behaviour))
  if (JSON.stringify(setup) !== JSON.stringify(claim.thread.setup)) appendRecord(claim, { kind: 'refitted', setup })
}

/** Migrates the state to the behaviour's version, once. */
function migrate(claim: ClaimedRun, behaviour: Behaviour): void {
  const { thread } = claim
  const { state: shape } = behaviour
  if (!shape || shape.version === thread.stateVersion) return
  if (!shape.migrate) {
    const versions = `from version ${thread.stateVersion} to ${shape.version}`
    throw new Error(`behaviour ${behaviour.name} cannot migrate its state ${versions}: it has no state.migrate`)
  }
  const migrated = checkState(behaviour, 'state.migrate', shape.migrate(copyJson(thread.state), thread.stateVersion))
  const patch = patchBetween(thread.state, migrated)
  appendRecord(claim, { kind: 'migrated', version: shape.version, ...(patch === undefined ? {} : { patch }) })
}

/** Opens the environment and sets up the tools. Contract: undefined if there is an issue or the setup was abandoned. */
async function setUp(
  claim: ClaimedRun,
  { behaviour, overrides: wishes, toolbox }: RunComponents,
  opening: SetupScope,
  isFirstOpening: boolean,
): Promise<Env | undefined> {
  // Reading the workspace is never abandoned, because operations of the store always end.
  const workspace = await opening.attempt('ENV_SETUP_FAILED', () => workspaceOf(claim))
  if (workspace === undefined) return undefined
  const env = await opening.setUp(
    'ENV_SETUP_FAILED',
    async () =>
      checkEnv(await callPluginAsync(OPEN_ENV, () => claim.engine.envs.open(workspace, wishes.env, behaviour?.access))),
    (env) => env.close(),
  )
  if (!env) return undefined
  const addIssues = async (code: string, check: () => Promise<readonly Issue[]>): Promise<void> => {
    opening.issues.push(...((await opening.setUp(code, check, () => {})) ?? []))
  }
  if (isFirstOpening)
    await addIssues('TASK_RESOURCE_INVALID', () => findResourceIssues(env, wishes.resources, opening.hasNoIssues))
  await addIssues('ENV_HEALTH_CHECK_FAILED', () => findEnvIssues(env, toolbox.values()))
  for (const tool of toolbox.values())
    if (opening.hasNoIssues)
      await opening.setUp(
        'ENV_TOOL_SETUP_FAILED',
        () => callPluginAsync({ who: `tool ${tool.name}`, method: 'setup' }, () => tool.setup?.({ env })),
        () => tool.teardown?.({ env }),
      )
  return opening.hasNoIssues ? env : undefined
}

const setUpMemory = (
  { engine, thread }: ClaimedRun,
  kind: MemoryKind,
  opening: SetupScope,
): Promise<Memory | undefined> =>
  opening.setUp(
    'TASK_MEMORY_UNUSABLE',
    () => openMemory(kind, thread.past, engine.clock),
    () => {},
  )

const OPEN_ENV: PluginMethod = { who: 'envs', method: 'open' }

/** Checks the methods of the environment now; a missing method would otherwise fail in a later tool call. */
function checkEnv(opened: unknown): Env {
  const env = opened as Partial<Env> | null | undefined
  const isWhole =
    typeof env?.root === 'string' &&
    Array.isArray(env.groups) &&
    (['getOps', 'health', 'close'] as const).every((name) => typeof env[name] === 'function')
  if (isWhole) return env as Env
  const expected = 'an env: { root, groups, getOps(), health(), close() }'
  throw invalidReturnError({ ...OPEN_ENV, expected }, opened)
}

async function workspaceOf({ engine, dispatch }: ClaimedRun): Promise<string> {
  const session = await engine.store.session(dispatch.session_id)
  if (!session) throw new Error(`dispatch ${dispatch.dispatch_id} has no session ${dispatch.session_id}`)
  return session.workspace
}
