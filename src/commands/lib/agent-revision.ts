/** The state of an agent's files as a short text, by which a concurrent edit is noticed. Pure. */

import { hash } from 'node:crypto'
import type { Agent } from '../../domain/agent.ts'
import type { AgentDirectory } from './agent-directory.ts'

/** Contract: differs if anything that can be edited differs; comments and the order of keys do not count. */
export function revisionOf(agent: Agent, documents: ReturnType<AgentDirectory['documents']>): string {
  const keys = Object.entries({ ...agent, documents }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify(keys)).slice(0, 16)
}
