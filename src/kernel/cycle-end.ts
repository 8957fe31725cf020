/**
 * How a cycle comes to its end: until when it waits for what it has begun, and what it says of it.
 * Must not know: how it was planned, what is written down of it.
 */

import { type AgentResult, inOrder, statusOf, tallyOf } from '../domain/cycle.ts'
import { type Dispatch, isTerminal } from '../domain/dispatch.ts'
import type { Note } from '../domain/note.ts'
import { type Store, unlessUnreadable } from '../ports/store.ts'
import { agentResultOf } from './agent-result.ts'
import type { Cycled, Trigger } from './cycle.ts'
import { SOON_MS } from './drain.ts'
import { PLANNER_AGENT } from './planners/llm.ts'
import type { Surroundings } from './settings.ts'
import { reach } from './ticks.ts'

/**
 * Until everything is over or parked, the deadline, or somebody stands in line: what is still at work then goes on by itself.
 * Contract: since when it waited in vain; undefined where it did not.
 */
export async function settled(
  { store, clock, bell }: Surroundings,
  ids: readonly string[],
  { deadline, giveWay }: Pick<Trigger, 'deadline' | 'giveWay'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const late = new AbortController()
  const over = new AbortController()
  void reach(deadline, clock, over.signal).then(() => late.abort())
  const until = AbortSignal.any([late.signal, giveWay, signal])
  try {
    for (;;) {
      const since = bell.rung()
      const found = await readDispatches(store, ids)
      const now = clock.now()
      if (found.every((one) => isTerminal(one.status) || isParked(one, now))) return undefined
      if (until.aborted) return Math.min(deadline, clock.now())
      await bell.wait(since, until)
    }
  } finally {
    over.abort('over')
  }
}

/** Those that are there and can be read. */
export async function readDispatches(
  store: Pick<Store, 'dispatch'>,
  ids: readonly string[],
): Promise<readonly Dispatch[]> {
  const found = await Promise.all(ids.map((id) => unlessUnreadable(store.dispatch(id), undefined)))
  return found.filter((one) => one !== undefined)
}

/** On something that will take its time. One that rests a little before its next try is at work. */
const isParked = ({ status, wait }: Dispatch, now: number): boolean =>
  status === 'waiting' && (wait?.kind !== 'retry' || wait.until - now > SOON_MS)

export async function resultsOf({ store }: Surroundings, ids: readonly string[]): Promise<readonly AgentResult[]> {
  const counted = (await readDispatches(store, ids)).filter(({ agent_id }) => agent_id !== PLANNER_AGENT)
  return Promise.all(
    counted.map(async (one) => agentResultOf(one, await unlessUnreadable(store.journal(one.session_id), []))),
  )
}

/** Its own are told as they stand; of what earlier cycles left, what is over by now: what is parked is told once, and again when it is over. */
export function over(
  cycle_id: string,
  results: readonly AgentResult[],
  { idle_reason, sent }: { readonly idle_reason: string | null; readonly sent: readonly string[] },
  notes: readonly Note[] = [],
): Cycled {
  const open = results.filter(({ status }) => !isTerminal(status)).map(({ dispatch_id }) => dispatch_id)
  const agents = inOrder(results.filter(({ status, dispatch_id }) => isTerminal(status) || sent.includes(dispatch_id)))
  const dispatched = sent.length
  const tally = tallyOf(agents)
  const result = {
    cycle_id,
    status: statusOf(tally),
    dispatched,
    ...tally,
    idle_reason,
    error: null,
    duration_ms: 0,
    agents,
  }
  return { result, notes, open }
}

/** Of a cycle that has seen to what earlier ones left, that is what it did. */
export function whyIdle(reason: string, results: readonly AgentResult[], isSingle: boolean): string {
  const ended = results.filter(({ status }) => isTerminal(status)).map(({ agent_id }) => agent_id)
  return isSingle && ended.length > 0 ? `took up what was left of ${[...new Set(ended)].sort().join(', ')}` : reason
}

/** With what it was there for still at work, it is no success. */
export const inPart = (cycled: Cycled): Cycled =>
  cycled.result.status === 'success' ? { ...cycled, result: { ...cycled.result, status: 'partial_success' } } : cycled
