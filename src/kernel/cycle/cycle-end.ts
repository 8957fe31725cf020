/**
 * The end of a cycle: how long it waits for its dispatches, and its result.
 * Must not know: how it was planned, how it is recorded.
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
 * Waits until every dispatch is finished or parked, the deadline, or a queued cycle; unfinished ones keep running.
 * Contract: returns since when it waited in vain; undefined if all finished or parked.
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

/** Existing and readable dispatches only. */
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
    counted.map(async (dispatch) =>
      buildAgentResult(dispatch, await fallbackIfUnreadable(store.journal(dispatch.session_id), [])),
    ),
  )
}

/** Reports own dispatches in any state and earlier ones once finished; so a parked dispatch is reported twice. */
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

/** A single cycle without a plan that finished earlier dispatches reports those instead. */
export function idleReason(reason: string, results: readonly AgentResult[], isSingle: boolean): string {
  const ended = results.filter(({ status }) => isTerminal(status)).map(({ agent_id }) => agent_id)
  return isSingle && ended.length > 0 ? `finished earlier work of ${[...new Set(ended)].sort().join(', ')}` : reason
}

/** A success becomes partial if own dispatches are unfinished. */
export const asPartial = (cycled: CycleOutcome): CycleOutcome =>
  cycled.result.status === 'success' ? { ...cycled, result: { ...cycled.result, status: 'partial_success' } } : cycled
