/** The queue, worked in the foreground. */

import { z } from 'zod'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { command } from './command.ts'

export const start = command({
  name: 'start',
  summary: 'work the queue in the foreground',
  place: 'holder',
  input: z.object({
    until_idle: z.boolean().default(false).describe('end when nothing is pending or running, leaving what is parked'),
    max_minutes: z.number().positive().default(30).describe('with --until-idle: end after so long in any case'),
  }),
  output: z.object({ queue: z.record(z.enum(DISPATCH_STATUSES), z.number()) }),
  async run(context, { until_idle, max_minutes }, tell) {
    for (const text of await context.notices()) tell({ kind: 'note', text })
    const stopListening = context.listen(tell)
    const enough = new AbortController()
    const over = new AbortController()
    if (until_idle) void context.clock.sleep(max_minutes * 60_000, over.signal).then(() => enough.abort())
    try {
      await context.drain({ untilIdle: until_idle, until: enough.signal })
      return { queue: { ...(await context.store.counts()) } }
    } finally {
      over.abort()
      stopListening()
    }
  },
})
