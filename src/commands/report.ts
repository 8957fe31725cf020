/** The report of a day: what was done and why, with its evidence, its cost, and what waits. */

import { z } from 'zod'
import { describeCheck } from '../domain/describe-check.ts'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { LANGUAGES, type Language } from '../domain/language.ts'
import { MICROS_PER_USD } from '../domain/money.ts'
import { TODO_PROOFS, TODO_STATUSES } from '../domain/todo.ts'
import { describeReport } from '../past/describe-report.ts'
import { MATTER_KINDS } from '../past/open-matters.ts'
import { isWork } from '../past/past-runs.ts'
import { type Period, readPeriod } from '../past/period.ts'
import { resolvePeriod } from '../past/period-arguments.ts'
import { isOneDay } from '../past/say-time.ts'
import { findShiftReport, type ReportedRun, type ShiftReport } from '../past/shift-report.ts'
import { DAY_MS, startOfDay, wallAt, writeDay } from '../past/wall-clock.ts'
import { iso } from '../ports/clock.ts'
import { writePage } from '../trace/trace-files.ts'
import { shellLine } from './lib/bring-back.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { findUndone } from './lib/undone-runs.ts'

const runShape = z.object({
  run_id: z.string(),
  session_id: z.string(),
  agent_id: z.string(),
  title: z.string(),
  status: z.enum(DISPATCH_STATUSES),
  started_by: z.enum(['cycle', 'schedule', 'run', 'person', 'model']).describe('why it was done'),
  outcome: z.string().nullable(),
  files: z.array(z.string()).describe('files that it wrote'),
  evidence: z
    .array(
      z.object({
        code: z.string(),
        title: z.string(),
        status: z.enum(TODO_STATUSES),
        proof: z.enum(TODO_PROOFS).nullable(),
        checks: z.array(z.object({ what: z.string(), ok: z.boolean(), observed: z.string() })),
      }),
    )
    .describe('what the checks of its todos showed'),
  usd: z.number().nullable().describe('null: the price is not known'),
  undone_by: z.string().nullable(),
  untrusted: z.boolean().describe('title and outcome may quote text from outside'),
  from: z.string(),
  to: z.string(),
})

const reportShape = z.object({
  day: z.string().describe('of the owner, such as 2026-11-16'),
  from: z.string(),
  to: z.string(),
  runs: z.array(runShape).describe('in the order in which they began'),
  left_out: z.number().describe('runs that are not listed'),
  documents: z
    .array(z.object({ name: z.string(), version: z.number(), author: z.string(), reason: z.string(), at: z.string() }))
    .describe('changes of documents such as STATE.md'),
  cost: z.object({
    usd: z.number(),
    calls: z.number().nullable(),
    tokens: z.number().nullable(),
    agents: z.array(z.object({ name: z.string(), usd: z.number(), calls: z.number() })),
    partly_unpriced: z.boolean(),
  }),
  cycles: z.object({ total: z.number(), idle: z.number(), failed: z.number() }),
  waits: z
    .array(
      z.object({
        kind: z.enum(MATTER_KINDS),
        id: z.string(),
        agent_id: z.string().nullable(),
        title: z.string(),
        about: z.string(),
        since: z.string(),
      }),
    )
    .nullable()
    .describe('what waits now; null for a day that is long over'),
  can_be_undone: z.boolean().describe('whether it wrote files that no undo took back'),
  text: z.string().describe('Markdown'),
  zh: z.string().describe('the text in Chinese'),
  file: z.string().nullable().describe('the file that was written'),
  sent_to: z.string().nullable().describe('the channel that the message goes to'),
})

export const report = defineCommand({
  name: 'report',
  summary: 'report what was done on a day and why, with evidence and cost, what waits, and how to take it back',
  example: 'report yesterday --out report.md',
  runsIn: 'any_process',
  needs: ['clock', 'ids', 'notifier', 'past', 'redact'],
  positional: ['day'],
  input: z.object({
    day: z.string().trim().min(1).max(100).default('today').describe('today, yesterday, Monday, 2026-11-15, 昨天 …'),
    out: z.string().min(1).optional().describe('also write it to this new Markdown file').meta({ path: true }),
    yes: z.boolean().default(false).describe('replace the file if it exists').meta({ short: 'y' }),
    send: z.boolean().default(false).describe('also send it to where notices go'),
    language: z.enum(LANGUAGES).optional().describe('of the file and the message; default: of your agents'),
  }),
  output: reportShape,
  async run(context, { day, out, yes, send, language = context.notifier.language() }) {
    const { past, redact } = context
    const found = await findShiftReport(past, dayOf(context, day))
    const texts = { en: redact(writeReport(context, found, 'en')), zh: redact(writeReport(context, found, 'zh')) }
    if (out !== undefined)
      writePage(out, `${texts[language]}\n`, yes, `report ${shellLine(day)} --out ${shellLine(out)}`)
    const sent_to = send ? await sendReport(context, texts[language]) : null
    return { ...outputOf(context, found), text: texts.en, zh: texts.zh, file: out ?? null, sent_to }
  },
})

function writeReport({ past }: Needs<'past'>, found: ShiftReport, language: Language): string {
  return describeReport(found, { language, clock: past.clock(), now: past.now() })
}

