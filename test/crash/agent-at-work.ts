/** A home whose kernel has one agent that is in the middle of a command, until it is told to go on: for stops and kills from outside. */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startProvider, tirelessJson } from '../support/command-line.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { configFor } from './kills.ts'

export interface AtWork {
  readonly home: string
  /** Contract: resolves once the agent is at work. */
  hasBegun(): Promise<void>
  /** Its command comes to its end. */
  goOn(): void
}

/** `kernel`: more keys of the configuration's; it beats once a year. */
export async function agentAtWork(t: TestContext, kernel: object = {}): Promise<AtWork> {
  const home = freshFolder(t)
  const [here, go] = [join(home, 'here'), join(home, 'go')]
  const provider = await startProvider(t, [
    { calls: [{ tool: 'bash', args: { command: `touch ${here}; until [ -e ${go} ]; do sleep 0.05; done` } }] },
    { calls: [{ tool: 'bash', args: { command: 'echo fine' } }] },
    { text: '## Execution Summary\nfine' },
  ])
  const given = { schedule: '0 0 1 1 *', agents: [{ agent_id: 'a', prompt: 'work' }], ...kernel }
  writeFileSync(
    join(home, 'tireless.yaml'),
    `${configFor(provider)}kernel: ${JSON.stringify(given)}\nserver: { port: 0 }\n`,
  )
  return { home, hasBegun: () => waitUntil(() => existsSync(here)), goOn: () => writeFileSync(go, '') }
}

export const listed = async <T>(home: string, ...command: string[]): Promise<readonly T[]> =>
  (await tirelessJson<{ items: T[] }>(home, ...command, 'list')).items
