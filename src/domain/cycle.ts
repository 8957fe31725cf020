/** Cycle: what came of one beat of the kernel, as `once` prints it, and as STATE.md, notices and health read it. */

import type { DispatchStatus } from './dispatch.ts'
import type { FailureClass } from './stop.ts'

export const CYCLE_STATUSES = ['success', 'partial_success', 'failed', 'error'] as const
export type CycleStatus = (typeof CYCLE_STATUSES)[number]

/** What came of one agent's dispatch. */
export interface AgentResult {
  readonly agent_id: string
  readonly dispatch_id: string
  readonly session_id: string
  /** `waiting`: parked, on a person or an event. One that rests before its next attempt is `running`. */
  readonly status: DispatchStatus
  readonly summary: string
  readonly failure_class: FailureClass | null
  /** How often it was begun: once, and once more each time that its result was no result. */
  readonly attempts: number
  /** What was wrong with the first attempt of one that is done. */
  readonly recovered_from: FailureClass | null
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
  /** Why the cycle itself could not be carried out. */
  readonly error: string | null
  readonly duration_ms: number
  readonly agents: readonly AgentResult[]
}

/** One beat of the kernel, on record from its beginning. */
export interface Cycle {
  readonly cycle_id: string
  readonly kernel_id: string
  /** What it was begun by: its schedule, an agent's own, or somebody. */
  readonly trigger: string
  /** The beat's instant on its schedule. */
  readonly due: string | null
  readonly started_at: string
  readonly ended_at: string | null
  readonly result: CycleResult | null
  /** Dispatches that were still under way at its end: a later cycle counts them. */
  readonly open: readonly string[]
}

export function errorResult(cycle_id: string, error: string, duration_ms: number): CycleResult {
  return {
    ...{ cycle_id, status: 'error', dispatched: 0, succeeded: 0, failed: 0, parked: 0, failed_agents: [] },
    ...{ idle_reason: null, error, duration_ms, agents: [] },
  }
}

/** Why a cycle is an error that its process did not live to end. */
export const CUT_SHORT = 'the program ended during this cycle'

export type Tally = Pick<CycleResult, 'succeeded' | 'failed' | 'parked' | 'failed_agents'>

/** Contract: one that is still under way is in none of the counts; the cycle that sees it end has it. */
export function tallyOf(agents: readonly AgentResult[]): Tally {
  const failed = agents.filter(isFailure)
  return {
    succeeded: agents.filter(({ status }) => status === 'done').length,
    failed: failed.length,
    parked: agents.filter(({ status }) => status === 'waiting').length,
    failed_agents: [...new Set(failed.map(({ agent_id }) => agent_id))].sort(),
  }
}

export const isFailure = ({ status }: Pick<AgentResult, 'status'>): boolean =>
  status === 'failed' || status === 'dead' || status === 'cancelled'

/** What waits for a person has neither failed nor succeeded: with it a cycle is at best, and at worst, a partial success. */
export function statusOf(
  { succeeded, failed, parked }: Pick<Tally, 'succeeded' | 'failed' | 'parked'>,
  error: string | null = null,
): CycleStatus {
  if (error !== null) return 'error'
  if (failed === 0 && parked === 0) return 'success'
  return succeeded > 0 || parked > 0 ? 'partial_success' : 'failed'
}

/** By agent, then by status, then by dispatch: the same results always stand in the same order. */
export function inOrder(agents: readonly AgentResult[]): readonly AgentResult[] {
  const key = ({ agent_id, status, dispatch_id }: AgentResult): string[] => [agent_id, status, dispatch_id]
  return [...agents].sort((a, b) => {
    const [left, right] = [key(a), key(b)]
    const differs = left.findIndex((word, i) => word !== right[i])
    return differs < 0 ? 0 : (left[differs] ?? '') < (right[differs] ?? '') ? -1 : 1
  })
}

/** Contract: the summary behind what it shows of the run's autonomy; of a failure, behind its class. */
export function decorated(result: Omit<AgentResult, 'agent_id' | 'dispatch_id' | 'session_id'>): string {
  const { status, summary, failure_class, attempts, recovered_from } = result
  if (status !== 'done') return failure_class === null ? summary : `[${failure_class}] ${summary}`
  const signs = ['autonomy=actionable']
  if (attempts > 1) signs.push(`attempts=${attempts}`)
  if (recovered_from !== null) signs.push(`recovered_from=${recovered_from}`)
  return `[${signs.join(', ')}] ${summary}`
}

/** Whether an agent's work came to the same: then doing it again at the same pace is motion, not progress. */
export function sameOutcome(a: AgentResult, b: AgentResult): boolean {
  const outcome = ({ agent_id, status, failure_class, summary }: AgentResult): string =>
    JSON.stringify([agent_id, status, failure_class, summary.replaceAll(/\s+/g, ' ').trim()])
  return outcome(a) === outcome(b)
}
