/** Traces of runs: from their journals, or from trace files if the home cannot be opened. */

import { z } from 'zod'
import type { Dispatch } from '../domain/dispatch.ts'
import type { Event } from '../domain/event.ts'
import { type JournalRecord, recordsOfRun } from '../domain/journal-record.ts'
import { redactValue } from '../domain/redact.ts'
import { FAILURE_CLASSES, STOP_REASONS } from '../domain/stop-reason.ts'
import { iso } from '../ports/clock.ts'
import { fallbackIfUnreadable } from '../ports/store.ts'
import { exportHtml } from '../trace/export.ts'
import type { TraceManifest } from '../trace/manifest.ts'
import type { ReadTrace } from '../trace/reader.ts'
import { type Trace, traceFromRecords } from '../trace/trace.ts'
import { writePage } from '../trace/trace-files.ts'
import { promptsFromEvents } from '../trace/trace-prompts.ts'
import type { TraceStep } from '../trace/trace-step.ts'
import { shellLine } from './lib/bring-back.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { findRun } from './lib/find-run.ts'
import { runSetupSchema, typedAs } from './lib/output-schemas.ts'
import { type FullStep, readStep } from './lib/read-step.ts'
import { findUndone, undoneByShape } from './lib/undone-runs.ts'

const manifestShape = z.object({
  run_id: z.string(),
  session_id: z.string(),
  schema_version: z.number(),
  status: z.enum(['running', 'completed', 'failed']),
  stop_reason: z.enum(STOP_REASONS).nullable(),
  step_count: z.number(),
  event_count: z.number(),
  final_answer: z.string().nullable(),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number(), cached_tokens: z.number() }),
  cost_usd: z.number().nullable(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  agent_id: z.string().nullable(),
  behaviour: z.string().nullable(),
  task: z.string().nullable(),
  setup: runSetupSchema.nullable(),
  failure_class: z.enum(FAILURE_CLASSES).nullable(),
  error: z.string().nullable(),
  issues: z.array(z.object({ code: z.string(), message: z.string() })),
})

const runInput = z.string().describe('run id: the id of its dispatch').meta({ idOf: 'dispatch' })

/** Contract: a run's records in order, redacted. */
export async function readRedactedRecords(
  context: Needs<'redact' | 'store'>,
  run_id: string,
): Promise<readonly JournalRecord[]> {
  const { records } = await findRun(context, run_id)
  return records.map((record) => redactValue(record, context.redact))
}

/** Contract: the trace of a run, redacted; empty if the run was claimed but has no records yet. */
export async function readTrace(context: Needs<'redact' | 'store'>, run_id: string): Promise<ReadTrace> {
  const dispatch = await context.store.dispatch(run_id)
  const hasRecords = dispatch?.status !== 'running' || (await isStarted(context, dispatch))
  const records = hasRecords ? await readRedactedRecords(context, run_id) : []
  const trace = traceFromRecords({ run_id, session_id: dispatch?.session_id ?? '' }, records)
  return { ...trace, manifest: dispatch ? withOwnStart(trace, dispatch) : trace.manifest, torn: [] }
}

/** A fork begins with copied records, which are older than itself. Contract: null as its start until it has run. */
function withOwnStart({ manifest, events }: Trace, { metadata, created_at }: Dispatch): TraceManifest {
  if (metadata.forked_from === undefined) return manifest
  const own = events.find(({ ts }) => ts >= Date.parse(created_at))
  return { ...manifest, started_at: own ? iso(own.ts) : null }
}

const isStarted = async ({ store }: Needs<'store'>, { session_id, dispatch_id }: Dispatch): Promise<boolean> =>
  recordsOfRun(await store.journal(session_id), dispatch_id).length > 0

export const traceList = defineCommand({
  name: 'trace list',
  summary: 'list runs with status, steps and task, newest first',
  example: 'trace list --limit 5',
  runsIn: 'any_process',
  needs: ['redact', 'store'],
  input: z.object({ limit: z.int().positive().default(20).describe('maximum number of runs') }),
  output: z.object({ items: z.array(manifestShape.extend({ undone_by: undoneByShape.optional() })) }),
  async run({ store, redact }, { limit }) {
    const undoneBy = await findUndone({ store })
    const items: TraceManifest[] = []
    // Read one journal at a time, because journals can be long.
    for (const dispatch of await store.dispatches({ limit })) {
      const { dispatch_id: run_id, session_id } = dispatch
      const records = recordsOfRun(await fallbackIfUnreadable(store.journal(session_id), []), run_id)
      if (records.length === 0) continue
      const redacted = records.map((record) => redactValue(record, redact))
      items.push(withOwnStart(traceFromRecords({ run_id, session_id }, redacted), dispatch))
    }
    return {
      items: items.map((item) => {
        const undone_by = undoneBy(item.run_id)
        return { ...printable(item), ...(undone_by === null ? {} : { undone_by }) }
      }),
    }
  },
  runClosed: async ({ traces }, { limit }) => ({ items: (await traces.list(limit)).map(printable) }),
})

