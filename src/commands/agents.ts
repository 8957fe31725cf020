/** Agents: create one from a sentence; list, enable and disable them in the files that define them. */

import { z } from 'zod'
import { DEFAULT_AGENT } from '../domain/agent.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { isOfflineModel } from '../ports/model.ts'
import {
  agentIdInput,
  agentOptions,
  escapeVariables,
  modelKey,
  scheduleJson,
  scheduleOption,
} from './lib/agent-keys.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import {
  agentShape,
  costOfAgent,
  DESCRIBE_NEEDS,
  type DescribeNeeds,
  describeAgent,
  describeDefined,
  spendOfWeek,
} from './lib/describe-agent.ts'
import { findWatched } from './lib/find-watched.ts'
import { parseSentence, writePromptForSentence } from './lib/parse-agent-sentence.ts'
import { planSchedule, SCHEDULE_NEEDS, taskOf } from './lib/understand-schedule.ts'

/** What `agent new` and `agent edit` say back. */
export const agentWithSummary = agentShape.extend({
  understood: z.string().optional().describe('when the agent runs, in words, with the next times and the cost'),
  next: z.array(z.string()).optional(),
  runs_per_day: z.number().optional(),
  usd_per_run: z.number().nullable().optional().describe('forecast; null: the price of the model is unknown'),
  usd_per_day: z.number().nullable().optional(),
  needs_yes: z
    .enum(['proposed', 'often'])
    .nullable()
    .optional()
    .describe('why you have to agree: a model read the sentence; it runs often and costs money'),
  dry_run: z.boolean().describe('nothing was changed'),
})

export const agentList = defineCommand({
  name: 'agent list',
  summary: 'list agents with schedule, last run and next run',
  example: 'agent list',
  runsIn: 'any_process',
  needs: [...DESCRIBE_NEEDS, 'residents'],
  input: z.object({}),
  output: z.object({
    items: z.array(agentShape),
    others: z
      .array(z.object({ agent_id: z.string(), kind: z.enum(['resident', 'built_in']), usd_week: z.number() }))
      .describe('residents, and the built-in agent of tasks that name none'),
  }),
  async run(context) {
    const spend = await spendOfWeek(context)
    const agents = context.agentDirectory.all().map(({ agent }) => agent.agent_id)
    const other = (agent_id: string, kind: 'resident' | 'built_in') => ({
      ...{ agent_id, kind, usd_week: costOfAgent(spend, agent_id) },
    })
    return {
      items: await Promise.all(agents.map((id) => describeAgent(context, id, spend))),
      others: [
        ...context.residents.names().map((id) => other(id, 'resident')),
        ...(agents.includes(DEFAULT_AGENT) ? [] : [other(DEFAULT_AGENT, 'built_in')]),
      ],
    }
  },
})

const newInput = z.object({
  sentence: z.string().regex(/\S/, 'a sentence').describe('what the agent does, and when'),
  id: z.string().min(1).optional().describe('agent id; default: made from the sentence'),
  ...agentOptions,
  here: z.string().optional().describe('folder meant by "my repo"').meta({ path: true, here: true }),
  keep_files: z.boolean().default(false).describe('let the agent have the files that its folder has already'),
})

const NEW_NEEDS = [...SCHEDULE_NEEDS, ...DESCRIBE_NEEDS, 'agents', 'machine', 'homeSetup', 'tools'] as const

export const agentNew = defineCommand({
  name: 'agent new',
  summary: 'create an agent from a sentence, such as "watch my repo and report every morning"',
  example: 'agent new "watch my repo and report every morning"',
  runsIn: 'any_process',
  needs: NEW_NEEDS,
  positional: ['sentence'],
  input: newInput,
  output: agentWithSummary.extend({
    workspace: z.string(),
    watch: z.array(z.unknown()).describe('what it watches for changes'),
    watch_missing: z.boolean().describe('the sentence asks to watch something, and names nothing to watch'),
    beyond_model: z.boolean().describe('its model is the offline one, which cannot do what the sentence says'),
    tools: z.array(z.string()).nullable().describe('null: all tools that the policy allows'),
    create: z
      .object({
        ...{ sentence: z.string(), id: z.string(), schedule: z.string(), model: z.string().optional() },
        ...{ watch: z.string().optional(), here: z.string().optional(), yes: z.literal(true) },
        keep_files: z.boolean(),
      })
      .describe('the input by which `agent new` creates exactly this agent'),
  }),
  async run(context, input, tell) {
    const { agentId, keys, task, said } = await planAgent(context, input)
    if (said.watch_missing)
      tell({
        kind: 'note',
        text: `Found nothing to watch in the sentence. Set it: tireless agent edit ${agentId} --watch PATH`,
        zh: `句子中没有可关注的路径。设置：tireless agent edit ${agentId} --watch PATH`,
      })
    const dry_run = input.dry_run
    if (!dry_run) {
      context.agentDirectory.add(agentId, keys)
      context.kernel.reloadSchedules()
    }
    const entry = dry_run
      ? await describeDefined(context, context.agentDirectory.tryAdd(agentId, keys), [])
      : await describeAgent(context, agentId)
    const beyond_model = isBeyondModel(context, entry.uses_model, task)
    if (beyond_model) tell({ kind: 'note', ...BEYOND_MODEL })
    return { ...entry, ...said, beyond_model, dry_run }
  },
})

