/**
 * Sight: what an agent can see, as one word. As long as it stays the same there is nothing new for it, and no reason to ask a model.
 * Must not know: what any of it means.
 */

import { hash } from 'node:crypto'
import type { Agent } from '../domain/agent.ts'
import type { Surroundings } from './settings.ts'

/** So far back the last word of somebody else is looked for. */
const VERSIONS_LOOKED_AT = 200

export async function sightOf({ documents, look }: Surroundings, agent: Agent): Promise<string> {
  const [state = null] = (await documents.versions('STATE.md', VERSIONS_LOOKED_AT))
    // What it wrote itself is no news to it, and the system writes its own block only.
    .filter(({ author }) => author !== 'system' && author !== agent.agent_id)
    .map(({ version }) => version)
  const [goal = null] = (await documents.versions('GOAL.md', 1)).map(({ sha256 }) => sha256)
  const watched = await look(agent, agent.watch)
  return hash('sha256', JSON.stringify([state, goal, agent.prompt, watched])).slice(0, 16)
}
