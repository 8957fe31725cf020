/** Agents: create one from a sentence; list, change, enable and disable them in the files that define them. */

import { z } from 'zod'
import { type Agent, isOnCall, type WatchSpec } from '../domain/agent.ts'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { writeDuration } from '../domain/duration.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { ScheduleSpec } from '../domain/schedule.ts'
import { iso } from '../ports/clock.ts'
import { defineCommand } from './lib/command.ts'
import type { ConfigChange, Needs } from './lib/context.ts'
import { type ParsedSentence, parseSentence, writePromptForSentence } from './lib/parse-agent-sentence.ts'
import { planSchedule, SCHEDULE_NEEDS } from './lib/understand-schedule.ts'

const scheduleShape = z.union([z.string(), z.object({ every: z.number() }), z.object({ at: z.string() })]).nullable()

export const agentShape = z.object({
  agent_id: z.string(),
  enabled: z.boolean(),
  on_call: z.boolean().describe('runs only when it is written to or given a task'),
  schedule: scheduleShape,
  priority: z.number(),
  source: z.string().describe('file that defines the agent'),
  only_on_change: z.boolean().describe('runs only if something that it sees changes'),
  last_status: z.enum(DISPATCH_STATUSES).nullable(),
  last_run_at: z.string().nullable(),
  next_at: z.string().nullable(),
  prompt: z.string(),
})

type AgentEntry = z.input<typeof agentShape>

const agentWithSummary = agentShape.extend({
  understood: z.string().optional().describe('when the agent runs, in words, with the next times and the cost'),
  next: z.array(z.string()).optional(),
  runs_per_day: z.number().optional(),
  usd_per_day: z.number().nullable().optional(),
})

type DescribeNeeds = Needs<'store' | 'kernelId' | 'kernel' | 'settings' | 'agentDirectory'>

export async function describeAgent(
  { store, kernelId, kernel, settings, agentDirectory: roster }: DescribeNeeds,
  id: string,
): Promise<AgentEntry> {
  const found = roster.all().find(({ agent }) => agent.agent_id === id)
  if (!found) throw new TirelessError('internal', `agent ${id} disappeared during the command`)
  const { agent_id, enabled, schedule, priority, prompt } = found.agent
  const [last] = await store.recent(kernelId, id, 1)
  const next = kernel.nextBeatOf(id)
  const isPlanned = settings().planner.mode !== 'static'
  return {
    ...{ agent_id, enabled, on_call: isOnCall(found.agent), priority, prompt, source: found.file },
    schedule: typeof schedule === 'object' && schedule !== null ? { ...schedule } : schedule,
    // Every planner but the static one passes over an agent that would see nothing new.
    only_on_change: schedule === null && (isPlanned || found.agent.only_on_change === true),
    last_status: last?.status ?? null,
    last_run_at: last?.created_at ?? null,
    next_at: next === undefined ? null : iso(next),
  }
}

export const agentList = defineCommand({
  name: 'agent list',
  summary: 'list agents with schedule, last run and next run',
  example: 'agent list',
  runsIn: 'any_process',
  needs: ['agentDirectory', 'kernel', 'kernelId', 'settings', 'store'],
  input: z.object({}),
  output: z.object({ items: z.array(agentShape) }),
  async run(context) {
    return {
      items: await Promise.all(context.agentDirectory.all().map(({ agent }) => describeAgent(context, agent.agent_id))),
    }
  },
})

export const agentIdInput = z.string().min(1).describe('agent id').meta({ idOf: 'agent' })

const SCHEDULE_HELP =
  'when to run: words ("every weekday at 9"), a cron line, "30m", an instant; "none": only if something changes'

/** Options of both `agent new` and `agent edit`. */
const sharedInput = {
  schedule: z.string().min(1).optional().describe(SCHEDULE_HELP),
  yes: z
    .boolean()
    .default(false)
    .describe('agree to a schedule that runs often or that a model read')
    .meta({ short: 'y' }),
  model: z.string().min(1).optional().describe('provider/model; "none": the default model'),
  watch: z
    .string()
    .min(1)
    .optional()
    .describe('file, folder or git work tree to watch for changes')
    .meta({ path: true }),
}