async function sendReport({ notifier, ids }: Needs<'notifier' | 'ids'>, text: string): Promise<string> {
  if (!(await notifier.target()))
    throw new TirelessError('conflict', {
      what: 'there is no chat to send the report to',
      fix: 'run tireless channels add, then tireless channels pair',
    })
  const { channel } = await notifier.post({ id: `report-${ids.next()}`, to: null, text, urgent: false })
  return channel
}

/** Contract: one day of the owner; throws `usage` for anything else. */
function dayOf({ past }: Needs<'past'>, day: string): Period {
  const [now, clock] = [past.now(), past.clock()]
  const isDate = /^\d{4}-\d\d-\d\d$/.test(day)
  const reading = readPeriod(day, now, clock)
  const found = isDate
    ? resolvePeriod({ from: day, to: day }, now, clock)
    : { period: reading.kind === 'period' ? reading.period : undefined }
  const period = 'period' in found ? found.period : undefined
  if (!period || !isOneDay(period, clock) || period.from > now)
    throw new TirelessError('usage', {
      ...{ what: 'this names no day that has begun', got: day },
      expected: 'today, yesterday, a weekday, or a date such as 2026-11-15',
    })
  return period
}

function outputOf({ past, redact }: Needs<'past' | 'redact'>, found: ShiftReport) {
  const { period, runs, left_out, documents, spend, cycles, open } = found
  return {
    day: writeDay(wallAt(past.clock(), period.from)),
    ...{ from: iso(period.from), to: iso(period.to), left_out },
    runs: runs.map((run) => toOutput(run, redact)),
    documents: documents.map(({ reason, at, ...change }) => ({ ...change, reason: redact(reason), at: iso(at) })),
    cost: {
      ...{ usd: spend.usd, calls: spend.calls, tokens: spend.tokens, agents: spend.lines.map((line) => ({ ...line })) },
      partly_unpriced: spend.is_partly_unpriced,
    },
    cycles: { total: cycles.total, idle: cycles.idle, failed: cycles.failed.length },
    waits:
      open?.matters.map(({ kind, id, agent_id, title, about, since }) => ({
        ...{ kind, id, agent_id, title: redact(title), about: redact(about), since: iso(since) },
      })) ?? null,
    can_be_undone: runs.some(({ files, undone_by }) => files.length > 0 && undone_by === null),
  }
}

function toOutput(run: ReportedRun, redact: (text: string) => string): z.input<typeof runShape> {
  const { run_id, session_id, agent_id, title, status, started_by, outcome, usd, undone_by, label } = run
  return {
    ...{ run_id, session_id, agent_id, title: redact(title), status, started_by, usd, undone_by },
    outcome: outcome === null ? null : redact(outcome),
    files: [...new Set(run.files.map(({ path }) => redact(path)))],
    evidence: run.evidence.map(({ code, title: todo, status: todoStatus, proof, checks }) => ({
      ...{ code, title: redact(todo), status: todoStatus, proof },
      checks: checks.map(({ check, ok, observed }) => {
        return { what: redact(describeCheck(check)), ok, observed: redact(observed) }
      }),
    })),
    ...{ untrusted: label.trust === 'untrusted', from: iso(run.from), to: iso(run.to) },
  }
}

const MAX_RUNS = 100_000

export const reportsList = defineCommand({
  name: 'reports list',
  summary: 'list the last days with their runs and cost, newest first',
  example: 'reports list --days 7',
  runsIn: 'any_process',
  needs: ['past', 'store'],
  input: z.object({ days: z.int().positive().max(90).default(14).describe('number of days') }),
  output: z.object({
    items: z.array(
      z.object({
        day: z.string(),
        runs: z.number(),
        done: z.number(),
        failed: z.number(),
        undone: z.number().describe('runs whose work was taken back'),
        usd: z.number(),
      }),
    ),
  }),
  async run(context, { days }) {
    const { past } = context
    const clock = past.clock()
    const undoneBy = await findUndone(context)
    const today = startOfDay(wallAt(clock, past.now()))
    const first = today - (days - 1) * DAY_MS
    const active = { from: clock.firstInstantShowing(first), to: past.now() + 1 }
    const dispatches = (await past.store.dispatches({ active, limit: MAX_RUNS })).filter(isWork)
    const dayOfChange = ({ updated_at }: { updated_at: string }) => writeDay(wallAt(clock, Date.parse(updated_at)))
    const byDay = Map.groupBy(dispatches, dayOfChange)
    const spend = Map.groupBy(await past.store.spend(writeDay(first), writeDay(today)), ({ day }) => day)
    const items = Array.from({ length: days }, (_, i) => {
      const day = writeDay(today - i * DAY_MS)
      const runs = byDay.get(day) ?? []
      const count = (...statuses: string[]): number => runs.filter(({ status }) => statuses.includes(status)).length
      const micros = (spend.get(day) ?? []).reduce((sum, { usd, reserved }) => sum + usd + reserved, 0)
      const usd = micros / MICROS_PER_USD
      const undone = runs.filter(({ dispatch_id }) => undoneBy(dispatch_id) !== null).length
      return { day, runs: runs.length, done: count('done'), failed: count('failed', 'dead'), undone, usd }
    })
    return { items }
  },
})
