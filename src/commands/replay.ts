/** A recorded run, lived again offline; or gone on with from one of its steps, made with something else. */

import { hash } from 'node:crypto'
import { z } from 'zod'
import { DISPATCH_STATUSES, type Dispatch } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { type Event, eventFold } from '../domain/event.ts'
import type { Observation } from '../domain/observation.ts'
import type { JournalRecord } from '../domain/record.ts'
import { redacted } from '../domain/redacted.ts'
import { STOP_REASONS } from '../domain/stop.ts'
import { workspaceKey } from '../domain/trust.ts'
import { commitOne } from '../ports/store.ts'
import { type Context, command } from './command.ts'
import { findRun, type Recorded } from './find-run.ts'
import { endingIn, watch } from './run.ts'
import { metadataOf } from './wishes.ts'

const replayed = z.object({
  run_id: z.string(),
  identical: z.boolean(),
  events: z.number(),
  hash: z.string(),
  first_divergence: z
    .object({ seq: z.number(), recorded: z.unknown(), replayed: z.unknown() })
    .nullable()
    .describe('null: event for event the same'),
  note: z.string().nullable().describe('why a difference was to be expected; null: there is no known reason'),
})

const forked = z.object({
  run_id: z.string(),
  forked_from: z.object({ run_id: z.string(), step: z.number() }),
  status: z.enum(DISPATCH_STATUSES),
  stop_reason: z.enum(STOP_REASONS).nullable(),
  steps: z.number(),
  answer: z.string().nullable(),
  error: z.string().nullable(),
  workspace: z.string(),
  files: z.enum(['kept', 'now']).describe('kept: as that step left them; now: no snapshot of them was kept'),
})

export const replay = command({
  name: 'replay',
  summary: 'live a run again, offline; with --from, go on from one of its steps with another model, parser or memory',
  runsIn: 'any_process',
  positional: ['run'],
  input: z.object({
    run: z.string().describe('run id: the id of its dispatch'),
    from: z.int().positive().optional().describe('fork: keep the steps up to this one, and go on from there'),
    model: z.string().min(1).optional().describe('with --from: another model'),
    parser: z.string().min(1).optional().describe('with --from: another parser'),
    memory: z.string().min(1).optional().describe('with --from: another memory'),
  }),
  output: z.union([replayed, forked]),
  async run(context, { run, from, ...wanted }, tell) {
    const recorded = await findRun(context, run)
    if (from !== undefined) return fork(context, recorded, from, wanted, tell)
    if (Object.values(wanted).some((value) => value !== undefined))
      throw new TirelessError('usage', {
        what: 'a replay changes nothing',
        fix: 'say with --from STEP where to go on with another model, parser or memory',
      })
    const { dispatch, past, records } = recorded
    return compared(context, dispatch, records, await context.replay(dispatch, past, records))
  },
  exit: (output) => ('identical' in output ? (output.identical ? 0 : 1) : output.status === 'done' ? 0 : 1),
})

function compared(
  { redact }: Context,
  { dispatch_id: run_id, session_id }: Dispatch,
  records: readonly JournalRecord[],
  again: readonly JournalRecord[],
): z.input<typeof replayed> {
  const eventsOf = (made: readonly JournalRecord[]): string[] => {
    const fold = eventFold({ run_id, session_id })
    return made.flatMap((record) => fold.of(redacted(record, redact))).map(timeless)
  }
  const [recorded, lived] = [eventsOf(records), eventsOf(again)]
  const at = recorded.findIndex((event, i) => event !== lived[i])
  const parted = at >= 0 ? at : lived.length > recorded.length ? recorded.length : -1
  const parsed = (event: string | undefined): unknown => (event === undefined ? null : JSON.parse(event))
  return {
    run_id,
    identical: parted < 0,
    events: recorded.length,
    hash: hash('sha256', lived.join('\n')),
    first_divergence:
      parted < 0 ? null : { seq: parted + 1, recorded: parsed(recorded[parted]), replayed: parsed(lived[parted]) },
    note: parted < 0 ? null : otherCompiler(records, again),
  }
}

