/** Why dispatches that could run do not run yet. */

import { z } from 'zod'
import type { Dispatch } from '../../domain/dispatch.ts'
import type { HomeSeen } from '../../ports/store/queue.ts'
import type { Store } from '../../ports/store.ts'
import type { Needs } from './context.ts'

const HOLDS = ['paused', 'away', 'no_kernel', 'workspace', 'slot'] as const

export const heldByShape = z
  .object({
    kind: z
      .enum(HOLDS)
      .describe('away: no worker runs on the machine that has its files; workspace: another run works in its folder'),
    run_id: z.string().nullable().describe('the run in its folder'),
    machine: z
      .object({ host: z.string(), last_seen: z.string().nullable().describe('null: no worker was seen there') })
      .optional()
      .describe('the machine that has its files, if no worker runs there'),
  })
  .nullable()
  .describe('why it does not run although nothing is missing; null: it runs, waits or has ended')

type HeldBy = z.input<typeof heldByShape>

const MAX_RUNNING = 1000

/** Contract: reads what is needed once; the result is called for each dispatch. */
export async function findHolds(
  { store, isQueueWorked, clock, homeId }: Needs<'store' | 'isQueueWorked' | 'clock' | 'homeId'>,
  dispatches: readonly Dispatch[],
): Promise<(dispatch: Dispatch) => HeldBy> {
  const pending = dispatches.filter(({ status }) => status === 'pending')
  const awayFor = await findAway(store, pending, clock.now())
  const running = pending.length === 0 ? [] : await store.dispatches({ status: 'running', limit: MAX_RUNNING })
  const isWorked = pending.length > 0 && (await isQueueWorked())
  const workspaces = new Map<string, string | undefined>()
  for (const { session_id } of [...pending, ...running])
    if (!workspaces.has(session_id)) workspaces.set(session_id, (await store.session(session_id))?.workspace)
  return (dispatch) => {
    const { status, paused, session_id } = dispatch
    if (paused && (status === 'pending' || status === 'waiting')) return { kind: 'paused', run_id: null }
    if (status !== 'pending') return null
    const away = awayFor(dispatch)
    if (away && away.home !== homeId)
      return { kind: 'away', run_id: null, machine: { host: away.host, last_seen: away.last_seen } }
    if (!isWorked || away) return { kind: 'no_kernel', run_id: null }
    const workspace = workspaces.get(session_id)
    const other = running.find((run) => workspaces.get(run.session_id) === workspace && run.session_id !== session_id)
    return other ? { kind: 'workspace', run_id: other.dispatch_id } : { kind: 'slot', run_id: null }
  }
}

/** Contract: the home for which a pending dispatch waits, if no worker of it runs. */
export async function findAway(
  store: Pick<Store, 'homes'>,
  pending: readonly Dispatch[],
  now: number,
): Promise<(dispatch: Dispatch) => HomeSeen | undefined> {
  const homes = await store.homes([...new Set(pending.flatMap(({ home }) => home ?? []))], now)
  const away = new Map(homes.filter(({ is_alive }) => !is_alive).map((seen) => [seen.home, seen]))
  return ({ home }) => (home === undefined ? undefined : away.get(home))
}