export const agentNew = defineCommand({
  name: 'agent new',
  summary: 'create an agent from a sentence, such as "watch my repo and report every morning"',
  example: 'agent new "watch my repo and report every morning"',
  runsIn: 'any_process',
  needs: [...SCHEDULE_NEEDS, 'agentDirectory', 'agents', 'kernel', 'machine'],
  positional: ['sentence'],
  input: z.object({
    sentence: z.string().regex(/\S/, 'a sentence').describe('what the agent does, and when'),
    id: z.string().min(1).optional().describe('agent id; default: made from the sentence'),
    ...sharedInput,
    here: z.string().optional().describe('folder meant by "my repo"').meta({ path: true, here: true }),
  }),
  output: agentWithSummary,
  async run(context, { sentence, id, schedule, model, watch, here, yes }, tell) {
    const parsed = parseSentence(sentence)
    const watched = await findWatched(context, parsed, watch, here)
    const agentId = id ?? freeId(context, parsed.id)
    if (watched === undefined && (parsed.watches || parsed.repository))
      tell({
        kind: 'note',
        text: `Found nothing to watch in the sentence. Set it: tireless agent edit ${agentId} --watch PATH`,
        zh: `句子中没有可关注的路径。设置：tireless agent edit ${agentId} --watch PATH`,
      })
    const prompt = writePromptForSentence(sentence, watched !== undefined)
    const { spec, ...summary } = await planSchedule(context, { sentence, schedule, model, prompt, yes })
    const wanted: Record<string, Json> = {
      ...(spec === null ? { only_on_change: true } : { schedule: scheduleJson(spec) }),
      ...(watched === undefined ? {} : { watch: [watched] }),
      ...modelKey(context, model),
      workspace: `workspaces/${agentId}`,
      prompt: escapeVariables(prompt),
    }
    context.agentDirectory.add(agentId, wanted)
    context.kernel.reloadSchedules()
    return { ...(await describeAgent(context, agentId)), ...summary }
  },
})

export const agentEdit = defineCommand({
  name: 'agent edit',
  summary: 'change an agent; keeps comments in its file and writes no invalid configuration',
  example: 'agent edit writer --schedule "every morning"',
  runsIn: 'any_process',
  needs: [...SCHEDULE_NEEDS, 'agentDirectory', 'kernel', 'machine'],
  positional: ['id'],
  input: z.object({
    id: agentIdInput,
    prompt: z.string().regex(/\S/, 'a text').optional().describe('the agent’s prompt'),
    ...sharedInput,
    priority: z.int().optional().describe('higher runs first'),
    workspace: z
      .string()
      .min(1)
      .optional()
      .describe('workspace folder, relative to the home; "none": a new one for each run'),
  }),
  output: agentWithSummary,
  async run(context, { id, prompt, schedule, model, watch, priority, workspace, yes }) {
    const sentence = prompt ?? agentOf(context, id)?.prompt ?? ''
    const when =
      schedule === undefined
        ? undefined
        : await planSchedule(context, { sentence, schedule, model, prompt: sentence, yes })
    const changes: ConfigChange[] = [
      ...(prompt === undefined ? [] : [set('prompt', escapeVariables(prompt))]),
      ...(when === undefined ? [] : scheduleChanges(when.spec)),
      ...(model === undefined ? [] : [set('model', modelKey(context, model).model)]),
      ...(watch === undefined ? [] : [set('watch', [await watchEntry(context, watch, true)])]),
      ...(priority === undefined ? [] : [set('priority', priority)]),
      ...(workspace === undefined ? [] : [set('workspace', workspace === 'none' ? null : workspace)]),
    ]
    if (changes.length === 0)
      throw new TirelessError('usage', {
        what: 'no change given',
        expected: 'at least one of --prompt, --schedule, --priority, --model, --watch, --workspace',
        fix: `add one of them, or edit ${fileOf(context, id)}`,
      })
    const changed = await changeAgent(context, id, changes)
    if (when === undefined) return changed
    const { spec: _, ...summary } = when
    return { ...changed, ...summary }
  },
})

