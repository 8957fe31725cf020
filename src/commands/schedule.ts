/** The schedules there are; those that people add, pause, run and remove. */

import { z } from 'zod'
import { parseDuration } from '../domain/duration.ts'
import { TirelessError } from '../domain/error.ts'
import { EXPECTED_DURATION } from '../domain/limits.ts'
import type { Mark, ScheduleEntry, ScheduleSpec } from '../domain/schedule.ts'
import { addedRow, dueWith, nextOf, type Row, rowsOf } from '../kernel/timetable.ts'
import { ownZone } from '../kernel/zone.ts'
import { iso } from '../ports/clock.ts'
import { commitOne } from '../ports/store.ts'
import { type Context, command } from './command.ts'
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
  last: z.string().nullable().describe('the last one that fired'),
  created_at: z.string().nullable(),
})

const idInput = z.string().min(1).describe('the schedule: see schedule list')

export const scheduleList = command({
  name: 'schedule list',
  summary: 'when the kernel, each agent and what was added are due',
  runsIn: 'any_process',
  input: z.object({}),
  output: z.object({ items: z.array(scheduleShape) }),
  async run(context) {
    const marks = await context.store.marks()
    return { items: (await allRows(context)).map((row) => shown(context, row, marks)) }
  },
})

const ID = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/

export const scheduleAdd = command({
  name: 'schedule add',
  summary: 'have an agent do something again and again, or once at a time',
  runsIn: 'any_process',
  input: z.object({
    agent: agentInput,
    prompt: z.string().trim().min(1).optional().describe("what to do (default: the agent's own prompt)"),
    cron: z.string().optional().describe('a cron line such as "30 9 * * mon-fri", or @daily'),
    every: z.string().optional().describe('a duration such as 30m'),
    at: z.string().optional().describe('once: an instant such as 2026-01-31T09:00, or a duration from now'),
    timezone: z.string().optional().describe("whose wall clock it goes by (default: the kernel's)"),
    id: z
      .string()
      .regex(ID, 'expected 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter, a digit or _')
      .optional()
      .describe('a name for it'),
  }),
  output: scheduleShape,
  async run(context, { agent, prompt, timezone, id, ...when }) {
    const now = context.clock.now()
    refuseUnknownAgent(context, agent)
    const entry: ScheduleEntry = {
      id: id ?? context.ids.next(),
      spec: specOf(when, now),
      timezone: timezone ?? context.settings().timezone ?? ownZone(),
      agent_id: agent,
      prompt: prompt ?? null,
      paused: false,
      created_at: iso(now),
    }
    const row = addedRow(entry)
    refuseIdle(context, row, agent)
    if (row.schedule.next(now) === undefined)
      throw new TirelessError('usage', {
        what: 'that time is over',
        got: JSON.stringify(entry.spec),
        expected: `a time after ${iso(now)}`,
      })
    await commitOne(context.store, [{ op: 'schedule_put', entry, now }])
    context.kernel.refresh()
    return shown(context, row, await context.store.marks())
  },
})

const pausing = (name: 'schedule pause' | 'schedule resume', summary: string, paused: boolean) =>
  command({
    name,
    summary,
    runsIn: 'any_process',
    positional: ['id'],
    input: z.object({ id: idInput }),
    output: scheduleShape,
    async run(context, { id }) {
      await addedOf(context, id)
      const now = context.clock.now()
      await commitOne(context.store, [{ op: 'schedule_pause', id, paused, now }])
      context.kernel.refresh()
      return shown(context, await addedOf(context, id), await context.store.marks())
    },
  })

export const schedulePause = pausing('schedule pause', 'leave a schedule alone until it is resumed', true)
export const scheduleResume = pausing(
  'schedule resume',
  'go on with a paused schedule; nothing is made up for of the time between',
  false,
)

export const scheduleRemove = command({
  name: 'schedule remove',
  summary: 'take an added schedule away; what it has set off goes on',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({ id: idInput }),
  output: z.object({ removed: z.string() }),
  async run(context, { id }) {
    // Also one that means nothing.
    if (!(await context.store.schedules()).some((entry) => entry.id === id)) await addedOf(context, id)
    await commitOne(context.store, [{ op: 'schedule_remove', id }])
    context.kernel.refresh()
    return { removed: id }
  },
})

