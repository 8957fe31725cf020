/**
 * INIT: a claimed dispatch becomes a run. Everything it will need is found, set up and checked before its first OBSERVE; what was set up
 * is taken down again in reverse, however the run goes.
 * Must not know: what a behaviour, a model or a tool does.
 */

import type { Issue } from '../domain/decision.ts'
import type { Json } from '../domain/json.ts'
import { patchOf } from '../domain/patch.ts'
import type { Behaviour } from '../ports/behaviour.ts'
import type { Env } from '../ports/env.ts'
import type { Memory, MemoryKind, PastTurn } from '../ports/memory.ts'
import { type Fittings, findFittings } from './fittings.ts'
import { Leaving } from './leaving.ts'
import { Opening } from './opening.ts'
import { tellHooks, type Watched } from './phase.ts'
import { envIssues, resourceIssues, taskIssues } from './preflight.ts'
import { checkState } from './reduce.ts'
import { type Claimed, type Run, record } from './run.ts'

export type Opened =
  | { readonly kind: 'opened'; readonly run: Run; close(): Promise<void> }
  | { readonly kind: 'refused'; readonly issues: readonly Issue[]; readonly watched: Watched; close(): Promise<void> }

/** Contract: throws only what the store throws. */
export async function openRun(held: Claimed, signal: AbortSignal): Promise<Opened> {
  const opening = new Opening()
  const { issues } = opening
  const close = (): Promise<void> => opening.close()
  const watched: Watched = { ...held, hooks: held.engine.hooks(), slow: new Set() }
  const first = held.thread.ended
  const fittings = await findFittings(held, opening)
  if (first) await begin(watched, fittings, opening)
  else await takeUp(held, fittings, opening)
  const env = issues.length === 0 ? await setUp(held, fittings, opening, first) : undefined
  const { behaviour, memory: kind, ...rest } = fittings
  const [model] = fittings.chain
  const memory = kind && (await opening.attempt('TASK_MEMORY_UNUSABLE', () => remembering(kind, held.thread.past)))
  if (!behaviour || !model || !memory || !env || issues.length > 0) return { kind: 'refused', issues, watched, close }
  const leaving = new Leaving(signal, held.engine.clock)
  opening.afterwards(() => leaving.close())
  const run: Run = { ...watched, ...rest, behaviour, model, memory, env, signal, leaving, phase: 'observe' }
  return { kind: 'opened', run, close }
}

async function begin(run: Watched, { behaviour, wishes, setup }: Fittings, opening: Opening): Promise<void> {
  const { dispatch_id: run_id, agent_id, prompt: task } = run.dispatch
  const state = behaviour && (await opening.attempt('TASK_STATE_INVALID', () => initialState(behaviour, task)))
  record(run, {
    ...{ kind: 'run_started', run_id, agent_id, behaviour: behaviour?.name ?? '', task, setup },
    ...(state == null ? {} : { state }),
  })
  await tellHooks(run, 'on_run_start', {})
  opening.issues.push(...taskIssues(task, wishes.budget))
}

function initialState(behaviour: Behaviour, task: string): Json {
  const state = behaviour.initState(task)
  return state === null ? null : checkState(behaviour.state, state)
}

/** The program, or its configuration, may have been changed while the run slept: then the journal says so. */
async function takeUp(held: Claimed, { behaviour, setup }: Fittings, opening: Opening): Promise<void> {
  if (!behaviour) return
  await opening.attempt('TASK_STATE_INVALID', () => migrate(held, behaviour))
  if (JSON.stringify(setup) !== JSON.stringify(held.thread.setup)) record(held, { kind: 'refitted', setup })
}

/** Its state is brought to the version that the behaviour knows, once. */
function migrate(held: Claimed, { state: shape }: Behaviour): void {
  const { thread } = held
  if (!shape || shape.version === thread.stateVersion) return
  if (!shape.migrate) throw new Error(`no way from state version ${thread.stateVersion} to ${shape.version}`)
  const migrated = checkState(shape, shape.migrate(structuredClone(thread.state), thread.stateVersion))
  const patch = patchOf(thread.state, migrated)
  record(held, { kind: 'migrated', version: shape.version, ...(patch === undefined ? {} : { patch }) })
}

async function setUp(
  held: Claimed,
  { wishes, toolbox }: Fittings,
  opening: Opening,
  first: boolean,
): Promise<Env | undefined> {
  const { issues } = opening
  const env = await opening.attempt('ENV_SETUP_FAILED', () => openEnv(held, wishes.env))
  if (!env) return undefined
  opening.afterwards(() => env.close())
  const found = async (code: string, look: () => Promise<readonly Issue[]>): Promise<void> => {
    issues.push(...((await opening.attempt(code, look)) ?? []))
  }
  if (first) await found('TASK_RESOURCE_INVALID', () => resourceIssues(env, wishes.resources))
  await found('ENV_HEALTH_CHECK_FAILED', () => envIssues(env, toolbox.values()))
  for (const tool of toolbox.values()) {
    if (issues.length > 0) break
    await opening.attempt('ENV_TOOL_SETUP_FAILED', async () => {
      await tool.setup?.({ env })
      opening.afterwards(() => tool.teardown?.())
    })
  }
  return env
}

async function openEnv({ engine, dispatch }: Claimed, kind: string | undefined): Promise<Env> {
  const session = await engine.store.session(dispatch.session_id)
  if (!session) throw new Error(`dispatch ${dispatch.dispatch_id} has no session ${dispatch.session_id}`)
  return engine.envs.open(session.workspace, kind)
}

function remembering(kind: MemoryKind, past: readonly PastTurn[]): Memory {
  const memory = kind.open()
  memory.reset()
  for (const turn of past) memory.append(turn)
  return memory
}