const idInput = z.object({ id: agentIdInput })

export const agentEnable = defineCommand({
  name: 'agent enable',
  summary: 'enable an agent',
  example: 'agent enable writer',
  runsIn: 'any_process',
  needs: ['agentDirectory', 'kernel', 'kernelId', 'settings', 'store'],
  positional: ['id'],
  input: idInput,
  output: agentShape,
  run: (context, { id }) => changeAgent(context, id, [set('enabled', true)]),
})

export const agentDisable = defineCommand({
  name: 'agent disable',
  summary: 'disable an agent; its current run continues',
  example: 'agent disable writer',
  runsIn: 'any_process',
  needs: ['agentDirectory', 'kernel', 'kernelId', 'settings', 'store'],
  positional: ['id'],
  input: idInput,
  output: agentShape,
  run: (context, { id }) => changeAgent(context, id, [set('enabled', false)]),
})

const set = (key: string, value: Json | undefined): ConfigChange => ({ path: [key], value })

async function changeAgent(context: DescribeNeeds, id: string, changes: readonly ConfigChange[]): Promise<AgentEntry> {
  context.agentDirectory.change(id, changes)
  context.kernel.reloadSchedules()
  return describeAgent(context, id)
}

/** Escapes `${`, which starts a variable in configuration files; the text of a prompt has no variables. */
const escapeVariables = (text: string): string => text.replaceAll('${', () => '$${')

const agentOf = ({ agentDirectory: roster }: Needs<'agentDirectory'>, id: string): Agent | undefined =>
  roster.all().find(({ agent }) => agent.agent_id === id)?.agent

function fileOf({ agentDirectory: roster }: Needs<'agentDirectory'>, id: string): string {
  return roster.all().find(({ agent }) => agent.agent_id === id)?.file ?? 'its file'
}

/** An unused id: `wanted`, or `wanted` with a number appended. */
function freeId(context: Needs<'agents'>, wanted: string): string {
  const taken = new Set(context.agents().map((id) => id.toLowerCase()))
  const numbered = (n: number): string => (n === 1 ? wanted : `${wanted}-${n}`)
  let n = 1
  while (taken.has(numbered(n))) n += 1
  return numbered(n)
}

/** As people write it in a file: `every: 2h`. */
function scheduleJson(spec: ScheduleSpec): Json {
  if (typeof spec === 'string') return spec
  return 'at' in spec ? { at: spec.at } : { every: writeDuration(spec.every) }
}

function scheduleChanges(spec: ScheduleSpec | null): readonly ConfigChange[] {
  return [
    set('schedule', spec === null ? undefined : scheduleJson(spec)),
    set('only_on_change', spec === null ? true : undefined),
  ]
}

function modelKey({ models }: Needs<'models'>, model: string | undefined): { readonly model?: string } {
  return model === undefined || model === 'none' ? {} : { model: models.get(model).id }
}

/** Finds the path to watch, in this order: option --watch, path in the sentence, folder of the caller. */
async function findWatched(
  context: Needs<'machine'>,
  { path, repository, thisFolder }: ParsedSentence,
  watch: string | undefined,
  here: string | undefined,
): Promise<Json | undefined> {
  if (watch !== undefined) return watchEntry(context, watch, true)
  if (path !== null) return watchEntry(context, context.machine.fullPath(path, here), repository)
  if (here === undefined || !(repository || thisFolder)) return undefined
  const top = repository ? await context.machine.workTreeAt(here) : undefined
  return top === undefined ? (thisFolder ? here : undefined) : { git: top }
}

/** `git`: if `path` is the top of a git work tree, watch it as a git repository. */
async function watchEntry(
  { machine }: Needs<'machine'>,
  path: string,
  git: boolean,
): Promise<Exclude<WatchSpec, readonly Json[]>> {
  if (!machine.pathExists(path))
    throw new TirelessError('usage', {
      what: 'there is nothing to watch at this path',
      got: path,
      expected: 'an existing file or folder',
      fix: 'create it first, or correct the path',
    })
  const top = git ? await machine.workTreeAt(path) : undefined
  return top === path ? { git: top } : path
}
