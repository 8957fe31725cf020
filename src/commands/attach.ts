/** Follows the events of the process that holds the home. */

import { z } from 'zod'
import { iso } from '../ports/clock.ts'
import { untilAborted } from '../ports/deadline.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'

const MAX_RUNS_NAMED = 20

export const attach = defineCommand({
  name: 'attach',
  summary: 'follow what the running kernel does until you interrupt; the kernel continues',
  example: 'attach',
  // A viewer must not hold the home, or `start` could not run at the same time.
  runsIn: 'kernel',
  needs: ['kernel', 'kernelId', 'listen', 'signals', 'store'],
  input: z.object({}),
  output: z.null().describe('everything was printed already'),
  async run(context, _, tell) {
    const { listen, signals } = context
    const stopListening = listen(tell)
    try {
      for (const text of await currentState(context)) tell({ kind: 'note', text })
      await untilAborted(signals.drain)
      return null
    } finally {
      stopListening()
    }
  },
})

async function currentState({
  kernel,
  kernelId,
  store,
}: Needs<'kernel' | 'kernelId' | 'store'>): Promise<readonly string[]> {
  const next = kernel.nextBeatAt()
  const beat = next === undefined ? '' : `; next beat: ${iso(next)}`
  const running = await store.dispatches({ status: 'running', limit: MAX_RUNS_NAMED })
  return [
    `Kernel ${kernelId} ${kernel.isRunning() ? 'is running' : 'is not running; another command uses its home'}${beat}`,
    ...running.map(({ agent_id, dispatch_id }) => `${agent_id} is running (${dispatch_id})`),
  ]
}