const BEYOND_MODEL = {
  text:
    'The offline model cannot do this: it follows fixed rules, and would only write down what the agent sees. ' +
    'Set a model: on the page in Settings → Models, or see tireless models list',
  zh:
    '离线模型做不了这件事：它按固定的规则工作，只会把智能体看到的内容写下来。' +
    '请设置一个模型：在页面的“设置 → 模型”里，或见 tireless models list',
}

function isBeyondModel({ models, tools }: Needs<'models' | 'tools'>, model: string, task: string): boolean {
  if (!isOfflineModel(model)) return false
  const offered = tools().filter(({ isOffered }) => isOffered)
  return (
    models.get(model).canDo?.(
      task,
      offered.map(({ name }) => name),
    ) === false
  )
}

/** Contract: what `agent new` writes and says; a dry run says it and writes nothing. */
async function planAgent(
  context: Needs<(typeof NEW_NEEDS)[number]>,
  { sentence, id, schedule, model, watch, here, yes, dry_run, keep_files }: z.output<typeof newInput>,
) {
  if (id !== undefined && !keep_files) refuseFilesLeft(context, id)
  const parsed = parseSentence(sentence)
  const { entry: watched, workspace: found } = await findWatched(context, parsed, watch, here)
  const agentId = id ?? freeId(context, parsed.id)
  const task = taskOf(context, sentence)
  // In a folder that it watches, its reports have a place of their own, which is not watched.
  const prompt = writePromptForSentence(task, watched !== undefined, found && `reports/${agentId}.md`)
  const wanted = { sentence, schedule, model, prompt, yes: yes || dry_run }
  const { spec, ...summary } = await planSchedule(context, wanted)
  const workspace = found ?? `workspaces/${agentId}`
  const keys: Record<string, Json> = {
    ...(spec === null ? { only_on_change: true } : { schedule: scheduleJson(spec) }),
    ...(watched === undefined ? {} : { watch: [watched] }),
    ...modelKey(context, model),
    workspace,
    prompt: escapeVariables(prompt),
  }
  const said = {
    ...{ ...summary, workspace, tools: null, watch: watched === undefined ? [] : [watched] },
    watch_missing: watched === undefined && (parsed.watches || parsed.repository || parsed.inbox),
    create: {
      sentence,
      id: agentId,
      schedule: scheduleOption(spec),
      model,
      watch,
      here,
      keep_files,
      yes: true as const,
    },
  }
  return { agentId, keys, task, said }
}

const switchCommand = (name: 'agent enable' | 'agent disable', summary: string, enabled: boolean) =>
  defineCommand({
    name,
    summary,
    example: `${name} writer`,
    runsIn: 'any_process',
    needs: DESCRIBE_NEEDS,
    positional: ['id'],
    input: z.object({ id: agentIdInput }),
    output: agentShape,
    async run(context: DescribeNeeds, { id }) {
      context.agentDirectory.change(id, [{ path: ['enabled'], value: enabled }])
      context.kernel.reloadSchedules()
      return describeAgent(context, id)
    },
  })

export const agentEnable = switchCommand('agent enable', 'enable an agent', true)
export const agentDisable = switchCommand('agent disable', 'disable an agent; its current run continues', false)

/** An unused id whose folder has no files: `wanted`, or `wanted` with a number appended. */
function freeId(context: Needs<'agents' | 'agentDirectory'>, wanted: string): string {
  const taken = new Set(context.agents().map((id) => id.toLowerCase()))
  const numbered = (n: number): string => (n === 1 ? wanted : `${wanted}-${n}`)
  const isTaken = (id: string): boolean =>
    taken.has(id.toLowerCase()) || context.agentDirectory.filesLeft(id).length > 0
  let n = 1
  while (isTaken(numbered(n))) n += 1
  return numbered(n)
}

/** What lies in an agent's folder is its own: role.md says who it is, self.md what it wrote, others what it can do. */
function refuseFilesLeft({ agentDirectory }: Needs<'agentDirectory'>, id: string): void {
  const files = agentDirectory.filesLeft(id)
  const isTaken = agentDirectory.all().some(({ agent }) => agent.agent_id.toLowerCase() === id.toLowerCase())
  // That an agent has this id already is said elsewhere.
  if (files.length === 0 || isTaken) return
  throw new TirelessError('conflict', {
    what: `the folder agents/${id} has files that the new agent would have from its start; nothing was created`,
    got: files.join(', '),
    fix: 'choose another --id, move the files away, or add --keep-files to let the agent have them',
  })
}
