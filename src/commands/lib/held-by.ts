/** Why dispatches that could run do not run yet. */

import { z } from 'zod'
import type { Dispatch } from '../../domain/dispatch.ts'
import type { Needs } from './context.ts'

const HOLDS = ['paused', 'no_kernel', 'workspace', 'slot'] as const

export const heldByShape = z
  .object({
    kind: z
      .enum(HOLDS)
      .describe('workspace: another run works in its folder; slot: as many runs as may run are running'),
    run_id: z.string().nullable().describe('the run in its folder'),
  })
  .nullable()
  .describe('why it does not run although nothing is missing; null: it runs, waits or has ended')

type HeldBy = z.input<typeof heldByShape>

const MAX_RUNNING = 1000

/** Contract: reads what is needed once; the result is called for each dispatch. */
export async function findHolds(
  { store, isQueueWorked }: Needs<'store' | 'isQueueWorked'>,
  dispatches: readonly Dispatch[],
): Promise<(dispatch: Dispatch) => HeldBy> {
  const pending = dispatches.filter(({ status }) => status === 'pending')
  const running = pending.length === 0 ? [] : await store.dispatches({ status: 'running', limit: MAX_RUNNING })
  const isWorked = pending.length > 0 && (await isQueueWorked())
  const workspaces = new Map<string, string | undefined>()
  for (const { session_id } of [...pending, ...running])
    if (!workspaces.has(session_id)) workspaces.set(session_id, (await store.session(session_id))?.workspace)
  return ({ status, paused, session_id }) => {
    if (paused && (status === 'pending' || status === 'waiting')) return { kind: 'paused', run_id: null }
    if (status !== 'pending') return null
    if (!isWorked) return { kind: 'no_kernel', run_id: null }
    const workspace = workspaces.get(session_id)
    const other = running.find((run) => workspaces.get(run.session_id) === workspace && run.session_id !== session_id)
    return other ? { kind: 'workspace', run_id: other.dispatch_id } : { kind: 'slot', run_id: null }
  }
}
