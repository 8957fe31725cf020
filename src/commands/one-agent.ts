/** One agent: show everything about it, run it now, delete it. */

import { z } from 'zod'
import { DISPATCH_STATUSES, isTerminal } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { titleOfRun } from '../domain/title.ts'
import { parseSchedule } from '../kernel/schedule/schedule.ts'
import { localZone } from '../kernel/schedule/time-zone.ts'
import { iso } from '../ports/clock.ts'
import { commitOne } from '../ports/store.ts'
import { agentIdInput, agentShape, describeAgent } from './agents.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { noSuchAgent } from './lib/no-such-agent.ts'
import { FOLLOW_NEEDS, followRun, run, tellNotices } from './run.ts'

const SHOWN_TIMES = 3
const SHOWN_RUNS = 5

const shownRun = z.object({
  dispatch_id: z.string(),
  status: z.enum(DISPATCH_STATUSES),
  created_at: z.string(),
  title: z.string(),
  result: z.string().nullable(),
  error: z.string().nullable(),
})

export const agentShow = defineCommand({
  name: 'agent show',
  summary: 'show an agent: its schedule, next times, workspace, model, prompt and last runs',
  example: 'agent show writer',
  runsIn: 'any_process',
  needs: ['agentDirectory', 'clock', 'kernel', 'kernelId', 'settings', 'store'],
  positional: ['id'],
  input: z.object({ id: agentIdInput }),
  output: agentShape.extend({
    next: z.array(z.string()).describe('the next times by its schedule'),
    workspace: z.string().nullable().describe('folder that its runs share, relative to the home; null: one per run'),
    model: z.string().nullable().describe('null: the default model'),
    watch: z.array(z.unknown()),
    runs: z.array(shownRun).describe('the last runs, newest first'),
  }),
  async run(context, { id }) {
    const { agent } = findAgent(context, id)
    const runs = await context.store.recent(context.kernelId, id, SHOWN_RUNS)
    return {
      ...(await describeAgent(context, id)),
      next: nextTimes(context, id),
      workspace: agent.workspace,
      model: agent.model,
      watch: [...agent.watch],
      runs: runs.map(({ dispatch_id, status, created_at, prompt, metadata, result, error }) => ({
        ...{ dispatch_id, status, created_at, result, error },
        title: titleOfRun(prompt, metadata.behaviour),
      })),
    }
  },
})

/** The next times of the agent's own schedule, or of the kernel's if it has none; empty if it is disabled. */
function nextTimes({ agentDirectory, clock, settings }: Needs<'agentDirectory' | 'clock' | 'settings'>, id: string) {
  const { agent } = findAgent({ agentDirectory }, id)
  const { schedule: beat, timezone } = settings()
  const spec = agent.schedule ?? (agent.only_on_change ? null : beat)
  if (!agent.enabled || spec === null) return []
  const schedule = parseSchedule(spec, timezone ?? localZone())
  const times: string[] = []
  for (let at = schedule.next(clock.now()); at !== undefined && times.length < SHOWN_TIMES; at = schedule.next(at))
    times.push(iso(at))
  return times
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
  input: z.object({ id: agentIdInput }),
  output: run.output,
  async run(context, { id }, tell) {
    findAgent(context, id)
    await tellNotices(context, tell)
    const [enqueued] = await context.kernel.enqueueAgents([id], null, { by: 'agent run' })
    if (!enqueued) throw new TirelessError('conflict', { what: 'the agent was not queued', got: id })
    const { dispatch_id, session_id } = enqueued
    const workspace = (await context.store.session(session_id))?.workspace ?? ''
    return followRun(context, { dispatch_id, session_id, workspace }, tell)
  },
  exitCode: ({ status }) => (status === 'done' ? 0 : isTerminal(status) ? 1 : 3),
})

export const agentDelete = defineCommand({
  name: 'agent delete',
  summary: 'delete an agent; its past runs, its workspace folder and a copy of its file are kept',
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
      file: z.string().nullable().describe('the copy of its file; null: it stood in the configuration file'),
      workspace: z.string().nullable(),
    }),
    schedules_removed: z.array(z.string()),
  }),
  async run(context, { id, yes }) {
    const { agentDirectory, kernel, store } = context
    const { agent, file } = findAgent(context, id)
    if (!yes)
      throw new TirelessError('confirmation_needed', {
        what: `the agent ${id} (${file}) will be deleted; its past runs and its workspace folder stay`,
        fix: `run tireless agent delete ${id} --yes; to stop it for a while: tireless agent disable ${id}`,
      })
    // Disabled first: if the deletion fails half-way, nothing starts it again.
    agentDirectory.change(id, [{ path: ['enabled'], value: false }])
    const schedules = (await store.schedules()).filter(({ agent_id }) => agent_id === id).map((entry) => entry.id)
    for (const schedule of schedules) await commitOne(store, [{ op: 'schedule_remove', id: schedule }])
    const copy = agentDirectory.remove(id)
    kernel.reloadSchedules()
    return {
      agent_id: id,
      kept: { file: copy, workspace: agent.workspace },
      schedules_removed: schedules,
    }
  },
})
