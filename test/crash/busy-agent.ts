/** A home with a kernel and one agent, which is busy in a command until the test lets it finish. */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startProvider, tirelessJson } from '../support/command-line.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { configFor } from './kills.ts'

export interface BusyAgent {
  readonly home: string
  /** Contract: resolves once the agent runs its command. */
  waitUntilBusy(): Promise<void>
  /** Lets the command finish. */
  finishCommand(): void
}

/** `kernel`: further keys of the kernel's configuration. The default schedule is once a year. */
export async function homeWithBusyAgent(t: TestContext, kernel: object = {}): Promise<BusyAgent> {
  const home = freshFolder(t)
  const [busyFile, finishFile] = [join(home, 'here'), join(home, 'go')]
  const provider = await startProvider(t, [
    {
      calls: [
        { tool: 'bash', args: { command: `touch ${busyFile}; until [ -e ${finishFile} ]; do sleep 0.05; done` } },
      ],
    },
    { calls: [{ tool: 'bash', args: { command: 'echo fine' } }] },
    { text: '## Execution Summary\nfine' },
  ])
  const settings = { schedule: '0 0 1 1 *', agents: [{ agent_id: 'a', prompt: 'work' }], ...kernel }
  writeFileSync(
    join(home, 'tireless.yaml'),
    `${configFor(provider)}kernel: ${JSON.stringify(settings)}\nserver: { port: 0 }\n`,
  )
  return {
    home,
    waitUntilBusy: () => waitUntil(() => existsSync(busyFile)),
    finishCommand: () => writeFileSync(finishFile, ''),
  }
}

export const listItems = async <T>(home: string, ...command: string[]): Promise<readonly T[]> =>
  (await tirelessJson<{ items: T[] }>(home, ...command, 'list')).items
