/** Lists all schedules; adds, pauses, runs and removes those that people added. */

import { z } from 'zod'
import { parseDuration } from '../domain/duration.ts'
import { TirelessError } from '../domain/error.ts'
import { EXPECTED_DURATION } from '../domain/limits.ts'
import type { ScheduleEntry, ScheduleMark, ScheduleSpec } from '../domain/schedule.ts'
import {
  dueAgents,
  listSchedules,
  nextScheduleDue,
  rowFromEntry,
  type ScheduleRow,
} from '../kernel/schedule/all-schedules.ts'
import { localZone } from '../kernel/schedule/time-zone.ts'
import { iso } from '../ports/clock.ts'
import { commitOne } from '../ports/store.ts'
import { describeSchedule } from '../schedule-words/describe-schedule.ts'
import { addScheduleAgain } from './lib/bring-back.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { agentInput, refuseUnknownAgent } from './queue.ts'

const scheduleShape = z.object({
  id: z.string(),
  origin: z.enum(['kernel', 'agent', 'added']),
  schedule: z.union([z.string(), z.object({ every: z.number() }), z.object({ at: z.string() })]),
  timezone: z.string(),
  agents: z.array(z.string()),
  prompt: z.string().nullable(),
  paused: z.boolean(),
  next: z.string().nullable(),
  last: z.string().nullable().describe('time of the last beat that fired'),
  created_at: z.string().nullable(),
  words: z.string().describe('the schedule in words'),
  words_zh: z.string().describe('the same in Chinese'),
})

const idInput = z.string().min(1).describe('id from schedule list').meta({ idOf: 'schedule' })

export const scheduleList = defineCommand({
  name: 'schedule list',
  summary: 'list all schedules with their next beat: the kernel, agents, and added ones',
  example: 'schedule list',
  runsIn: 'any_process',
  needs: ['clock', 'settings', 'store'],
  input: z.object({}),
  output: z.object({ items: z.array(scheduleShape) }),
  async run(context) {
    const marks = await context.store.marks()
    return { items: (await allRows(context)).map((row) => printRow(context, row, marks)) }
  },
})

const ID = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/

export const scheduleAdd = defineCommand({
  name: 'schedule add',
  summary: 'run an agent repeatedly, or once at a given time',
  example: 'schedule add --agent writer --cron "30 9 * * mon-fri" --prompt "write the daily report"',
  runsIn: 'any_process',
  needs: ['agents', 'clock', 'ids', 'kernel', 'settings', 'store'],
  input: z.object({
    agent: agentInput,
    prompt: z.string().trim().min(1).optional().describe("what to do (default: the agent's own prompt)"),
    cron: z.string().optional().describe('a cron line such as "30 9 * * mon-fri", or @daily'),
    every: z.string().optional().describe('a duration such as 30m'),
    at: z.string().optional().describe('once: an instant such as 2026-01-31T09:00, or a duration from now'),
    timezone: z.string().optional().describe("time zone of the schedule (default: the kernel's)"),
    id: z
      .string()
      .regex(ID, '1 to 64 of A-Z a-z 0-9 . _ - starting with a letter, a digit or _')
      .optional()
      .describe('name of the schedule'),
  }),
  output: scheduleShape,
  async run(context, { agent, prompt, timezone, id, ...when }) {
    const now = context.clock.now()
    refuseUnknownAgent(context, agent)
    const entry: ScheduleEntry = {
      id: id ?? context.ids.next(),
      spec: specOf(when, now),
      timezone: timezone ?? context.settings().timezone ?? localZone(),
      agent_id: agent,
      prompt: prompt ?? null,
      paused: false,
      created_at: iso(now),
    }
    const row = rowFromEntry(entry)
    requirePrompt(context, row, agent)
    if (row.schedule.next(now) === undefined)
      throw new TirelessError('usage', {
        what: 'that time is in the past',
        got: JSON.stringify(entry.spec),
        expected: `a time after ${iso(now)}`,
      })
    await commitOne(context.store, [{ op: 'schedule_put', entry, now }])
    context.kernel.reloadSchedules()
    return printRow(context, row, await context.store.marks())
  },
})

const pauseCommand = (name: 'schedule pause' | 'schedule resume', summary: string, paused: boolean) =>
  defineCommand({
    name,
    summary,
    example: `${name} daily-report`,
    runsIn: 'any_process',
    needs: ['clock', 'kernel', 'settings', 'store'],
    positional: ['id'],
    input: z.object({ id: idInput }),
    output: scheduleShape,
    async run(context, { id }) {
      await findAdded(context, id)
      const now = context.clock.now()
      await commitOne(context.store, [{ op: 'schedule_pause', id, paused, now }])
      context.kernel.reloadSchedules()
      return printRow(context, await findAdded(context, id), await context.store.marks())
    },
  })

export const schedulePause = pauseCommand('schedule pause', 'pause a schedule until you resume it', true)
export const scheduleResume = pauseCommand(
  'schedule resume',
  'resume a paused schedule; beats in between are not caught up',
  false,
)