/** What the model is shown is made by another version of the program: then it may have been shown something else. */
function otherCompiler(records: readonly JournalRecord[], again: readonly JournalRecord[]): string | null {
  const [then, now] = [records, again].map((made) => made.find((record) => record.kind === 'model_requested')?.compiler)
  if (then === undefined || now === undefined || then === now) return null
  return `the run was recorded by prompt compiler ${then}; this program has ${now}, and makes its prompts otherwise`
}

/** When it happened is no part of what happened. */
function timeless({ ts: _, ...event }: Event): string {
  return JSON.stringify(event)
}

async function fork(
  context: Context,
  { dispatch, records }: Recorded,
  from: number,
  wanted: { model?: string | undefined; parser?: string | undefined; memory?: string | undefined },
  tell: Parameters<typeof watch>[2],
): Promise<z.input<typeof forked>> {
  const { store, clock, ids } = context
  const dispatch_id = ids.next()
  const session_id = `${dispatch.agent_id}-${dispatch_id}`
  const session = await store.session(dispatch.session_id)
  const kept = upTo(records, from, dispatch_id)
  const { path: workspace } = await context.workspace(session_id)
  const step = { run_id: dispatch.dispatch_id, turn: kept.turn }
  const { workspace: original = workspace } = session ?? {}
  const files = await context.snapshots.copyTo(workspace, { workspace: original, step, as: dispatch_id })
  if (files === 'now')
    tell({ kind: 'note', text: `No snapshot of step ${from}: the fork starts with the files as they are now.` })
  const label = await store.label(workspaceKey(original))
  const metadata = { ...dispatch.metadata, ...metadataOf(wanted) }
  const { agent_id, kernel_id, prompt, priority } = dispatch
  const made = { dispatch_id, kernel_id, agent_id, session_id, prompt, priority, metadata, source: 'fork', workspace }
  await commitOne(store, [
    { op: 'enqueue', now: clock.now(), dispatches: [made] },
    { op: 'append', session_id, records: kept.records },
    // A copy is worth no more than what it was made of (I12).
    ...(label === undefined ? [] : [{ op: 'label', of: workspaceKey(workspace), label } as const]),
  ])
  await watch(context, dispatch_id, tell)
  const ending = await endingIn(context, dispatch_id, session_id)
  return { run_id: dispatch_id, forked_from: { run_id: dispatch.dispatch_id, step: from }, workspace, files, ...ending }
}

/** The steps that are kept, as the beginning of another run; what it is made with from there on, the engine writes down when it goes on. */
function upTo(
  records: readonly JournalRecord[],
  from: number,
  run_id: string,
): { readonly turn: number; readonly records: readonly JournalRecord[] } {
  const steps = records.filter((record) => record.kind === 'step_committed')
  const last = steps[from - 1]
  if (!last)
    throw new TirelessError('usage', {
      what: 'the run has no such step',
      got: String(from),
      expected: `a step from 1 to ${steps.length}`,
    })
  const [started] = records
  const first = started?.seq ?? 1
  const was = started?.kind === 'run_started' ? started.run_id : ''
  // The task is known by the id of the dispatch that it came with.
  const ours = (observed: Observation): Observation => (observed.id === was ? { ...observed, id: run_id } : observed)
  const kept = records
    .filter(({ seq }) => seq <= last.seq)
    .map((record): JournalRecord => {
      const seq = record.seq - first + 1
      if (record.kind === 'run_started') return { ...record, seq, run_id }
      if (record.kind === 'input_bound') return { ...record, seq, input: record.input.map(ours) }
      return record === last ? { ...last, seq, next: { kind: 'continue' } } : { ...record, seq }
    })
  return { turn: last.turn, records: kept }
}
