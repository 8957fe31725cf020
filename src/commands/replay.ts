/** Replays a recorded run offline, or forks it at one of its steps. */

import { hash } from 'node:crypto'
import { z } from 'zod'
import { DISPATCH_STATUSES, type Dispatch } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import type { Event } from '../domain/event.ts'
import { createEventFold } from '../domain/event-fold.ts'
import type { JournalRecord } from '../domain/journal-record.ts'
import { closedKey, workspaceKey } from '../domain/label.ts'
import type { Observation } from '../domain/observation.ts'
import { redactValue } from '../domain/redact.ts'
import { STOP_REASONS } from '../domain/stop-reason.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { refuseElsewhere } from './lib/files-elsewhere.ts'
import { findRun, type RecordedRun } from './lib/find-run.ts'
import { overridesToMetadata } from './lib/task-overrides.ts'
import { readRunEnding, watchDispatch } from './run.ts'

const replayShape = z.object({
  run_id: z.string(),
  identical: z.boolean(),
  events: z.number(),
  hash: z.string(),
  first_divergence: z
    .object({ seq: z.number(), recorded: z.unknown(), replayed: z.unknown() })
    .nullable()
    .describe('null: no difference'),
  note: z.string().nullable().describe('set if another version of the program recorded the run'),
})

const forkShape = z.object({
  run_id: z.string(),
  session_id: z.string(),
  forked_from: z.object({ run_id: z.string(), step: z.number() }),
  status: z.enum(DISPATCH_STATUSES),
  stop_reason: z.enum(STOP_REASONS).nullable(),
  steps: z.number(),
  answer: z.string().nullable(),
  error: z.string().nullable(),
  workspace: z.string(),
  files: z
    .enum(['kept', 'now'])
    .describe('kept: as they were after that step; now: current files, because there is no snapshot'),
})

export const replay = defineCommand({
  name: 'replay',
  summary: 'replay a run offline; with --from, continue it from a step with another model, parser or memory',
  example: 'replay 1a2b3c --from 3 --model openai/gpt-5',
  runsIn: 'any_process',
  needs: [
    'clock',
    'drain',
    'draining',
    'homeId',
    'isQueueWorked',
    'role',
    'ids',
    'listen',
    'prepareWorkspace',
    'redact',
    'replay',
    'signals',
    'snapshots',
    'store',
    'wakeSignal',
  ],
  positional: ['run'],
  input: z.object({
    run: z.string().describe('run id: the id of its dispatch').meta({ idOf: 'dispatch' }),
    from: z.int().positive().optional().describe('fork the run: keep its steps up to this one and continue from there'),
    model: z.string().min(1).optional().describe('with --from: model of the fork'),
    parser: z.string().min(1).optional().describe('with --from: parser of the fork'),
    memory: z.string().min(1).optional().describe('with --from: memory of the fork'),
    detach: z.boolean().default(false).describe('with --from: do not wait for the end of the fork'),
  }),
  output: z.union([replayShape, forkShape]),
  async run(context, { run, from, detach, ...wanted }, tell) {
    const recorded = await findRun(context, run)
    if (from !== undefined) {
      const forked = await fork(context, recorded, from, wanted, tell)
      if (!detach) await watchDispatch(context, forked.run_id, tell)
      return { ...forked, ...(await readRunEnding(context, forked.run_id, forked.session_id)) }
    }
    if (Object.values(wanted).some((value) => value !== undefined))
      throw new TirelessError('usage', {
        what: 'a replay uses the recorded model, parser and memory',
        fix: 'add --from STEP to fork the run',
      })
    const { dispatch, past, records } = recorded
    return compareEvents(context, dispatch, records, await context.replay(dispatch, past, records))
  },
  exitCode(output) {
    // A detached fork has not started, or runs.
    const isFine = 'identical' in output ? output.identical : ['done', 'pending', 'running'].includes(output.status)
    return isFine ? 0 : 1
  },
})

function compareEvents(
  { redact }: Needs<'redact'>,
  { dispatch_id: run_id, session_id }: Dispatch,
  records: readonly JournalRecord[],
  replayed: readonly JournalRecord[],
): z.input<typeof replayShape> {
  const note = describeCompilerChange(records, replayed)
  const eventsOf = (run: readonly JournalRecord[]): string[] => {
    const fold = createEventFold({ run_id, session_id })
    return run
      .flatMap((record) => fold.apply(redactValue(record, redact)))
      .map((event) => comparableText(event, note === null))
  }
  const [recordedEvents, replayedEvents] = [eventsOf(records), eventsOf(replayed)]
  const at = recordedEvents.findIndex((event, i) => event !== replayedEvents[i])
  const difference = at >= 0 ? at : replayedEvents.length > recordedEvents.length ? recordedEvents.length : -1
  const parse = (event: string | undefined): unknown => (event === undefined ? null : JSON.parse(event))
  return {
    run_id,
    identical: difference < 0,
    events: recordedEvents.length,
    hash: hash('sha256', replayedEvents.join('\n')),
    first_divergence:
      difference < 0
        ? null
        : {
            seq: difference + 1,
            recorded: parse(recordedEvents[difference]),
            replayed: parse(replayedEvents[difference]),
          },
    note,
  }
}

