/** Reads the public attack data from a folder outside the repository. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { agentDojo } from './agentdojo.ts'
import { injecAgent } from './injecagent.ts'
import type { Suite } from './suite.ts'

export function suitesIn(folder: string): readonly Suite[] {
  const [dojo, agent] = [join(folder, 'agentdojo'), join(folder, 'injecagent')]
  return [...(existsSync(dojo) ? agentDojo(dojo) : []), ...(existsSync(agent) ? injecAgent(agent) : [])]
}
