/**
 * INIT: a claimed dispatch becomes a run. Everything it will need is found, set up and checked before its first OBSERVE; what was set up
 * is taken down again in reverse, however the run goes.
 * Must not know: what a behaviour, a model or a tool does.
 */

import type { Issue } from '../domain/decision.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { patchOf } from '../domain/patch.ts'
import type { Setup } from '../domain/record.ts'
import { wishesOf } from '../domain/task.ts'
import type { Behaviour } from '../ports/behaviour.ts'
import type { Env } from '../ports/env.ts'
import type { Memory, MemoryKind, PastTurn } from '../ports/memory.ts'
import type { Model } from '../ports/model.ts'
import type { AnyTool } from '../ports/tool.ts'
import { Leaving } from './leaving.ts'
import { tellHooks, type Watched } from './phase.ts'
import { envIssues, issue, resourceIssues, taskIssues } from './preflight.ts'
import { checkState } from './reduce.ts'
import { type Claimed, type Run, record } from './run.ts'
import { Unfit } from './unfit.ts'

export type Opened =
  | { readonly kind: 'opened'; readonly run: Run; close(): Promise<void> }
  | { readonly kind: 'refused'; readonly issues: readonly Issue[]; readonly watched: Watched; close(): Promise<void> }

/** Contract: throws only what the store throws. `first`: the run begins with this. */
export async function openRun(held: Claimed, signal: AbortSignal): Promise<Opened> {
  const { engine, dispatch, thread } = held
  const first = thread.ended
  const takeDown: (() => Promise<void>)[] = []
  const close = async (): Promise<void> => {
    for (const work of takeDown.splice(0).reverse()) await work().catch(() => {})
  }
  const watched: Watched = { ...held, hooks: engine.hooks(), slow: new Set() }
  const issues: Issue[] = []
  const attempt = async <T>(code: string, work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (thrown) {
      const error = asTirelessError(thrown)
      if (error.code.startsWith('store_')) throw error
      if (thrown instanceof Unfit) issues.push(...thrown.issues)
      else issues.push(issue(code, `${error.code}: ${error.message}`))
      return undefined
    }
  }

  const wishes = wishesOf(dispatch.metadata, engine.budget)
  const behaviour = await attempt('TASK_BEHAVIOUR_UNKNOWN', () =>
    engine.behaviours.get(dispatch.agent_id, first ? wishes.behaviour : thread.behaviour),
  )
  const model = await attempt('TASK_MODEL_UNKNOWN', () => modelFor(held, wishes.model, behaviour))
  const parserName = behaviour?.parser ?? wishes.parser ?? 'native'
  const parser = engine.parsers.get(parserName)
  if (parserName !== 'native' && !parser) issues.push(unknownName('TASK_PARSER_UNKNOWN', parserName, engine.parsers))
  const memoryName = behaviour?.memory ?? wishes.memory ?? 'whole'
  const kind = engine.memories.get(memoryName)
  if (!kind) issues.push(unknownName('TASK_MEMORY_UNKNOWN', memoryName, engine.memories))
  const toolbox = new Map(
    (behaviour?.tools ?? []).flatMap((name): [string, AnyTool][] => {
      const tool = engine.tools.get(name)
      return tool ? [[name, tool]] : []
    }),
  )
  // Later on one may be gone: then only its calls are refused.
  if (first)
    for (const name of behaviour?.tools ?? [])
      if (!toolbox.has(name)) issues.push(unknownName('TASK_TOOL_UNKNOWN', name, engine.tools))
  const critics = [...engine.critics(), ...(behaviour?.critics ?? [])]
  const state =
    first && behaviour ? await attempt('TASK_STATE_INVALID', () => initialState(behaviour, dispatch.prompt)) : null
  const setup: Setup = {
    model: model?.id ?? null,
    parser: parserName,
    memory: memoryName,
    critics: critics.map(({ name }) => name),
    tools: [...toolbox.keys()],
    state_version: behaviour?.state?.version ?? 0,
    budget: wishes.budget,
  }
  if (first) {
    record(held, {
      kind: 'run_started',
      run_id: dispatch.dispatch_id,
      agent_id: dispatch.agent_id,
      behaviour: behaviour?.name ?? '',
      task: dispatch.prompt,
      setup,
      ...(state == null ? {} : { state }),
    })
    await tellHooks(watched, 'on_run_start', {})
    issues.push(...taskIssues(dispatch.prompt, wishes.budget))
  } else if (behaviour) {
    await attempt('TASK_STATE_INVALID', () => migrate(held, behaviour))
    // The program, or its configuration, was changed while the run slept.
    if (JSON.stringify(setup) !== JSON.stringify(thread.setup)) record(held, { kind: 'refitted', setup })
  }

  const env = issues.length === 0 ? await attempt('ENV_SETUP_FAILED', () => openEnv(held, wishes.env)) : undefined
  if (env) {
    takeDown.push(async () => env.close())
    if (first)
      await attempt('TASK_RESOURCE_INVALID', async () => issues.push(...(await resourceIssues(env, wishes.resources))))
    await attempt('ENV_HEALTH_CHECK_FAILED', async () => issues.push(...(await envIssues(env, toolbox.values()))))
    for (const tool of toolbox.values()) {
      if (issues.length > 0) break
      await attempt('ENV_TOOL_SETUP_FAILED', async () => {
        await tool.setup?.({ env })
        if (tool.teardown) takeDown.push(async () => tool.teardown?.())
      })
    }
  }
  const memory = kind && (await attempt('TASK_MEMORY_UNUSABLE', () => remembering(kind, thread.past)))
  if (!behaviour || !model || !memory || !env || issues.length > 0) return { kind: 'refused', issues, watched, close }
  const leaving = new Leaving(signal, engine.clock)
  takeDown.push(async () => leaving.close())
  const run: Run = {
    ...watched,
    behaviour,
    wishes,
    model,
    parser,
    memory,
    env,
    toolbox,
    critics,
    signal,
    leaving,
    phase: 'observe',
  }
  return { kind: 'opened', run, close }
}

/** Whoever decides for itself may never ask one: that there is none shows when it does. */
function modelFor({ engine }: Claimed, wanted: string | undefined, behaviour: Behaviour | undefined): Model {
  try {
    return engine.models.get(wanted)
  } catch (thrown) {
    if (wanted !== undefined || !behaviour?.decide) throw thrown
    return { id: engine.models.defaultId, call: () => Promise.reject(thrown) }
  }
}

function unknownName(code: string, name: string, known: ReadonlyMap<string, unknown>): Issue {
  return issue(code, `got ${name}; expected one of ${[...known.keys()].join(', ')}`)
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

function initialState(behaviour: Behaviour, task: string): Json {
  const state = behaviour.initState(task)
  return state === null ? null : checkState(behaviour.state, state)
}

/** The program was changed while the run slept: its state is brought to the version that the behaviour knows, once, in the journal. */
function migrate(held: Claimed, { state: shape }: Behaviour): void {
  const { thread } = held
  if (!shape || shape.version === thread.stateVersion) return
  if (!shape.migrate) throw new Error(`no way from state version ${thread.stateVersion} to ${shape.version}`)
  const migrated = checkState(shape, shape.migrate(structuredClone(thread.state), thread.stateVersion))
  const patch = patchOf(thread.state, migrated)
  record(held, { kind: 'migrated', version: shape.version, ...(patch === undefined ? {} : { patch }) })
}
