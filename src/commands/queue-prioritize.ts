/** Changes which of the waiting dispatches runs first. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { commitOne, type Store } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'

export const queuePrioritize = defineCommand({
  name: 'queue prioritize',
  summary: 'run a dispatch before the others that wait for their turn',
  example: 'queue prioritize 1a2b3c',
  runsIn: 'any_process',
  needs: ['clock', 'store'],
  positional: ['id'],
  input: z.object({
    id: z.string().describe('dispatch id').meta({ idOf: 'dispatch' }),
    priority: z.int().optional().describe('higher runs first; default: higher than all that wait for their turn'),
  }),
  output: z.object({ dispatch_id: z.string(), was: z.number(), priority: z.number() }),
  async run({ clock, store }, { id, priority: wanted }) {
    const dispatch = await store.dispatch(id)
    if (!dispatch)
      throw new TirelessError('not_found', { what: 'no such dispatch', got: id, fix: 'run tireless queue list' })
    const priority = wanted ?? (await highestOfOthers(store, id)) + 1
    await commitOne(store, [{ op: 'prioritize', dispatch_id: id, priority, now: clock.now() }])
    return { dispatch_id: id, was: dispatch.priority, priority }
  },
})

const MAX_COMPARED = 10_000

async function highestOfOthers(store: Store, id: string): Promise<number> {
  const pending = await store.dispatches({ status: 'pending', limit: MAX_COMPARED })
  return Math.max(0, ...pending.filter(({ dispatch_id }) => dispatch_id !== id).map(({ priority }) => priority))
}
