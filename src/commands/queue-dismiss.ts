/** Failures that the owner has put aside: they stay in the queue, but need the owner no longer. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { titleOfRun } from '../domain/title.ts'
import { listDismissed } from '../past/dismissed-failures.ts'
import { commitOne, type Store } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'

/** More failures than this are not put aside at once, and not remembered. */
const MAX_DISMISSED = 500

export const queueDismiss = defineCommand({
  name: 'queue dismiss',
  summary: 'put a failed dispatch aside: it no longer needs you; a new failure does',
  example: 'queue dismiss 1a2b3c --same',
  runsIn: 'any_process',
  needs: ['store'],
  positional: ['id'],
  input: z.object({
    id: z.string().describe('dispatch id').meta({ idOf: 'dispatch' }),
    same: z.boolean().default(false).describe('also the other failures of this agent at this task'),
  }),
  output: z.object({ items: z.array(z.object({ dispatch_id: z.string(), dismissed: z.literal(true) })) }),
  async run({ store }, { id, same }) {
    const ids = same ? await findSame(store, id) : [(await findFailure(store, id)).dispatch_id]
    const known = await listDismissed(store)
    const value = [...new Set([...known, ...ids])].slice(-MAX_DISMISSED)
    await commitOne(store, [{ op: 'set', name: 'dismissed_failures', value }])
    return { items: ids.map((dispatch_id) => ({ dispatch_id, dismissed: true as const })) }
  },
})

const FAILED = ['failed', 'dead'] as const

async function findFailure(store: Store, id: string) {
  const dispatch = await store.dispatch(id)
  if (!dispatch)
    throw new TirelessError('not_found', { what: 'no such dispatch', got: id, fix: 'run tireless queue list' })
  if (dispatch.status === 'failed' || dispatch.status === 'dead') return dispatch
  throw new TirelessError('conflict', {
    what: `${id} has not failed`,
    got: dispatch.status,
    expected: 'failed or dead',
  })
}

async function findSame(store: Store, id: string): Promise<readonly string[]> {
  const { agent_id, prompt, metadata } = await findFailure(store, id)
  const title = titleOfRun(prompt, metadata.behaviour)
  const found = await Promise.all(FAILED.map((status) => store.dispatches({ status, agent_id, limit: MAX_DISMISSED })))
  return found
    .flat()
    .filter((other) => titleOfRun(other.prompt, other.metadata.behaviour) === title)
    .map(({ dispatch_id }) => dispatch_id)
}
