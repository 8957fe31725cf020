/** Changes an agent in the files that define it; refuses to overwrite what was changed elsewhere meanwhile. */

import { z } from 'zod'
import type { Agent } from '../domain/agent.ts'
import { parseDuration, writeDuration } from '../domain/duration.ts'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { EXPECTED_DURATION } from '../domain/limits.ts'
import type { ScheduleSpec } from '../domain/schedule.ts'
import { agentWithSummary } from './agents.ts'
import type { AgentDocument } from './lib/agent-directory.ts'
import {
  agentIdInput,
  agentOptions,
  escapeVariables,
  modelKey,
  scheduleJson,
  scheduleOption,
  watchEntry,
} from './lib/agent-keys.ts'
import { revisionOf } from './lib/agent-revision.ts'
import { tellKept } from './lib/bring-back.ts'
import { defineCommand } from './lib/command.ts'
import type { ConfigChange, Needs } from './lib/context.ts'
import { DESCRIBE_NEEDS, describeAgent, describeDefined } from './lib/describe-agent.ts'
import { planSchedule, SCHEDULE_NEEDS } from './lib/understand-schedule.ts'

const EDIT_NEEDS = [...SCHEDULE_NEEDS, ...DESCRIBE_NEEDS, 'machine', 'tools'] as const

type EditContext = Needs<(typeof EDIT_NEEDS)[number]>

const text = z.string().regex(/\S/, 'a text').optional()

const editInput = z.object({
  id: agentIdInput,
  prompt: text.describe('the agent’s prompt'),
  ...agentOptions,
  schedule: z
    .string()
    .min(1)
    .optional()
    .describe(`${agentOptions.schedule.description ?? ''}; "beats": at every beat of the kernel`),
  priority: z.int().optional().describe('higher runs first'),
  workspace: z
    .string()
    .min(1)
    .optional()
    .describe('workspace folder, relative to the home; "none": a new one for each run'),
  tools: z
    .string()
    .min(1)
    .optional()
    .describe('the only tools it may use, separated by commas; "all": those that the policy allows; "none"'),
  timeout: z.string().min(1).optional().describe('time limit of a run, such as 30m; "none"; "default"'),
  cooldown: z.string().min(1).optional().describe('pause after a successful run, such as 30m; 0s: none'),
  description: text.describe('what other agents may give it to do; "none": it is not offered to them'),
  enabled: z.boolean().optional().describe('whether it runs'),
  role: z.string().optional().describe('the text of its role.md; empty: no such file; the text before is kept'),
  self: z.string().optional().describe('the text of its self.md; empty: no such file; the text before is kept'),
  revision: z.string().optional().describe('from agent show: refuse if the agent has changed since'),
})

type EditInput = z.output<typeof editInput>

export const agentEdit = defineCommand({
  name: 'agent edit',
  summary: 'change an agent; keeps comments in its file, and a copy of every file before it is changed',
  example: 'agent edit writer --schedule "every morning"',
  runsIn: 'any_process',
  needs: EDIT_NEEDS,
  positional: ['id'],
  input: editInput,
  output: agentWithSummary.extend({
    kept: z.array(z.string()).describe('copies of the files that were changed or removed, as they were before'),
  }),
  async run(context, input, tell) {
    const { agentDirectory, kernel } = context
    const { id, revision, dry_run } = input
    const agent = agentDirectory.onDisk(id)
    const when = await planWhen(context, input, agent)
    const changes = [...(await plainChanges(context, input)), ...(when?.changes ?? [])]
    const documents = documentChanges(context, input, agent)
    if (changes.length + documents.length === 0) throw noChange(context, id)
    // The files are read again: a schedule may have taken a model's time to understand.
    if (revision !== undefined) requireRevision(context, id, revision)
    const said = { ...when?.summary, dry_run }
    if (dry_run)
      return { ...(await describeDefined(context, agentDirectory.tryChange(id, changes), [])), ...said, kept: [] }
    const kept = [
      changes.length > 0 ? agentDirectory.change(id, changes) : null,
      ...documents.map(({ name, value }) => agentDirectory.writeDocument(id, name, value)),
    ].filter((copy) => copy !== null)
    for (const copy of kept) tellKept(tell, copy)
    kernel.reloadSchedules()
    return { ...(await describeAgent(context, id)), ...said, kept }
  },
})

const set = (key: string, value: Json | undefined): ConfigChange => ({ path: [key], value })

