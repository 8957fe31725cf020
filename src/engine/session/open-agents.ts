/**
 * The sub-agents of a run, from its journal: who has no result yet, and what money they hold.
 * Must not know: the queue. A sub-agent is open until its result was read, also if it has ended.
 */

import type { CallResult } from '../../domain/decision.ts'
import type { Observation } from '../../domain/observation.ts'
import { describeResult, readAgentResult, readSpawned } from '../../domain/sub-agent.ts'
import type { SessionThread } from './session-thread.ts'

/** The name of the tool whose results start sub-agents. */
export const SPAWN_TOOL = 'spawn_agent'

export function noteSpawned(thread: SessionThread, { status, facts }: CallResult): void {
  const agent = status === 'ok' ? readSpawned(facts) : undefined
  if (!agent || thread.agents.has(agent.run)) return
  thread.agents.set(agent.run, agent)
  if (agent.todo !== null) thread.work.results.delete(agent.todo)
  thread.delegatedUsd += agent.usd ?? 0
  thread.isToldOfAgents = false
}

/** What the sub-agent did not spend comes back. Of one that died it is unknown, so nothing does. */
export function noteAgentResults(thread: SessionThread, input: readonly Observation[]): void {
  for (const observation of input) {
    const result = readAgentResult(observation)
    const agent = result && thread.agents.get(result.run)
    if (!agent) continue
    thread.agents.delete(agent.run)
    for (const file of result.files) thread.expected?.missing.delete(file)
    if (agent.todo !== null) thread.work.results.set(agent.todo, { todo: agent.todo, ...describeResult(observation) })
    const reserved = agent.usd ?? 0
    thread.delegatedUsd += (result.cost_usd ?? reserved) - reserved
  }
}
