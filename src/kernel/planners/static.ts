/**
 * The static planner: each beat, every enabled agent whose last dispatch is finished and whose cooldown is over.
 * Must not know: what the state says.
 */

import { isTerminal } from '../../domain/dispatch.ts'
import { clipped } from '../../domain/summary.ts'
import { iso } from '../../ports/clock.ts'
import { type Candidate, idle, type Occasion, type Planned, type Planner, plan } from './planner.ts'
import { motionNote } from './progress.ts'

export const staticPlanner: Planner = {
  plan: async (occasion) => {
    const free = available(occasion)
    const notes = free.flatMap((candidate) => motionNote(candidate, false) ?? [])
    return free.length === 0 ? idle(whyNobody(occasion), notes) : plan(free.map(planned), notes)
  },
}

export function available({ candidates, at }: Occasion): readonly Candidate[] {
  return candidates.filter(
    (candidate) => candidate.agent.enabled && !inFlight(candidate) && !isCoolingDown(candidate, at),
  )
}

export const inFlight = ({ recent }: Candidate): boolean => recent[0] !== undefined && !isTerminal(recent[0].status)

/** The cooldown applies after a success only; a failed agent may try again at once. */
function isCoolingDown({ agent, recent }: Candidate, at: number): boolean {
  const last = recent[0]
  return last?.status === 'done' && Date.parse(last.updated_at) + agent.cooldown > at
}

export const planned = ({ agent, due }: Candidate): Planned => ({
  agent_id: agent.agent_id,
  reason: due ? 'its schedule' : 'every beat',
})

export function whyNobody({ candidates }: Occasion): string {
  const enabled = candidates.filter(({ agent }) => agent.enabled)
  if (enabled.length === 0) return candidates.length === 0 ? 'no agent is due' : 'no agent is enabled'
  const busy = enabled.filter((candidate) => inFlight(candidate) && describeWait(candidate) === undefined)
  const coolingDown = enabled.filter((candidate) => !inFlight(candidate))
  const waiting = enabled.flatMap((candidate) => describeWait(candidate) ?? [])
  const names = (listed: readonly Candidate[]): string => listed.map(({ agent }) => agent.agent_id).join(', ')
  return [
    ...(busy.length > 0 ? [`still running: ${names(busy)}`] : []),
    ...(waiting.length > 0 ? [`waiting: ${waiting.join(', ')}`] : []),
    ...(coolingDown.length > 0 ? [`cooling down: ${names(coolingDown)}`] : []),
  ].join('; ')
}

const MAX_REASON = 100

/** What a parked dispatch waits for. */
function describeWait({ agent, recent }: Candidate): string | undefined {
  const { status, wait } = recent[0] ?? {}
  if (status !== 'waiting' || !wait) return undefined
  const until = wait.until === null ? '' : `, until ${iso(wait.until)}`
  return `${agent.agent_id} (${clipped(wait.reason, MAX_REASON)}${until})`
}
