/** The state of the whole, at a glance. All keys always; null or empty where the room is not built. */

import { z } from 'zod'
import { command } from './command.ts'

/** More than this nobody counts. */
const MANY = 10_000

export const status = command({
  name: 'status',
  summary: 'what is going on',
  place: 'home',
  input: z.object({}),
  output: z.object({
    kernel: z.object({
      id: z.string(),
      state: z.enum(['running', 'stopped']),
      next_beat: z.string().nullable(),
      last_cycle: z.unknown().nullable(),
    }),
    queue: z.object({
      pending: z.number(),
      running: z.number(),
      waiting: z.number(),
      done: z.number(),
      failed: z.number(),
      dead: z.number(),
      cancelled: z.number(),
    }),
    sessions: z.object({ active: z.number(), waiting: z.number() }),
    residents: z.array(z.unknown()),
    spend: z.object({ today_usd: z.number().nullable(), cap_usd: z.number().nullable(), calls: z.number().nullable() }),
    approvals: z.number(),
    unknowns: z.number(),
    health: z.object({ ok: z.boolean(), reasons: z.array(z.string()) }),
    degraded: z.array(z.string()),
    workers: z.array(z.object({ epoch: z.number(), name: z.string(), lease_until: z.string() })),
  }),
  async run(context) {
    const { store, clock } = context
    const queue = await store.counts()
    const { ok, reasons, degraded } = context.health()
    return {
      kernel: {
        id: context.kernelId,
        state: context.draining() ? ('running' as const) : ('stopped' as const),
        next_beat: null,
        last_cycle: null,
      },
      queue: { ...queue },
      // At most one dispatch of a session is in flight, so the queue counts sessions too.
      sessions: { active: queue.pending + queue.running, waiting: queue.waiting },
      residents: [],
      spend: { today_usd: null, cap_usd: null, calls: null },
      approvals: (await store.approvals({ status: 'open', limit: MANY })).length,
      unknowns: (await store.unknowns({})).filter((unknown) => unknown.status === 'open').length,
      health: { ok, reasons: [...reasons] },
      degraded: [...degraded],
      workers: [...(await store.workers(clock.now()))],
    }
  },
})
