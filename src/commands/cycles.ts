/** Cycles: one now, those that were; and the kernel, paused, resumed and stopped. */

import { z } from 'zod'
import type { Cycle } from '../domain/cycle.ts'
import { CYCLE_STATUSES } from '../domain/cycle.ts'
import { DISPATCH_STATUSES, isTerminal } from '../domain/dispatch.ts'
import { FAILURE_CLASSES } from '../domain/stop.ts'
import { readDispatches } from '../kernel/cycle-end.ts'
import { isPaused, PAUSED } from '../kernel/paused.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, unlessUnreadable } from '../ports/store.ts'
import { type Context, command, type Progress } from './command.ts'

export const cycleShape = z.object({
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
    }),
  ),
})

type Result = z.input<typeof cycleShape>

/** Own copies: what is on record is nobody's to change. */
export const resultOf = (result: NonNullable<Cycle['result']>): Result => structuredClone(result) as Result

const EXITS = { success: 0, partial_success: 3, failed: 1, error: 1 } as const

/** One cycle that was waited for, and what of its work is not over. */
const awaitedShape = cycleShape.extend({
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

export const once = command({
  name: 'once',
  summary: 'one cycle of the kernel, now, in the foreground, with whatever else there is to be done',
  runsIn: 'own_process',
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
  exit: ({ status }) => EXITS[status],
})

export const cycleNow = command({
  name: 'cycle now',
  summary: 'one cycle, now: of the running kernel, after the one that runs',
  runsIn: 'any_process',
  input: z.object({}),
  output: awaitedShape,
  async run(context, _, tell) {
    if (!context.kernel.running()) return singleCycle(context, tell)
    const { result, open } = await context.kernel.now()
    return { ...resultOf(result), left: await leftOf(context, open) }
  },
  exit: ({ status }) => EXITS[status],
})

async function singleCycle(
  context: Context,
  tell: (progress: Progress) => void,
): Promise<z.input<typeof awaitedShape>> {
  const { kernel, notifier, signals } = context
  const { result, notes, open } = await kernel.once(signals.drain)
  await notifier.once(signals.drain)
  for (const { text } of notes) tell({ kind: 'note', text })
  const left = await leftOf(context, open)
  for (const one of left) tell({ kind: 'note', text: wordsOf(one) })
  for (const text of await endedSince(context, open)) tell({ kind: 'note', text })
  return { ...resultOf(result), left }
}

type Left = z.output<typeof awaitedShape>['left'][number]

async function leftOf({ store }: Context, open: readonly string[]): Promise<Left[]> {
  return (await readDispatches(store, open)).flatMap((one) => {
    if (isTerminal(one.status)) return []
    const { agent_id, dispatch_id, status, wait } = one
    const until = wait?.until ?? null
    return [{ agent_id, dispatch_id, status, reason: wait?.reason ?? null, until: until === null ? null : iso(until) }]
  })
}

/** In words, what was still at work when the cycle was put on record, and has come to its end since. */
async function endedSince({ store }: Context, open: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(open.map((id) => store.dispatch(id)))
  return found.flatMap((one) =>
    one && isTerminal(one.status)
      ? [`${one.agent_id} (${one.dispatch_id}) is ${one.status} since: the next cycle counts it`]
      : [],
  )
}

/** What is not over, and how it goes on. */
function wordsOf({ agent_id, dispatch_id, status, reason, until }: Left): string {
  const its = `${agent_id} (${dispatch_id})`
  if (status !== 'waiting')
    return `${its} is not over: nothing of it is lost; do this: tireless once, or tireless start, goes on with it`
  const when = until === null ? '' : `, at the latest at ${until}`
  return `${its} waits: ${reason}; do this once that is there${when}: tireless once, or tireless start, goes on with it`
}

export const cyclesList = command({
  name: 'cycles list',
  summary: 'the last cycles, newest first',
  runsIn: 'any_process',
  input: z.object({ limit: z.int().positive().default(20).describe('at most so many') }),
  output: z.object({
    items: z.array(
      z.object({
        cycle_id: z.string(),
        trigger: z.string(),
        due: z.string().nullable(),
        started_at: z.string(),
        ended_at: z.string().nullable(),
        result: cycleShape.nullable(),
      }),
    ),
  }),
  async run({ store, kernelId }, { limit }) {
    const cycles = await store.cycles(kernelId, { limit })
    const items = cycles.map(({ open: _, kernel_id: __, result, ...cycle }) => ({
      ...cycle,
      result: result && resultOf(result),
    }))
    return { items }
  },
})

const standing = z.object({ paused: z.boolean(), since: z.string().nullable() })

export const pause = command({
  name: 'pause',
  summary: 'let the beats pass until it is resumed; what runs goes on',
  runsIn: 'any_process',
  input: z.object({}),
  output: standing,
  async run({ store, clock }) {
    const known = await unlessUnreadable(store.setting(PAUSED), null)
    const since = typeof known === 'string' ? known : iso(clock.now())
    await commitOne(store, [{ op: 'set', name: PAUSED, value: since }])
    return { paused: true, since }
  },
})

export const resume = command({
  name: 'resume',
  summary: 'heed the beats again',
  runsIn: 'any_process',
  input: z.object({}),
  output: standing,
  async run({ store, clock }) {
    const wasPaused = await isPaused(store)
    const resumed = { op: 'set', name: 'resumed', value: iso(clock.now()) } as const
    await commitOne(store, [{ op: 'set', name: PAUSED, value: null }, ...(wasPaused ? [resumed] : [])])
    return { paused: false, since: null }
  },
})

export const stop = command({
  name: 'stop',
  summary: 'stop the running kernel, and wait until its process is gone; running steps may end first',
  runsIn: 'any_process',
  endsHolder: true,
  input: z.object({
    now: z.boolean().default(false).describe('interrupt running steps at once; they go on at the next start'),
    timeout: z
      .number()
      .positive()
      .max(86_400)
      .optional()
      .describe('seconds after which running steps are interrupted; default: kernel.stop_timeout'),
  }),
  output: z.object({ stopped: z.boolean(), timeout: z.number() }),
  async run(context, { now, timeout }) {
    const stopped = context.kernel.running() || context.draining()
    const withinMs = now ? 0 : timeout === undefined ? context.settings().stop_timeout : timeout * 1000
    if (stopped) context.stop(withinMs)
    return { stopped, timeout: withinMs / 1000 }
  },
})
