/**
 * The end of a cycle: how long it waits for its dispatches, and its result.
 * Must not know: how the cycle was planned, how it is recorded.
 */

import { type AgentResult, cycleStatusOf, sortResults, tallyResults } from '../../domain/cycle.ts'
import { type Dispatch, isTerminal } from '../../domain/dispatch.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { RETRY_SOON_MS } from '../queue/drain.ts'
import { waitForInstant } from '../schedule/ticks.ts'
import type { KernelDeps } from '../settings.ts'
import { buildAgentResult } from './agent-result.ts'
import type { CycleOutcome, CycleTrigger } from './cycle.ts'
import { PLANNER_AGENT } from './planners/llm.ts'

/**
 * Waits until every dispatch is finished or parked, until the deadline, or until another cycle is queued. Dispatches
 * that are not finished then keep running.
 * Contract: undefined if all dispatches are finished or parked; otherwise the instant at which the waiting ended.
 */
export async function waitForDispatches(
  { store, clock, wakeSignal }: KernelDeps,
  ids: readonly string[],
  { deadline, giveWay }: Pick<CycleTrigger, 'deadline' | 'giveWay'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const timeout = new AbortController()
  const finished = new AbortController()
  void waitForInstant(deadline, clock, finished.signal).then(() => timeout.abort())
  const until = AbortSignal.any([timeout.signal, giveWay, signal])
  try {
    for (;;) {
      const since = wakeSignal.ringCount()
      const found = await readDispatches(store, ids)
      const now = clock.now()
      if (found.every((dispatch) => isTerminal(dispatch.status) || isParked(dispatch, now))) return undefined
      if (until.aborted) return Math.min(deadline, clock.now())
      await wakeSignal.wait(since, until)
    }
  } finally {
    finished.abort('over')
  }
}

/** Leaves out dispatches that do not exist or cannot be read. */
export async function readDispatches(
  store: Pick<Store, 'dispatch'>,
  ids: readonly string[],
): Promise<readonly Dispatch[]> {
  const found = await Promise.all(ids.map((id) => fallbackIfUnreadable(store.dispatch(id), undefined)))
  return found.filter((dispatch) => dispatch !== undefined)
}

/** A dispatch that will retry soon counts as running, not as parked. */
const isParked = ({ status, wait }: Dispatch, now: number): boolean =>
  status === 'waiting' && (wait?.kind !== 'retry' || wait.until - now > RETRY_SOON_MS)

export async function readResults({ store }: KernelDeps, ids: readonly string[]): Promise<readonly AgentResult[]> {
  const counted = (await readDispatches(store, ids)).filter(({ agent_id }) => agent_id !== PLANNER_AGENT)
  return Promise.all(
    counted.map(async (dispatch) => {
      const session = await fallbackIfUnreadable(store.session(dispatch.session_id), undefined)
      const journal = await fallbackIfUnreadable(store.journal(dispatch.session_id), [])
      return buildAgentResult(dispatch, journal, session?.workspace ?? '')
    }),
  )
}

/**
 * The result lists the cycle's own dispatches in any state, and those of earlier cycles once they are finished; so a
 * dispatch that was parked is listed in two cycles.
 */
export function buildOutcome(
  cycle_id: string,
  results: readonly AgentResult[],
  { idle_reason, sent }: { readonly idle_reason: string | null; readonly sent: readonly string[] },
  notes: readonly OwnerNote[] = [],
): CycleOutcome {
  const open = results.filter(({ status }) => !isTerminal(status)).map(({ dispatch_id }) => dispatch_id)
  const agents = sortResults(
    results.filter(({ status, dispatch_id }) => isTerminal(status) || sent.includes(dispatch_id)),
  )
  const dispatched = sent.length
  const tally = tallyResults(agents)
  const result = {
    cycle_id,
    status: cycleStatusOf(tally),
    dispatched,
    ...tally,
    idle_reason,
    error: null,
    duration_ms: 0,
    agents,
  }
  return { result, notes, open }
}

/** The reason why a cycle was idle. A single cycle (`once`) that finished dispatches of earlier cycles names those. */
export function idleReason(reason: string, results: readonly AgentResult[], isSingle: boolean): string {
  const ended = results.filter(({ status }) => isTerminal(status)).map(({ agent_id }) => agent_id)
  return isSingle && ended.length > 0 ? `finished earlier work of ${[...new Set(ended)].sort().join(', ')}` : reason
}

/** Changes the status `success` to `partial_success`, for a cycle that leaves work unfinished. */
export const asPartial = (cycled: CycleOutcome): CycleOutcome =>
  cycled.result.status === 'success' ? { ...cycled, result: { ...cycled.result, status: 'partial_success' } } : cycled