const printable = (manifest: TraceManifest): z.input<typeof manifestShape> => ({
  ...manifest,
  issues: [...manifest.issues],
})

const traceShape = z.object({
  manifest: manifestShape,
  steps: z.array(typedAs<TraceStep>(z.looseObject({ step_id: z.number() }))).nullable(),
  events: z.array(typedAs<Event>(z.looseObject({ seq: z.number(), phase: z.string(), stage: z.string() }))).nullable(),
  prompts: z
    .array(
      z.object({
        step_id: z.number(),
        model: z.string(),
        tokens: z.number(),
        sections: z.record(z.string(), z.number()),
        bytes: z.number(),
        cached_share: z.number(),
        cut: z.array(z.string()),
        dropped: z.array(z.string()),
      }),
    )
    .nullable(),
  step: typedAs<FullStep>(z.looseObject({ step_id: z.number() }))
    .nullable()
    .describe('one step in full: input, request, answer, calls with arguments and results, approvals, errors'),
  torn: z.array(z.string()).describe('trace files with unreadable lines'),
})

export const traceShow = defineCommand({
  name: 'trace show',
  summary: 'show one run: its steps, its events, the composition of its prompts, or one step in full',
  example: 'trace show 1a2b3c --step 3 --request',
  runsIn: 'any_process',
  needs: ['redact', 'replay', 'store'],
  positional: ['run'],
  input: z.object({
    run: runInput,
    steps: z.boolean().default(false).describe('show steps (default)'),
    events: z.boolean().default(false).describe('show events'),
    after: z.int().nonnegative().default(0).describe('show only events after the one with this number'),
    limit: z.int().positive().optional().describe('maximum number of events; default: all'),
    prompt: z.boolean().default(false).describe('show what each prompt consists of, and the share served from cache'),
    step: z.int().positive().optional().describe('show this step in full'),
    request: z.boolean().default(false).describe('with --step: show what was sent to the model'),
  }),
  output: traceShape,
  async run(context, { step, ...asked }) {
    const full = step === undefined ? null : await readStep(context, { ...asked, step })
    return printTrace(await readTrace(context, asked.run), asked, full)
  },
  runClosed: async ({ traces }, asked) => printTrace(await traces.read(asked.run), asked, null),
})

interface AskedTrace {
  readonly steps: boolean
  readonly events: boolean
  readonly prompt: boolean
  readonly after: number
  readonly limit?: number | undefined
}

function printTrace(
  { manifest, steps, events, torn }: ReadTrace,
  asked: AskedTrace,
  step: FullStep | null,
): z.input<typeof traceShape> {
  return {
    manifest: printable(manifest),
    steps: asked.steps || !(asked.events || asked.prompt || step) ? [...steps] : null,
    events: asked.events ? events.filter(({ seq }) => seq > asked.after).slice(0, asked.limit) : null,
    prompts: asked.prompt
      ? promptsFromEvents(events).map(({ cut, dropped, ...prompt }) => ({
          ...prompt,
          cut: [...cut],
          dropped: [...dropped],
        }))
      : null,
    step,
    torn: [...torn],
  }
}

export const traceExport = defineCommand({
  name: 'trace export',
  summary: 'export one run as a self-contained HTML page',
  example: 'trace export 1a2b3c --html run.html',
  runsIn: 'any_process',
  needs: ['redact', 'store'],
  positional: ['run'],
  input: z.object({
    run: runInput,
    html: z.string().min(1).describe('the new file to write').meta({ path: true }),
    yes: z.boolean().default(false).describe('replace the file if it exists').meta({ short: 'y' }),
  }),
  output: z.object({ run_id: z.string(), file: z.string(), bytes: z.number() }),
  run: async (context, { run, html, yes }) => writeHtml(await readTrace(context, run), html, yes),
  runClosed: async ({ traces }, { run, html, yes }) => writeHtml(await traces.read(run), html, yes),
})

async function writeHtml(
  trace: ReadTrace,
  file: string,
  replace: boolean,
): Promise<{ run_id: string; file: string; bytes: number }> {
  const page = exportHtml(trace)
  const { run_id } = trace.manifest
  writePage(file, page, replace, shellLine('trace', 'export', run_id, '--html', file))
  return { run_id, file, bytes: Buffer.byteLength(page) }
}