export const scheduleRemove = defineCommand({
  name: 'schedule remove',
  summary: 'remove an added schedule, and say how to add it again; work that it started continues',
  example: 'schedule remove daily-report',
  runsIn: 'any_process',
  needs: ['kernel', 'settings', 'store'],
  positional: ['id'],
  input: z.object({ id: idInput }),
  output: z.object({
    removed: z.string(),
    bring_back: z.array(z.string()).describe('the commands that add it again'),
  }),
  async run(context, { id }) {
    // Looks in the store first, so that a schedule that cannot be parsed can be removed too.
    const entry = (await context.store.schedules()).find((schedule) => schedule.id === id)
    if (!entry) await findAdded(context, id)
    await commitOne(context.store, [{ op: 'schedule_remove', id }])
    context.kernel.reloadSchedules()
    return { removed: id, bring_back: entry ? [...addScheduleAgain(entry)] : [] }
  },
})

export const scheduleRun = defineCommand({
  name: 'schedule run',
  summary: 'run now what a schedule would run; the schedule stays unchanged',
  example: 'schedule run daily-report',
  runsIn: 'any_process',
  needs: ['kernel', 'settings', 'store'],
  positional: ['id'],
  input: z.object({ id: idInput }),
  output: z.object({
    items: z.array(z.object({ agent_id: z.string(), dispatch_id: z.string(), session_id: z.string() })),
  }),
  async run(context, { id }) {
    const row = await findRow(context, id)
    if (row.origin === 'kernel')
      throw new TirelessError('usage', {
        what: `${id} is the kernel's own schedule`,
        fix: 'run a cycle instead: tireless cycle now',
      })
    for (const agent of row.agents ?? []) requirePrompt(context, row, agent)
    const dispatched = await context.kernel.enqueueAgents(row.agents ?? [], row.prompt, { schedule_id: id })
    const items = dispatched.map(({ agent_id, dispatch_id, session_id }) => ({ agent_id, dispatch_id, session_id }))
    return { items }
  },
})

async function allRows({ store, settings }: Needs<'store' | 'settings'>): Promise<readonly ScheduleRow[]> {
  return listSchedules(settings(), await store.schedules())
}

/** Contract: the next beat of any schedule with an enabled agent; undefined if there is none. */
export async function nextScheduledRun(context: Needs<'clock' | 'settings' | 'store'>): Promise<number | undefined> {
  const { store, settings, clock } = context
  const marks = await store.marks()
  const due = (await allRows(context)).filter((row) => dueAgents(row, settings().agents).length > 0)
  const nexts = due.map((row) => nextScheduleDue(row, marks, clock.now())).filter((next) => next !== undefined)
  return nexts.length === 0 ? undefined : Math.min(...nexts)
}

async function findRow(context: Needs<'settings' | 'store'>, id: string): Promise<ScheduleRow> {
  const row = (await allRows(context)).find(({ schedule_id }) => schedule_id === id)
  if (row) return row
  throw new TirelessError('not_found', { what: 'no such schedule', got: id, fix: 'run tireless schedule list' })
}

async function findAdded(context: Needs<'settings' | 'store'>, id: string): Promise<ScheduleRow> {
  const row = await findRow(context, id)
  if (row.origin === 'added') return row
  throw new TirelessError('usage', {
    what: `${id} comes from the configuration`,
    fix:
      row.agents === null ? 'change kernel.schedule' : `change the schedule of ${row.agents.join()} in kernel.agents`,
  })
}

/** Contract: throws `usage` if neither the schedule nor the agent has a prompt. */
function requirePrompt({ settings }: Needs<'settings'>, { prompt }: ScheduleRow, agent: string): void {
  if ((prompt ?? settings().agents.find(({ agent_id }) => agent_id === agent)?.prompt) !== undefined) return
  throw new TirelessError('usage', {
    what: `the agent ${agent} has no prompt of its own`,
    expected: 'a prompt',
    fix: 'add --prompt TEXT',
  })
}

function printRow({ settings, clock }: Needs<'settings' | 'clock'>, row: ScheduleRow, marks: readonly ScheduleMark[]) {
  const { schedule_id: id, origin, spec: schedule, timezone, prompt, paused, created_at } = row
  const next = nextScheduleDue(row, marks, clock.now())
  const fired = marks.find(({ schedule_id }) => schedule_id === id)?.fired ?? null
  return {
    ...{ id, origin, schedule, timezone, agents: [...dueAgents(row, settings().agents)], prompt, paused, created_at },
    next: next === undefined ? null : iso(next),
    last: fired === null ? null : iso(fired),
    ...{ words: describeSchedule(schedule, 'en'), words_zh: describeSchedule(schedule, 'zh') },
  }
}

type When = { readonly [K in 'cron' | 'every' | 'at']?: string | undefined }

function specOf({ cron, every, at }: When, now: number): ScheduleSpec {
  if ([cron, every, at].filter((one) => one !== undefined).length !== 1)
    throw new TirelessError('usage', {
      what: 'a schedule needs exactly one time',
      expected: 'one of --cron, --every, --at',
      fix: 'write, for example: --cron "30 9 * * mon-fri"',
    })
  if (cron !== undefined) return cron
  const ms = parseDuration(every ?? at ?? '')
  if (at !== undefined) return { at: ms === undefined ? at : iso(now + ms) }
  if (ms !== undefined && ms > 0) return { every: ms }
  throw new TirelessError('usage', {
    what: '--every is not a duration',
    got: String(every),
    expected: EXPECTED_DURATION,
  })
}
