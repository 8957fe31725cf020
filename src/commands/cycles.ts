/** Runs and lists cycles; pauses, resumes and stops the kernel. */

import { z } from 'zod'
import type { Cycle } from '../domain/cycle.ts'
import { CYCLE_STATUSES } from '../domain/cycle.ts'
import { DISPATCH_STATUSES, isTerminal } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import type { PeopleText } from '../domain/language.ts'
import { FAILURE_CLASSES } from '../domain/stop-reason.ts'
import { readDispatches } from '../kernel/cycle/cycle-end.ts'
import { isPaused, PAUSED_SETTING } from '../kernel/pause-setting.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, fallbackIfUnreadable } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import type { Progress } from './lib/progress.ts'

export const cycleSchema = z.object({
  cycle_id: z.string(),
  status: z.enum(CYCLE_STATUSES),
  dispatched: z.number(),
  succeeded: z.number(),
  failed: z.number(),
  parked: z.number(),
  failed_agents: z.array(z.string()),
  idle_reason: z.string().nullable(),
  error: z.string().nullable(),
  duration_ms: z.number(),
  agents: z.array(
    z.object({
      agent_id: z.string(),
      dispatch_id: z.string(),
      session_id: z.string(),
      status: z.enum(DISPATCH_STATUSES),
      summary: z.string(),
      failure_class: z.enum(FAILURE_CLASSES).nullable(),
      attempts: z.number(),
      recovered_from: z.enum(FAILURE_CLASSES).nullable(),
      files: z.array(z.string()).readonly().optional().describe('full paths of the files that the run wrote'),
    }),
  ),
})

type Result = z.input<typeof cycleSchema>

/** A copy, because stored results must not be changed. */
export const copyCycleResult = (result: NonNullable<Cycle['result']>): Result => structuredClone(result) as Result

const EXITS = { success: 0, partial_success: 3, failed: 1, error: 1 } as const

/** Result of a cycle that the caller waited for; `left`: its unfinished dispatches. */
const awaitedShape = cycleSchema.extend({
  left: z.array(
    z.object({
      agent_id: z.string(),
      dispatch_id: z.string(),
      status: z.enum(DISPATCH_STATUSES),
      reason: z.string().nullable(),
      until: z.string().nullable(),
    }),
  ),
})

export const once = defineCommand({
  name: 'once',
  summary: 'run one cycle and all pending work in the foreground, then exit',
  example: 'once',
  runsIn: 'own_process',
  needs: ['kernel', 'listen', 'notifier', 'signals', 'store'],
  input: z.object({}),
  output: awaitedShape,
  async run(context, _, tell) {
    const stopListening = context.listen(tell)
    try {
      return await singleCycle(context, tell)
    } finally {
      stopListening()
    }
  },
  exitCode: ({ status }) => EXITS[status],
})

export const cycleNow = defineCommand({
  name: 'cycle now',
  summary: 'run one cycle now; a running kernel finishes its current one first',
  example: 'cycle now',
  runsIn: 'any_process',
  needs: ['kernel', 'notifier', 'signals', 'store'],
  input: z.object({}),
  output: awaitedShape,
  async run(context, _, tell) {
    const { kernel, signals } = context
    const elsewhere = kernel.isElsewhere() ? await kernel.runCycleElsewhere(signals.drain) : undefined
    if (!elsewhere && !kernel.isRunning()) return singleCycle(context, tell)
    const { result, open } = elsewhere ?? (await kernel.runCycleNow())
    return { ...copyCycleResult(result), left: await findUnfinished(context, open) }
  },
  exitCode: ({ status }) => EXITS[status],
})

async function singleCycle(
  context: Needs<'kernel' | 'notifier' | 'signals' | 'store'>,
  tell: (progress: Progress) => void,
): Promise<z.input<typeof awaitedShape>> {
  const { kernel, notifier, signals } = context
  const { result, notes, open } = await kernel.runOneCycle(signals.drain)
  await notifier.once(signals.drain)
  for (const { text, zh } of notes) tell({ kind: 'note', text, zh })
  const left = await findUnfinished(context, open)
  for (const unfinished of left) tell({ kind: 'note', ...describeUnfinished(unfinished) })
  for (const note of await endedSince(context, open)) tell({ kind: 'note', ...note })
  return { ...copyCycleResult(result), left }
}

type Unfinished = z.output<typeof awaitedShape>['left'][number]

async function findUnfinished({ store }: Needs<'store'>, open: readonly string[]): Promise<Unfinished[]> {
  return (await readDispatches(store, open)).flatMap((dispatch) => {
    if (isTerminal(dispatch.status)) return []
    const { agent_id, dispatch_id, status, wait } = dispatch
    const until = wait?.until ?? null
    return [{ agent_id, dispatch_id, status, reason: wait?.reason ?? null, until: until === null ? null : iso(until) }]
  })
}

/** Describes dispatches that were open when the cycle was recorded and have ended since. */
async function endedSince({ store }: Needs<'store'>, open: readonly string[]): Promise<readonly PeopleText[]> {
  const found = await Promise.all(open.map((id) => store.dispatch(id)))
  return found.flatMap((dispatch) => {
    if (!dispatch || !isTerminal(dispatch.status)) return []
    const { agent_id, dispatch_id, status } = dispatch
    return [
      {
        text: `${agent_id} (${dispatch_id}) is now ${status}. The next cycle counts it.`,
        zh: `${agent_id}（${dispatch_id}）现在是 ${status}，由下一个周期计入。`,
      },
    ]
  })
}

