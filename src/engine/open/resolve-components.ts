/**
 * Resolves the components of a run (models, parser, memory, tools, critics) by the names in its behaviour, its task or
 * the configuration. open-run.ts sets them up.
 */

import { type NamedBehaviour, parseBehaviourName } from '../../domain/behaviour-name.ts'
import type { Issue } from '../../domain/decision.ts'
import type { RunSetup } from '../../domain/journal-record.ts'
import { selectedModelFor } from '../../domain/model-selection.ts'
import { type Briefing, NO_BRIEFING } from '../../domain/skill.ts'
import { type TaskOverrides, taskOverridesFrom } from '../../domain/task.ts'
import type { Behaviour, Critic } from '../../ports/behaviour.ts'
import type { MemoryKind } from '../../ports/memory.ts'
import type { Model, ModelQuery, Models } from '../../ports/model.ts'
import type { Parser } from '../../ports/parser.ts'
import { READ_SKILL_TOOL } from '../../ports/skills.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { limitToParent } from '../calls/delegation.ts'
import { createToolbox } from '../request/toolbox.ts'
import type { ClaimedRun } from '../run.ts'
import type { SessionThread } from '../session/session-thread.ts'
import { createIssue } from './preflight.ts'
import type { SetupScope } from './setup-scope.ts'

/** An issue has been recorded for each component that is undefined, except the parser: `native` needs none. */
export interface RunComponents {
  readonly overrides: TaskOverrides
  readonly behaviour: Behaviour | undefined
  /** The parameters with which the task names its first behaviour. */
  readonly params: NamedBehaviour['params']
  /** The models that may be called, in order of preference. */
  readonly models: readonly Model[]
  readonly parser: Parser | undefined
  readonly memory: MemoryKind | undefined
  readonly toolbox: ReadonlyMap<string, AnyTool>
  readonly critics: readonly Critic[]
  readonly setup: RunSetup
}

export async function resolveComponents(claim: ClaimedRun, opening: SetupScope): Promise<RunComponents> {
  const { engine, dispatch, thread } = claim
  const isFirstOpening = thread.ended
  const wishes = taskOverridesFrom(dispatch.metadata, engine.budget)
  const chosen = await opening.attempt('TASK_BEHAVIOUR_UNKNOWN', () => chooseBehaviour(claim, wishes))
  const { behaviour, params = {} } = chosen ?? {}
  const selected = selectedModelFor(dispatch.metadata, await engine.store.selections())
  const wanted = { model: wishes.model, agent: dispatch.agent_id, selected }
  const chain = (await opening.attempt('TASK_MODEL_UNKNOWN', () => modelsFor(engine.models, wanted, behaviour))) ?? []
  const briefing = await briefingOf(claim)
  const envTools = wishes.env === undefined ? [] : (engine.envs.toolsOf?.(wishes.env) ?? [])
  const names = {
    parser: behaviour?.parser ?? wishes.parser ?? 'native',
    memory: behaviour?.memory ?? wishes.memory ?? 'whole',
    tools: addReadSkill([...new Set([...(behaviour?.tools ?? []), ...envTools])], briefing.skills.length > 0),
  }
  const parser = engine.parsers.get(names.parser)
  if (names.parser !== 'native' && !parser)
    opening.issues.push(unknownName('TASK_PARSER_UNKNOWN', names.parser, engine.parsers))
  const memory = engine.memories.get(names.memory)
  if (!memory) opening.issues.push(unknownName('TASK_MEMORY_UNKNOWN', names.memory, engine.memories))
  // A tool of an MCP server that has not been queried yet is loaded here.
  const { discoverTool } = engine
  const isNew = isFirstOpening || thread.work.chosen !== undefined
  const undiscovered = isNew ? names.tools.filter((name) => !engine.tools.has(name)) : []
  for (const name of discoverTool ? undiscovered : [])
    await opening.setUp(
      'TASK_TOOL_UNKNOWN',
      async () => discoverTool?.(name),
      () => {},
    )
  const toolbox = createToolbox(names.tools, engine.tools)
  // When a run is resumed, a missing tool is no issue: only its calls are refused.
  if (isNew)
    for (const name of names.tools)
      if (!toolbox.has(name)) opening.issues.push(unknownName('TASK_TOOL_UNKNOWN', name, engine.tools))
  const critics = [...engine.critics(), ...(behaviour?.critics ?? [])]
  const setup: RunSetup = {
    model: chain[0]?.id ?? null,
    ...(chain.length > 1 ? { fallback: chain.slice(1).map(({ id }) => id) } : {}),
    parser: names.parser,
    memory: names.memory,
    critics: critics.map(({ name }) => name),
    tools: [...toolbox.keys()],
    state_version: behaviour?.state?.version ?? 0,
    budget: wishes.budget,
    ...(briefing.skills.length > 0 ? { skills: briefing.skills } : {}),
    ...(briefing.instructions === null ? {} : { instructions: briefing.instructions }),
    ...(briefing.role === null ? {} : { role: briefing.role }),
  }
  return { overrides: wishes, behaviour, params, models: chain, parser, memory, toolbox, critics, setup }
}

