/** Cycle: the kernel's work on one beat, and its result, which `once` prints and STATE.md, notices and health show. */

import type { DispatchStatus } from './dispatch.ts'
import type { FailureClass } from './stop-reason.ts'

export const CYCLE_STATUSES = ['success', 'partial_success', 'failed', 'error'] as const
type CycleStatus = (typeof CYCLE_STATUSES)[number]

/** The result of one agent's dispatch. */
export interface AgentResult {
  readonly agent_id: string
  readonly dispatch_id: string
  readonly session_id: string
  /** `waiting`: parked for a person or an event. A run that waits for its next attempt is `running`. */
  readonly status: DispatchStatus
  readonly summary: string
  readonly failure_class: FailureClass | null
  /** Number of attempts: 1, plus 1 for each attempt whose result was rejected. */
  readonly attempts: number
  /** Why the first attempt failed, if a later attempt succeeded; otherwise null. */
  readonly recovered_from: FailureClass | null
  /** Full paths of the files that the run wrote. Absent if there are none, and in results of older programs. */
  readonly files?: readonly string[] | undefined
}

export interface CycleResult {
  readonly cycle_id: string
  readonly status: CycleStatus
  readonly dispatched: number
  readonly succeeded: number
  readonly failed: number
  readonly parked: number
  readonly failed_agents: readonly string[]
  readonly idle_reason: string | null
  /** Why the cycle itself failed. */
  readonly error: string | null
  readonly duration_ms: number
  readonly agents: readonly AgentResult[]
}

/** One cycle of a kernel; stored when it starts. */
export interface Cycle {
  readonly cycle_id: string
  readonly kernel_id: string
  /** The schedule or the person that started the cycle. */
  readonly trigger: string
  /** The instant of the beat; null for a manual cycle. */
  readonly due: string | null
  readonly started_at: string
  readonly ended_at: string | null
  readonly result: CycleResult | null
  /** Dispatches still in flight at the end of this cycle: a later cycle counts them. */
  readonly open: readonly string[]
}

export function errorCycleResult(cycle_id: string, error: string, duration_ms: number): CycleResult {
  return {
    ...{ cycle_id, status: 'error', dispatched: 0, succeeded: 0, failed: 0, parked: 0, failed_agents: [] },
    ...{ idle_reason: null, error, duration_ms, agents: [] },
  }
}

/** The error of a cycle during which the process died. */
export const ENDED_DURING_CYCLE = 'the program ended during this cycle'

type Tally = Pick<CycleResult, 'succeeded' | 'failed' | 'parked' | 'failed_agents'>

/** Contract: a dispatch in flight is not counted; the cycle in which the dispatch ends counts it. */
export function tallyResults(agents: readonly AgentResult[]): Tally {
  const failed = agents.filter(isFailure)
  return {
    succeeded: agents.filter(({ status }) => status === 'done').length,
    failed: failed.length,
    parked: agents.filter(({ status }) => status === 'waiting').length,
    failed_agents: [...new Set(failed.map(({ agent_id }) => agent_id))].sort(),
  }
}

type Counted = { readonly dispatched: number; readonly agents: readonly unknown[] }

/** Contract: the tasks among which the cycle counts: its own dispatches, and earlier ones that ended in it. */
export const countedTasks = ({ dispatched, agents }: Counted): number => Math.max(dispatched, agents.length)

/** Contract: how many tasks of earlier cycles ended in this one; they count among its successes and failures. */
export const countEarlier = (cycle: Counted): number => countedTasks(cycle) - cycle.dispatched

export const isFailure = ({ status }: Pick<AgentResult, 'status'>): boolean =>
  status === 'failed' || status === 'dead' || status === 'cancelled'

/** A parked dispatch has neither failed nor succeeded: a cycle with a parked dispatch is always `partial_success`. */
export function cycleStatusOf(
  { succeeded, failed, parked }: Pick<Tally, 'succeeded' | 'failed' | 'parked'>,
  error: string | null = null,
): CycleStatus {
  if (error !== null) return 'error'
  if (failed === 0 && parked === 0) return 'success'
  return succeeded > 0 || parked > 0 ? 'partial_success' : 'failed'
}

/** Sorts by agent, then status, then dispatch. */
export function sortResults(agents: readonly AgentResult[]): readonly AgentResult[] {
  const key = ({ agent_id, status, dispatch_id }: AgentResult): string[] => [agent_id, status, dispatch_id]
  return [...agents].sort((a, b) => {
    const [left, right] = [key(a), key(b)]
    const firstDifference = left.findIndex((word, i) => word !== right[i])
    return firstDifference < 0 ? 0 : (left[firstDifference] ?? '') < (right[firstDifference] ?? '') ? -1 : 1
  })
}

/**
 * Contract: returns the summary with a prefix: for a successful run its number of attempts and the failure it recovered
 * from, for a failed run its failure class.
 */
export function annotateSummary(result: Omit<AgentResult, 'agent_id' | 'dispatch_id' | 'session_id'>): string {
  const { status, summary, failure_class, attempts, recovered_from } = result
  if (status !== 'done') return failure_class === null ? summary : `[${failure_class}] ${summary}`
  const tags = ['autonomy=actionable']
  if (attempts > 1) tags.push(`attempts=${attempts}`)
  if (recovered_from !== null) tags.push(`recovered_from=${recovered_from}`)
  return `[${tags.join(', ')}] ${summary}`
}

/** True if an agent got the same result again: repeating the work at the same pace makes no progress. */
export function isSameOutcome(a: AgentResult, b: AgentResult): boolean {
  const outcome = ({ agent_id, status, failure_class, summary }: AgentResult): string =>
    JSON.stringify([agent_id, status, failure_class, summary.replaceAll(/\s+/g, ' ').trim()])
  return outcome(a) === outcome(b)
}