export const scheduleRun = command({
  name: 'schedule run',
  summary: 'do now what a schedule would have done; it stays as it is',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({ id: idInput }),
  output: z.object({
    items: z.array(z.object({ agent_id: z.string(), dispatch_id: z.string(), session_id: z.string() })),
  }),
  async run(context, { id }) {
    const row = await rowOf(context, id)
    if (row.origin === 'kernel')
      throw new TirelessError('usage', { what: `${id} is the kernel's own`, fix: 'have a cycle now: cycle now' })
    for (const agent of row.agents ?? []) refuseIdle(context, row, agent)
    const made = await context.kernel.byHand(row.agents ?? [], row.prompt, { schedule_id: id })
    const items = made.map(({ agent_id, dispatch_id, session_id }) => ({ agent_id, dispatch_id, session_id }))
    return { items }
  },
})

async function allRows({ store, settings }: Context): Promise<readonly Row[]> {
  return rowsOf(settings(), await store.schedules())
}

/** Contract: when somebody is due next by any schedule; undefined where nobody ever is. */
export async function nextDue(context: Context): Promise<number | undefined> {
  const { store, settings, clock } = context
  const marks = await store.marks()
  const due = (await allRows(context)).filter((row) => dueWith(row, settings().agents).length > 0)
  const nexts = due.map((row) => nextOf(row, marks, clock.now())).filter((next) => next !== undefined)
  return nexts.length === 0 ? undefined : Math.min(...nexts)
}

async function rowOf(context: Context, id: string): Promise<Row> {
  const row = (await allRows(context)).find(({ schedule_id }) => schedule_id === id)
  if (row) return row
  throw new TirelessError('not_found', { what: 'there is no such schedule', got: id, fix: 'see: schedule list' })
}

async function addedOf(context: Context, id: string): Promise<Row> {
  const row = await rowOf(context, id)
  if (row.origin === 'added') return row
  throw new TirelessError('usage', {
    what: `${id} was not added: it is the configuration's`,
    fix: `change ${row.agents === null ? 'kernel.schedule' : `the schedule of ${row.agents.join()} under kernel.agents`}`,
  })
}

/** Contract: throws where neither the schedule nor the agent says what to do. */
function refuseIdle({ settings }: Context, { prompt }: Row, agent: string): void {
  if ((prompt ?? settings().agents.find(({ agent_id }) => agent_id === agent)?.prompt) !== undefined) return
  throw new TirelessError('usage', {
    what: `the agent ${agent} has no prompt of its own`,
    expected: 'what it is to do',
    fix: 'say it with --prompt',
  })
}

function shown({ settings, clock }: Context, row: Row, marks: readonly Mark[]) {
  const { schedule_id: id, origin, spec: schedule, timezone, prompt, paused, created_at } = row
  const next = nextOf(row, marks, clock.now())
  const fired = marks.find(({ schedule_id }) => schedule_id === id)?.fired ?? null
  return {
    ...{ id, origin, schedule, timezone, agents: [...dueWith(row, settings().agents)], prompt, paused, created_at },
    next: next === undefined ? null : iso(next),
    last: fired === null ? null : iso(fired),
  }
}

type When = { readonly [K in 'cron' | 'every' | 'at']?: string | undefined }

function specOf({ cron, every, at }: When, now: number): ScheduleSpec {
  if ([cron, every, at].filter((one) => one !== undefined).length !== 1)
    throw new TirelessError('usage', {
      what: 'when it is due has to be said, in one way',
      expected: 'one of --cron, --every, --at',
      fix: 'write, for example: --cron "30 9 * * mon-fri"',
    })
  if (cron !== undefined) return cron
  const ms = parseDuration(every ?? at ?? '')
  if (at !== undefined) return { at: ms === undefined ? at : iso(now + ms) }
  if (ms !== undefined && ms > 0) return { every: ms }
  throw new TirelessError('usage', { what: '--every is no duration', got: String(every), expected: EXPECTED_DURATION })
}
