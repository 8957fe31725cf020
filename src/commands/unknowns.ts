/** Outcomes that nobody knows, and the owner's word on them. */

import { z } from 'zod'
import { isTerminal } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { RESOLUTIONS, type Resolution, type Unknown } from '../domain/unknown.ts'
import { commitOne, type Op, type Store } from '../ports/store.ts'
import { command } from './command.ts'
import { unknownShape } from './shapes.ts'

export const unknownsList = command({
  name: 'unknowns list',
  summary: 'calls that were cut short and may have taken effect',
  runsIn: 'any_process',
  input: z.object({ session: z.string().optional().describe("only this session's") }),
  output: z.object({ items: z.array(unknownShape) }),
  run: async ({ store }, { session }) => ({ items: [...(await store.unknowns({ session_id: session }))] }),
})

export const unknownsResolve = command({
  name: 'unknowns resolve',
  summary: 'say what became of such a call',
  runsIn: 'any_process',
  positional: ['id'],
  input: z.object({
    id: z.string().describe('id from unknowns list'),
    as: z.enum(RESOLUTIONS).describe('it happened; it did not (it will be run now); or let the tool check again'),
  }),
  output: unknownShape,
  async run({ store, clock, ids }, { id, as }) {
    const now = clock.now()
    const known = (await store.unknowns({})).find((unknown) => unknown.id === id)
    if (!known)
      throw new TirelessError('not_found', { what: 'there is no such call', got: id, fix: 'see: unknowns list' })
    const telling = (await nobodyWaitsFor(store, known)) ? [told(known, as, now, ids.next())] : []
    // One commit: a word can be said once only, so one that is kept and not told would never be told.
    const [{ unknown }] = await commitOne(store, [{ op: 'resolve', unknown_id: id, as, now }, ...telling])
    return unknown
  },
})

/** A run waits for the word on an open one. A model that was told, or whose run is over, hears it as an observation. */
async function nobodyWaitsFor(store: Store, { status, dispatch_id }: Unknown): Promise<boolean> {
  if (status === 'told_model') return true
  const dispatch = await store.dispatch(dispatch_id)
  return dispatch !== undefined && isTerminal(dispatch.status)
}

function told({ id, session_id, tool }: Unknown, as: Resolution, now: number, successor_id: string): Op {
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