/** A note if another version of the prompt compiler made the recorded prompts, which may then differ; else null. */
function describeCompilerChange(records: readonly JournalRecord[], replayed: readonly JournalRecord[]): string | null {
  const [then, now] = [records, replayed].map(
    (run) => run.find((record) => record.kind === 'model_requested')?.compiler,
  )
  if (then === undefined || now === undefined || then === now) return null
  return `Recorded with prompt compiler ${then}; this program has ${now}, so request bytes are not compared.`
}

/**
 * The event as text, without its timestamp. `withPrompts`: include the digests of prompts, which are comparable only if
 * the same prompt compiler made both.
 */
function comparableText({ ts: _, ...event }: Event, withPrompts: boolean): string {
  if (withPrompts || event.stage !== 'model_input') return JSON.stringify(event)
  const { digest: __, composition: ___, ...payload } = event.payload as Record<string, unknown>
  return JSON.stringify({ ...event, payload })
}

async function fork(
  context: Needs<
    | 'clock'
    | 'drain'
    | 'draining'
    | 'homeId'
    | 'isQueueWorked'
    | 'role'
    | 'ids'
    | 'listen'
    | 'prepareWorkspace'
    | 'signals'
    | 'snapshots'
    | 'store'
    | 'wakeSignal'
  >,
  { dispatch, records }: RecordedRun,
  from: number,
  wanted: { model?: string | undefined; parser?: string | undefined; memory?: string | undefined },
  tell: Parameters<typeof watchDispatch>[2],
): Promise<Pick<z.input<typeof forkShape>, 'run_id' | 'session_id' | 'forked_from' | 'workspace' | 'files'>> {
  const { store, clock, ids } = context
  const dispatch_id = ids.next()
  const session_id = `${dispatch.agent_id}-${dispatch_id}`
  const session = await store.session(dispatch.session_id)
  if (!(await context.snapshots.hasAny(dispatch.dispatch_id)))
    await refuseElsewhere(context, { got: dispatch.dispatch_id, home: dispatch.home, workspace: session?.workspace })
  const kept = recordsUpTo(records, from, dispatch_id)
  const { path: workspace } = await context.prepareWorkspace(session_id)
  const step = { run_id: dispatch.dispatch_id, turn: kept.turn }
  const { workspace: original = workspace } = session ?? {}
  const files = await context.snapshots.copyTo(workspace, { workspace: original, step, as: dispatch_id })
  if (files === 'now')
    tell({ kind: 'note', text: `No snapshot of step ${from}: the fork starts with the files as they are now.` })
  const [label, closed] = await Promise.all([workspaceKey, closedKey].map((keyOf) => store.label(keyOf(original))))
  const forked_from = { run_id: dispatch.dispatch_id, step: from }
  const metadata = { ...dispatch.metadata, ...overridesToMetadata(wanted), forked_from }
  const { agent_id, kernel_id, prompt, priority } = dispatch
  const copy = { dispatch_id, kernel_id, agent_id, session_id, prompt, priority, metadata, source: 'fork', workspace }
  await commitOne(store, [
    { op: 'enqueue', now: clock.now(), dispatches: [copy] },
    { op: 'append', session_id, records: kept.records },
    // The copied workspace keeps the label of the original (I12).
    ...(label === undefined ? [] : [{ op: 'label', of: workspaceKey(workspace), label } as const]),
    ...(closed === undefined ? [] : [{ op: 'label', of: closedKey(workspace), label: closed } as const]),
  ])
  return { run_id: dispatch_id, session_id, forked_from, workspace, files }
}

/**
 * The records of the first `from` steps, as the start of a new run. When the engine continues the run, it records the
 * new model, parser or memory.
 */
function recordsUpTo(
  records: readonly JournalRecord[],
  from: number,
  run_id: string,
): { readonly turn: number; readonly records: readonly JournalRecord[] } {
  const steps = records.filter((record) => record.kind === 'step_committed')
  const last = steps[from - 1]
  if (!last)
    throw new TirelessError('usage', {
      what: 'no such step',
      got: String(from),
      expected: `a step from 1 to ${steps.length}`,
    })
  const [started] = records
  const first = started?.seq ?? 1
  const oldRunId = started?.kind === 'run_started' ? started.run_id : ''
  // The observation that carries the task has the id of the dispatch, so it gets the new id.
  const withNewId = (observed: Observation): Observation =>
    observed.id === oldRunId ? { ...observed, id: run_id } : observed
  const kept = records
    .filter(({ seq }) => seq <= last.seq)
    .map((record): JournalRecord => {
      const seq = record.seq - first + 1
      if (record.kind === 'run_started') return { ...record, seq, run_id }
      if (record.kind === 'input_bound') return { ...record, seq, input: record.input.map(withNewId) }
      // A fork goes on where the run ended or waited; a change of behaviour stays.
      return record === last && last.next.kind !== 'become'
        ? { ...last, seq, next: { kind: 'continue' } }
        : { ...record, seq }
    })
  return { turn: last.turn, records: kept }
}