/** Undefined: the schedule stays. */
async function planWhen(context: EditContext, { schedule, model, prompt, yes, dry_run }: EditInput, agent: Agent) {
  if (schedule === undefined) return undefined
  const atBeats = schedule === 'beats'
  const sentence = prompt ?? agent.prompt
  const { spec, ...summary } = await planSchedule(context, {
    ...{ sentence, prompt: sentence, yes: yes || dry_run, model: model ?? agent.model ?? undefined },
    schedule: atBeats ? scheduleOption(context.settings().schedule) : schedule,
  })
  return { changes: scheduleChanges(atBeats ? 'beats' : spec), summary }
}

const scheduleChanges = (spec: ScheduleSpec | null | 'beats'): readonly ConfigChange[] => [
  set('schedule', spec === null || spec === 'beats' ? undefined : scheduleJson(spec)),
  set('only_on_change', spec === null ? true : undefined),
]

async function plainChanges(context: EditContext, input: EditInput): Promise<readonly ConfigChange[]> {
  const { prompt, model, watch, priority, workspace, tools, timeout, cooldown, description, enabled } = input
  return [
    ...(prompt === undefined ? [] : [set('prompt', escapeVariables(prompt))]),
    ...(model === undefined ? [] : [set('model', modelKey(context, model).model)]),
    ...(watch === undefined ? [] : [set('watch', [await watchEntry(context, watch, true)])]),
    ...(priority === undefined ? [] : [set('priority', priority)]),
    ...(workspace === undefined ? [] : [set('workspace', workspace === 'none' ? null : workspace)]),
    ...(tools === undefined ? [] : [set('tools', readTools(context, input.id, tools))]),
    ...(timeout === undefined ? [] : [set('timeout', readTimeout(timeout))]),
    ...(cooldown === undefined ? [] : [set('cooldown', readDuration('cooldown', cooldown, 0))]),
    ...(description === undefined ? [] : [set('description', description === 'none' ? null : description)]),
    ...(enabled === undefined ? [] : [set('enabled', enabled)]),
  ]
}

/** Null: all tools. A tool that the agent lists already may be one that does not exist now. */
function readTools({ tools, agentDirectory }: EditContext, id: string, listed: string): Json {
  if (listed === 'all') return null
  const names = listed === 'none' ? [] : [...new Set(listed.split(/[\s,]+/).filter((name) => name !== ''))]
  const known = new Set([...tools().map(({ name }) => name), ...(agentDirectory.onDisk(id).tools ?? [])])
  const unknown = names.filter((name) => !known.has(name))
  if (unknown.length === 0) return names
  throw new TirelessError('usage', {
    what: 'there is no such tool',
    got: unknown.join(', '),
    expected: 'names from tireless tools list',
  })
}

function readTimeout(wanted: string): Json | undefined {
  if (wanted === 'default') return undefined
  return wanted === 'none' ? null : readDuration('timeout', wanted, 1)
}

function readDuration(name: string, wanted: string, least: number): string {
  const ms = parseDuration(wanted)
  if (ms !== undefined && ms >= least) return writeDuration(ms)
  throw new TirelessError('usage', { what: `the ${name} is not valid`, got: wanted, expected: EXPECTED_DURATION })
}

function documentChanges({ agentDirectory }: EditContext, { id, role, self }: EditInput, { prompt }: Agent) {
  const isPrompt = agentDirectory.documents(id)['role.md']?.trim() === prompt
  if (role?.trim() === '' && isPrompt)
    throw new TirelessError('usage', {
      what: 'the role is all that the agent has for a prompt',
      expected: 'a text',
      fix: 'write a role, or a prompt first',
    })
  const changes: readonly (readonly [AgentDocument, string | undefined])[] = [
    ['role.md', role],
    ['self.md', self],
  ]
  return changes.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
}

function requireRevision({ agentDirectory }: EditContext, id: string, revision: string): void {
  if (revisionOf(agentDirectory.onDisk(id), agentDirectory.documents(id)) === revision) return
  throw new TirelessError('conflict', {
    what: 'the agent has changed since you looked at it; nothing was saved',
    got: id,
    fix: `look again (tireless agent show ${id}), then change what you still want to change`,
  })
}

function noChange({ agentDirectory }: EditContext, id: string): TirelessError {
  const file = agentDirectory.all().find(({ agent }) => agent.agent_id === id)?.file ?? 'its file'
  return new TirelessError('usage', {
    what: 'no change given',
    expected: 'at least one of --prompt, --schedule, --priority, --model, --watch, --workspace, --tools',
    fix: `add one of them, or edit ${file}`,
  })
}
