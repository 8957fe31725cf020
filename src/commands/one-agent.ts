/** One agent: show everything about it, run it now, delete it. */

import { join } from 'node:path'
import { z } from 'zod'
import type { Agent } from '../domain/agent.ts'
import { DISPATCH_STATUSES, isTerminal } from '../domain/dispatch.ts'
import { writeDuration } from '../domain/duration.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import { outcomeOf } from '../domain/outcome.ts'
import { titleOfRun } from '../domain/title.ts'
import { parseSchedule } from '../kernel/schedule/schedule.ts'
import { localZone } from '../kernel/schedule/time-zone.ts'
import { iso } from '../ports/clock.ts'
import { commitOne } from '../ports/store.ts'
import { agentIdInput, scheduleOption } from './lib/agent-keys.ts'
import { revisionOf } from './lib/agent-revision.ts'
import { addScheduleAgain, shellLine } from './lib/bring-back.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { agentShape, costByDay, DESCRIBE_NEEDS, describeAgent, spendOfWeek } from './lib/describe-agent.ts'
import { runCost } from './lib/forecast.ts'
import { noSuchAgent } from './lib/no-such-agent.ts'
import { LISTED_TIMES } from './lib/understand-schedule.ts'
import { describeRun, FOLLOW_NEEDS, followRun, run, tellNotices } from './run.ts'

const SHOWN_RUNS = 5

const shownRun = z.object({
  dispatch_id: z.string(),
  status: z.enum(DISPATCH_STATUSES),
  created_at: z.string(),
  title: z.string(),
  outcome: z.string().nullable().describe('first lines of the result, else the error, else what it waits for'),
  result: z.string().nullable(),
  error: z.string().nullable(),
})

/** Values that `agent edit` takes back as they are. */
const editable = {
  schedule_option: z.string().describe('the schedule as agent edit reads it'),
  workspace: z.string().nullable().describe('folder that its runs share, relative to the home; null: one per run'),
  model: z.string().nullable().describe('null: the default model'),
  watch: z.array(z.unknown()),
  tools: z.array(z.string()).nullable().describe('the only tools it may use; null: those that the policy allows'),
  timeout: z.string().describe('time limit of a run; "none"; "default"'),
  cooldown: z.string().describe('pause after a successful run'),
  description: z.string().nullable().describe('what other agents may give it to do'),
  role: z.string().nullable().describe('the text of its role.md; null: there is none'),
  self: z.string().nullable().describe('the text of its self.md, which it writes itself'),
  revision: z.string().describe('changes whenever one of these values does; see agent edit'),
}

export const agentShow = defineCommand({
  name: 'agent show',
  summary: 'show an agent: its schedule, next times, workspace, model, prompt and last runs',
  example: 'agent show writer',
  runsIn: 'any_process',
  needs: [...DESCRIBE_NEEDS, 'behavioursOf'],
  positional: ['id'],
  input: z.object({ id: agentIdInput }),
  output: agentShape.extend({
    next: z.array(z.string()).describe('the next times by its schedule'),
    ...editable,
    prompt_is_role: z.boolean().describe('it has no prompt of its own; its role is its prompt'),
    behaviours: z.array(z.object({ name: z.string(), own: z.boolean() })).describe('own: from a file in its folder'),
    usd_per_run: z.number().nullable().describe('forecast; null: the price of its model is unknown'),
    cost_days: z.array(z.object({ day: z.string(), usd: z.number() })).describe('the last seven days, oldest first'),
    runs: z.array(shownRun).describe('the last runs, newest first'),
  }),
  async run(context, { id }) {
    const agent = readAgent(context, id)
    const runs = await context.store.recent(context.kernelId, id, SHOWN_RUNS)
    const spend = await spendOfWeek(context)
    const described = await describeAgent(context, id, spend)
    return {
      ...described,
      ...editableValues(context, agent),
      next: nextTimes(context, agent),
      behaviours: context.behavioursOf(id).map(({ name, isOwn }) => ({ name, own: isOwn })),
      usd_per_run: costOfRun(context, agent, described.uses_model),
      cost_days: costByDay(context, spend, id),
      runs: runs.map((dispatch) => {
        const { dispatch_id, status, created_at, prompt, metadata, result, error } = dispatch
        const title = titleOfRun(prompt, metadata.behaviour)
        return { dispatch_id, status, created_at, result, error, title, outcome: outcomeOf(dispatch) }
      }),
    }
  },
})

/** As its file describes it now; if the configuration is invalid, as the program uses it. */
function readAgent(context: Needs<'agentDirectory'>, id: string): Agent {
  const { agent } = findAgent(context, id)
  try {
    return context.agentDirectory.onDisk(id)
  } catch (thrown) {
    if (asTirelessError(thrown).code === 'config_invalid') return agent
    throw thrown
  }
}

