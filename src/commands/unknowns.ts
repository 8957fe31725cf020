/** Outcomes that nobody knows, and the owner's word on them. */

import { z } from 'zod'
import { RESOLUTIONS } from '../domain/unknown.ts'
import { commitOne } from '../ports/store.ts'
import { command } from './command.ts'
import { unknownShape } from './shapes.ts'

export const unknownsList = command({
  name: 'unknowns list',
  summary: 'calls that were cut short and may have taken effect',
  place: 'home',
  input: z.object({ session: z.string().optional().describe("only this session's") }),
  output: z.object({ items: z.array(unknownShape) }),
  run: async ({ store }, { session }) => ({ items: [...(await store.unknowns({ session_id: session }))] }),
})

export const unknownsResolve = command({
  name: 'unknowns resolve',
  summary: 'say what became of such a call',
  place: 'home',
  positional: ['id'],
  input: z.object({
    id: z.string().describe('id from unknowns list'),
    as: z.enum(RESOLUTIONS).describe('it happened; it did not (it will be run now); or let the tool check again'),
  }),
  output: unknownShape,
  async run({ store, clock, ids }, { id, as }) {
    const now = clock.now()
    const before = (await store.unknowns({})).find((unknown) => unknown.id === id)
    const [{ unknown }] = await commitOne(store, [{ op: 'resolve', unknown_id: id, as, now }])
    // Only an open one has a run waiting for it; a model that was told already hears the owner's word as an observation.
    if (before?.status === 'told_model')
      await commitOne(store, [
        {
          op: 'publish',
          session_id: unknown.session_id,
          observation: {
            id: `resolved-${id}`,
            type: 'system_event',
            name: 'unknown_resolved',
            payload: { call: id, tool: unknown.tool, as },
            ts: now,
          },
          successor_id: ids.next(),
          now,
        },
      ])
    return unknown
  },
})
