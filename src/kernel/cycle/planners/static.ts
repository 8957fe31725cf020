/**
 * The static planner: dispatches, on each beat, every enabled agent whose last dispatch is finished and whose cooldown
 * is over.
 * Must not know: the content of STATE.md.
 */

import { clipText } from '../../../domain/clean-summary.ts'
import { isTerminal } from '../../../domain/dispatch.ts'
import { iso } from '../../../ports/clock.ts'
import {
  type AgentCandidate,
  dispatchPlan,
  idlePlan,
  type PlannedDispatch,
  type Planner,
  type PlanningContext,
} from './planner.ts'
import { stagnationNote } from './stagnation-backoff.ts'

export const staticPlanner: Planner = {
  plan: async (occasion) => {
    const free = findAvailable(occasion)
    const notes = free.flatMap((candidate) => stagnationNote(candidate, false) ?? [])
    return free.length === 0 ? idlePlan(describeIdle(occasion), notes) : dispatchPlan(free.map(planAgent), notes)
  },
}

export function findAvailable({ candidates, at }: PlanningContext): readonly AgentCandidate[] {
  return candidates.filter(
    (candidate) =>
      candidate.agent.enabled &&
      !isInFlight(candidate) &&
      !isCoolingDown(candidate, at) &&
      (candidate.due || candidate.agent.only_on_change !== true || hasNews(candidate)),
  )
}

/** Whether there is something new for the agent; true after a failed dispatch, which did not deal with its input. */
export function hasNews({ recent, fingerprint }: AgentCandidate): boolean {
  const [last] = recent
  return last === undefined || last.status !== 'done' || last.metadata.sight !== fingerprint
}

const isInFlight = ({ recent }: AgentCandidate): boolean => recent[0] !== undefined && !isTerminal(recent[0].status)

/** The cooldown applies after a success only; a failed agent may try again at once. */
function isCoolingDown({ agent, recent }: AgentCandidate, at: number): boolean {
  const last = recent[0]
  return last?.status === 'done' && Date.parse(last.updated_at) + agent.cooldown > at
}

export const planAgent = ({ agent, due }: AgentCandidate): PlannedDispatch => ({
  agent_id: agent.agent_id,
  reason: due ? 'its schedule' : 'every beat',
})

export function describeIdle({ candidates }: PlanningContext): string {
  const enabled = candidates.filter(({ agent }) => agent.enabled)
  if (enabled.length === 0) return candidates.length === 0 ? 'no agent is due' : 'no agent is enabled'
  const busy = enabled.filter((candidate) => isInFlight(candidate) && describeWait(candidate) === undefined)
  const unchanged = enabled.filter(
    (candidate) => !isInFlight(candidate) && candidate.agent.only_on_change === true && !hasNews(candidate),
  )
  const coolingDown = enabled.filter((candidate) => !isInFlight(candidate) && !unchanged.includes(candidate))
  const waiting = enabled.flatMap((candidate) => describeWait(candidate) ?? [])
  const names = (listed: readonly AgentCandidate[]): string => listed.map(({ agent }) => agent.agent_id).join(', ')
  return [
    ...(busy.length > 0 ? [`still running: ${names(busy)}`] : []),
    ...(waiting.length > 0 ? [`waiting: ${waiting.join(', ')}`] : []),
    ...(coolingDown.length > 0 ? [`cooling down: ${names(coolingDown)}`] : []),
    ...(unchanged.length > 0 ? [`nothing new: ${names(unchanged)}`] : []),
  ].join('; ')
}

const MAX_REASON = 100

/** Describes what the agent's parked dispatch waits for; undefined if its last dispatch is not parked. */
function describeWait({ agent, recent }: AgentCandidate): string | undefined {
  const { status, wait } = recent[0] ?? {}
  if (status !== 'waiting' || !wait) return undefined
  const until = wait.until === null ? '' : `, until ${iso(wait.until)}`
  return `${agent.agent_id} (${clipText(wait.reason, MAX_REASON)}${until})`
}