function describeUnfinished({ agent_id, dispatch_id, status, reason, until }: Unfinished): PeopleText {
  const [name, nameZh] = [`${agent_id} (${dispatch_id})`, `${agent_id}（${dispatch_id}）`]
  if (status !== 'waiting')
    return {
      text: `${name} is not finished. Continue it: tireless once, or tireless start.`,
      zh: `${nameZh}尚未完成。继续：tireless once 或 tireless start。`,
    }
  const [when, whenZh] = until === null ? ['', ''] : [` until ${until} at the latest`, `，最迟到 ${until} `]
  return {
    text: `${name} waits${when}: ${reason}. Continue it then: tireless once, or tireless start.`,
    zh: `${nameZh}在等待${whenZh}：${reason}。之后继续：tireless once 或 tireless start。`,
  }
}

const recordedCycle = z.object({
  cycle_id: z.string(),
  trigger: z.string(),
  due: z.string().nullable(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  result: cycleSchema.nullable(),
})

/** `cycles show` finds a cycle by its id among this many. */
const MAX_SEARCHED = 1000

export const cyclesList = defineCommand({
  name: 'cycles list',
  summary: 'list cycles, newest first',
  example: 'cycles list --limit 5',
  runsIn: 'any_process',
  needs: ['kernelId', 'store'],
  input: z.object({ limit: z.int().positive().default(20).describe('maximum number of cycles') }),
  output: z.object({
    items: z.array(recordedCycle),
  }),
  async run({ store, kernelId }, { limit }) {
    return { items: (await store.cycles(kernelId, { limit })).map(printCycle) }
  },
})

export const cyclesShow = defineCommand({
  name: 'cycles show',
  summary: 'show what came of a cycle: each agent’s result, and the files it wrote',
  example: 'cycles show',
  runsIn: 'any_process',
  needs: ['kernelId', 'store'],
  positional: ['id'],
  input: z.object({
    id: z.string().min(1).optional().describe('the cycle, or the end of its id; default: the last one'),
  }),
  output: recordedCycle,
  async run({ store, kernelId }, { id }) {
    const cycles = await store.cycles(kernelId, { limit: id === undefined ? 1 : MAX_SEARCHED })
    const found = id === undefined ? cycles : cycles.filter(({ cycle_id }) => cycle_id.endsWith(id))
    const [cycle, ...others] = found
    if (cycle && others.length === 0) return printCycle(cycle)
    throw new TirelessError('not_found', {
      what: cycle
        ? 'several cycles have ids with this end'
        : id === undefined
          ? 'there was no cycle yet'
          : 'no such cycle',
      got: id,
      fix: id === undefined ? 'run one: tireless once' : 'run tireless cycles list',
    })
  },
})

const printCycle = ({ open: _, kernel_id: __, result, ...cycle }: Cycle): z.input<typeof recordedCycle> => ({
  ...cycle,
  result: result && copyCycleResult(result),
})

const pauseShape = z.object({ paused: z.boolean(), since: z.string().nullable() })

export const pause = defineCommand({
  name: 'pause',
  summary: 'pause the kernel: skip beats until you resume it; running work continues',
  example: 'pause',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  input: z.object({}),
  output: pauseShape,
  async run({ store, clock }) {
    const known = await fallbackIfUnreadable(store.setting(PAUSED_SETTING), null)
    const since = typeof known === 'string' ? known : iso(clock.now())
    await commitOne(store, [{ op: 'set', name: PAUSED_SETTING, value: since }])
    return { paused: true, since }
  },
})

export const resume = defineCommand({
  name: 'resume',
  summary: 'resume a paused kernel',
  example: 'resume',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  input: z.object({}),
  output: pauseShape.extend({ was_paused: z.boolean() }),
  async run({ store, clock }) {
    const wasPaused = await isPaused(store)
    const resumed = { op: 'set', name: 'resumed', value: iso(clock.now()) } as const
    await commitOne(store, [{ op: 'set', name: PAUSED_SETTING, value: null }, ...(wasPaused ? [resumed] : [])])
    return { paused: false, since: null, was_paused: wasPaused }
  },
})

export const stop = defineCommand({
  name: 'stop',
  summary: 'stop the running kernel and wait for its exit; running steps may finish first',
  example: 'stop --timeout 60',
  runsIn: 'any_process',
  needs: ['draining', 'kernel', 'role', 'settings', 'stop'],
  stopsKernel: true,
  input: z.object({
    now: z.boolean().default(false).describe('interrupt running steps at once; they continue at the next start'),
    timeout: z
      .number()
      .positive()
      .max(86_400)
      .optional()
      .describe('seconds after which running steps are interrupted; default: kernel.stop_timeout'),
  }),
  output: z.object({ stopped: z.boolean(), timeout: z.number() }),
  async run(context, { now, timeout }) {
    // Other roles than `all` may neither lead nor run dispatches at this moment.
    const isWaiting = !['all', null].includes(context.role())
    const stopped = context.kernel.isRunning() || context.draining() || isWaiting
    const withinMs = now ? 0 : timeout === undefined ? context.settings().stop_timeout : timeout * 1000
    if (stopped) context.stop(withinMs)
    return { stopped, timeout: withinMs / 1000 }
  },
})
