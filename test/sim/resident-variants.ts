/** Broken residents: looks that overlap, observations that a crash loses, slices of yesterday. */

import type { Json } from '../../src/domain/json.ts'
import { RESIDENT_BEHAVIOUR, SLICES_EVENT } from '../../src/domain/resident.ts'
import type { Op, Store } from '../../src/ports/store.ts'
import type { Variant } from './variants.ts'

export const RESIDENT_VARIANTS: readonly Variant[] = [
  {
    // A resident takes every look for ended, and starts the next one in a session of its own.
    name: 'tick-overlap',
    seed: 16,
    store: (store) => ({
      ...store,
      async dispatch(id) {
        const found = await store.dispatch(id)
        return found?.metadata.behaviour === RESIDENT_BEHAVIOUR ? { ...found, status: 'done' } : found
      },
      async session(id) {
        const found = await store.session(id)
        return found && id.startsWith('resident-') ? { ...found, status: 'idle' } : found
      },
    }),
    ops: (ops) => ({
      ...ops,
      enqueue: (sql, op, held) =>
        ops.enqueue(
          sql,
          {
            ...op,
            dispatches: op.dispatches.map((dispatch) => {
              if (dispatch.source !== 'resident' || !sql(IN_FLIGHT).get(dispatch.session_id)) return dispatch
              return { ...dispatch, session_id: `${dispatch.session_id}-beside` }
            }),
          },
          held,
        ),
    }),
  },
  {
    // What a look will see counts as seen when the look is started.
    name: 'observation-acknowledged-before-commit',
    seed: 16,
    rewriteBatches: (batches, { mirror }) =>
      batches.map((batch) => {
        const looks = batch.ops.flatMap((op) => (op.op === 'enqueue' ? op.dispatches : []))
        const early = looks.flatMap(({ source, session_id }): Op[] => {
          const unread = mirror.unread(mirror.byId.get(session_id)?.n ?? 0)
          const observation_ids = unread.map(({ id }) => id)
          return source === 'resident' ? [{ op: 'acknowledge', session_id, observation_ids, now: 0 }] : []
        })
        return { ...batch, ops: [...batch.ops, ...early] }
      }),
  },
  { name: 'slice-served-stale', seed: 40, store: serveEarlierSlices },
]

const IN_FLIGHT = `SELECT 1 FROM dispatches d JOIN sessions s ON s.n = d.session
  WHERE s.session_id = ? AND d.status IN ('pending', 'running', 'waiting')`

/** A look is shown the slices of the look before it. */
function serveEarlierSlices(store: Store): Store {
  const earlier = new Map<string, Json>()
  const stale = (op: Op): Op => {
    if (op.op !== 'publish' || op.observation.type !== 'system_event' || op.observation.name !== SLICES_EVENT) return op
    const payload = earlier.get(op.session_id) ?? op.observation.payload ?? null
    earlier.set(op.session_id, op.observation.payload ?? null)
    return { ...op, observation: { ...op.observation, payload } }
  }
  return {
    ...store,
    commit: (batches) => store.commit(batches.map((batch) => ({ ...batch, ops: batch.ops.map(stale) }))),
  }
}
