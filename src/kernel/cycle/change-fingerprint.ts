/**
 * Change fingerprint: a hash of everything that an agent can see. As long as the hash is the same, there is nothing new
 * for the agent and no reason for a model call.
 * Must not know: what the inputs mean.
 */

import { hash } from 'node:crypto'
import type { Agent } from '../../domain/agent.ts'
import type { KernelDeps } from '../settings.ts'

/** How many versions of STATE.md are searched for the last one that neither the agent nor the system wrote. */
const MAX_VERSIONS = 200

export async function changeFingerprint(
  { documents, watchFingerprint: look }: KernelDeps,
  agent: Agent,
): Promise<string> {
  const [state = null] = (await documents.versions('STATE.md', MAX_VERSIONS))
    // The agent's own edits are not news to it, and the system only writes the runtime block.
    .filter(({ author }) => author !== 'system' && author !== agent.agent_id)
    .map(({ version }) => version)
  const [goal = null] = (await documents.versions('GOAL.md', 1)).map(({ sha256 }) => sha256)
  const watched = await look(agent, agent.watch)
  return hash('sha256', JSON.stringify([state, goal, agent.prompt, watched])).slice(0, 16)
}
