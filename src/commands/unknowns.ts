/** Calls with an unknown outcome, and the owner's decision about them. */

import { z } from 'zod'
import { isTerminal } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { RESOLUTIONS, type Resolution, UNKNOWN_STATUSES, type UnknownOutcome } from '../domain/unknown-outcome.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { unknownSchema } from './lib/output-schemas.ts'

export const unknownsList = defineCommand({
  name: 'unknowns list',
  summary: 'list interrupted calls that may have taken effect',
  example: 'unknowns list --status open',
  runsIn: 'any_process',
  needs: ['store'],
  input: z.object({
    session: z.string().optional().describe('only of this session').meta({ idOf: 'session' }),
    status: z.enum(UNKNOWN_STATUSES).optional().describe('only with this status'),
  }),
  output: z.object({ items: z.array(unknownSchema) }),
  run: async ({ store }, { session, status }) => ({
    items: [...(await store.unknowns({ session_id: session, status }))],
  }),
})

export const unknownsResolve = defineCommand({
  name: 'unknowns resolve',
  summary: 'decide the outcome of an interrupted call',
  example: 'unknowns resolve 1a2b3c --as happened',
  runsIn: 'any_process',
  needs: ['clock', 'ids', 'store'],
  positional: ['id'],
  input: z.object({
    id: z.string().describe('id from unknowns list').meta({ idOf: 'unknown' }),
    as: z.enum(RESOLUTIONS).describe('the call took effect; it did not and runs again; or the tool checks again'),
  }),
  output: unknownSchema,
  async run({ store, clock, ids }, { id, as }) {
    const known = (await store.unknowns({})).find((unknown) => unknown.id === id)
    if (!known)
      throw new TirelessError('not_found', { what: 'no such call', got: id, fix: 'run tireless unknowns list' })
    const [{ unknown }] = await commitOne(store, await resolveOps({ store, clock, ids }, known, as))
    return unknown
  },
})

/** Contract: the operations that resolve the outcome, for one commit: it is resolved only once. */
export async function resolveOps(
  { store, clock, ids }: Needs<'store' | 'clock' | 'ids'>,
  unknown: UnknownOutcome,
  as: Resolution,
): Promise<readonly [Extract<Op, { op: 'resolve' }>, ...Op[]]> {
  const now = clock.now()
  const observations = (await needsObservation(store, unknown)) ? [resolvedOp(unknown, as, now, ids.next())] : []
  return [{ op: 'resolve', unknown_id: unknown.id, as, now }, ...observations]
}

/**
 * Whether the run has to be told of the resolution by an observation: yes if the run went on or has ended; a run that
 * waits for the resolution reads it itself.
 */
async function needsObservation(store: Store, { status, dispatch_id }: UnknownOutcome): Promise<boolean> {
  if (status === 'told_model') return true
  const dispatch = await store.dispatch(dispatch_id)
  return dispatch !== undefined && isTerminal(dispatch.status)
}

function resolvedOp({ id, session_id, tool }: UnknownOutcome, as: Resolution, now: number, successor_id: string): Op {
  const payload = { call: id, tool, as }
  const observation = {
    id: `resolved-${id}`,
    type: 'system_event',
    name: 'unknown_resolved',
    payload,
    ts: now,
  } as const
  return { op: 'publish', session_id, observation, successor_id, now }
}