/** The behaviour of a run that was started: the one that its last step chose, else the one that it is in. */
export const nextBehaviourOf = ({ work, behaviour }: SessionThread): string => work.chosen?.behaviour ?? behaviour ?? ''

interface ChosenBehaviour {
  readonly behaviour: Behaviour
  readonly params?: NamedBehaviour['params']
}

const DEFAULT: Partial<NamedBehaviour> = {}

function chooseBehaviour({ engine, dispatch, thread }: ClaimedRun, wishes: TaskOverrides): ChosenBehaviour {
  const get = (name?: string): Behaviour =>
    limitToParent(engine.behaviours.get(dispatch.agent_id, name), dispatch.metadata)
  if (!thread.ended) return { behaviour: get(nextBehaviourOf(thread)) }
  const { name, params } = wishes.behaviour === undefined ? DEFAULT : parseBehaviourName(wishes.behaviour)
  const named = get(name)
  // A run without a task was created for messages, which may have a behaviour of their own.
  if (dispatch.prompt !== '' || named.onMessage === undefined) return { behaviour: named, ...(params && { params }) }
  return { behaviour: get(named.onMessage) }
}

/** Skills and instructions are read at the start of a run; a resumed run keeps what was read then. */
async function briefingOf({ engine, dispatch, thread }: ClaimedRun): Promise<Briefing> {
  const { skills = [], instructions = null, role = null } = thread.setup ?? {}
  if (!thread.ended) return { skills, instructions, role }
  const session = await engine.store.session(dispatch.session_id)
  return session ? engine.skills.brief(dispatch.agent_id, session.workspace) : NO_BRIEFING
}

/** An agent with skills can always read them, even if its tools are limited. */
const addReadSkill = (tools: readonly string[], hasSkills: boolean): readonly string[] =>
  hasSkills && !tools.includes(READ_SKILL_TOOL) ? [...tools, READ_SKILL_TOOL] : tools

/**
 * A behaviour with decide() may never call a model, so a missing model is reported only when the behaviour calls it.
 */
async function modelsFor(
  models: Models,
  wanted: ModelQuery,
  behaviour: Behaviour | undefined,
): Promise<readonly Model[]> {
  const [isFirstOpening = models.defaultId, ...others] = await models.fallbackChain(wanted)
  try {
    return [models.get(isFirstOpening), ...others.flatMap((id) => loadModel(models, id))]
  } catch (thrown) {
    if (wanted.model !== undefined || !behaviour?.decide) throw thrown
    return [{ id: isFirstOpening, call: () => Promise.reject(thrown) }]
  }
}

/** Skips a fallback model that cannot be loaded; `models list` shows the reason. */
function loadModel(models: Models, id: string): readonly Model[] {
  try {
    return [models.get(id)]
  } catch {
    return []
  }
}

function unknownName(code: string, name: string, known: ReadonlyMap<string, unknown>): Issue {
  return createIssue(code, `got ${name}; expected one of ${[...known.keys()].join(', ')}`)
}