function editableValues({ agentDirectory }: Needs<'agentDirectory'>, agent: Agent) {
  const documents = agentDirectory.documents(agent.agent_id)
  const { 'role.md': role, 'self.md': self } = documents
  const { prompt, workspace, model, watch, tools, timeout, cooldown, description = null } = agent
  return {
    ...{ prompt, workspace, model, watch: [...watch], tools: tools && [...tools], description, role, self },
    prompt_is_role: role?.trim() === prompt,
    schedule_option: agent.schedule === null && !agent.only_on_change ? 'beats' : scheduleOption(agent.schedule),
    timeout: timeout === undefined ? 'default' : timeout === null ? 'none' : writeDuration(timeout),
    cooldown: cooldown === 0 ? '0s' : writeDuration(cooldown),
    revision: revisionOf(agent, documents),
  }
}

/** The next times of the agent's own schedule, or of the kernel's if it has none; empty if it is disabled. */
function nextTimes({ clock, settings }: Needs<'clock' | 'settings'>, agent: Agent): string[] {
  const { schedule: beat, timezone } = settings()
  const spec = agent.schedule ?? (agent.only_on_change ? null : beat)
  if (!agent.enabled || spec === null) return []
  const schedule = parseSchedule(spec, timezone ?? localZone())
  const times: string[] = []
  for (let at = schedule.next(clock.now()); at !== undefined && times.length < LISTED_TIMES; at = schedule.next(at))
    times.push(iso(at))
  return times
}

/** Null: the price is unknown, or the model cannot be used. */
function costOfRun({ models }: Needs<'models'>, agent: Agent, model: string): number | null {
  try {
    const { price } = models.get(model)
    return price ? runCost(agent, price) : null
  } catch {
    return null
  }
}

function findAgent({ agentDirectory }: Needs<'agentDirectory'>, id: string) {
  const found = agentDirectory.all().find(({ agent }) => agent.agent_id === id)
  if (found) return found
  throw noSuchAgent(
    id,
    agentDirectory.all().map(({ agent }) => agent.agent_id),
  )
}

export const agentRun = defineCommand({
  name: 'agent run',
  summary: 'run an agent now by its own prompt, and print what came of it; its schedule stays unchanged',
  example: 'agent run writer',
  runsIn: 'any_process',
  needs: [...FOLLOW_NEEDS, 'agentDirectory'],
  positional: ['id'],
  input: z.object({
    id: agentIdInput,
    detach: z.boolean().default(false).describe('queue the run and return at once; a running kernel executes it'),
  }),
  output: run.output,
  async run(context, { id, detach }, tell) {
    findAgent(context, id)
    await tellNotices(context, tell)
    const [enqueued] = await context.kernel.enqueueAgents([id], null, { by: 'agent run' })
    if (!enqueued) throw new TirelessError('conflict', { what: 'the agent was not queued', got: id })
    const { dispatch_id, session_id } = enqueued
    const workspace = (await context.store.session(session_id))?.workspace ?? ''
    return (detach ? describeRun : followRun)(context, { dispatch_id, session_id, workspace }, tell)
  },
  exitCode: ({ status }) => (status === 'done' || status === 'pending' ? 0 : isTerminal(status) ? 1 : 3),
})

export const agentDelete = defineCommand({
  name: 'agent delete',
  summary: 'delete an agent; its description and files are moved aside, its past runs and its workspace folder stay',
  example: 'agent delete writer --yes',
  runsIn: 'any_process',
  needs: ['agentDirectory', 'kernel', 'store'],
  positional: ['id'],
  input: z.object({
    id: agentIdInput,
    yes: z.boolean().default(false).describe('do not ask').meta({ short: 'y' }),
  }),
  output: z.object({
    agent_id: z.string(),
    kept: z.object({
      file: z.string().describe('its description'),
      folder: z.string().describe('its description, and its other files: role.md, self.md, behaviours, skills'),
      config: z.string().nullable().describe('the configuration file from before; null: the agent did not stand in it'),
      workspace: z.string().nullable(),
    }),
    schedules_removed: z.array(z.string()),
    bring_back: z.array(z.string()).describe('the commands that bring the agent and its added schedules back'),
  }),
  async run(context, { id, yes }) {
    const { agentDirectory, kernel, store } = context
    const { agent, file } = findAgent(context, id)
    if (!yes)
      throw new TirelessError('confirmation_needed', {
        what: `the agent ${id} (${file}) will be deleted; its past runs and its workspace folder stay`,
        fix: `run tireless agent delete ${id} --yes; to stop it for a while: tireless agent disable ${id}`,
      })
    const { kept, own, before } = agentDirectory.remove(id)
    const schedules = (await store.schedules()).filter(({ agent_id }) => agent_id === id)
    for (const schedule of schedules) await commitOne(store, [{ op: 'schedule_remove', id: schedule.id }])
    kernel.reloadSchedules()
    return {
      agent_id: id,
      kept: { file: join(kept, 'agent.yaml'), folder: kept, config: before, workspace: agent.workspace },
      schedules_removed: schedules.map((schedule) => schedule.id),
      bring_back: [shellLine('mv', kept, own), ...schedules.flatMap(addScheduleAgain)],
    }
  },
})
