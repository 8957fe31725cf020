/** A live view of what the process that holds the home does. */

import { z } from 'zod'
import { iso } from '../ports/clock.ts'
import { type Context, command } from './command.ts'

const MOST_NAMED = 20

export const attach = command({
  name: 'attach',
  summary: 'what the running kernel does, as it does it, until you interrupt it; the kernel goes on',
  // Whoever looks on must not hold the home, or no `start` could begin beside it.
  runsIn: 'kernel',
  input: z.object({}),
  output: z.null().describe('all of it was told already'),
  async run(context, _, tell) {
    const { listen, signals } = context
    const stopListening = listen(tell)
    try {
      for (const text of await standing(context)) tell({ kind: 'note', text })
      await over(signals.drain)
      return null
    } finally {
      stopListening()
    }
  },
})

async function standing({ kernel, kernelId, store }: Context): Promise<readonly string[]> {
  const next = kernel.nextBeat()
  const beat = next === undefined ? '' : `, the next beat is at ${iso(next)}`
  const running = await store.dispatches({ status: 'running', limit: MOST_NAMED })
  return [
    `the kernel ${kernelId} ${kernel.running() ? 'runs' : 'does not run; its home is in use'}${beat}`,
    ...running.map(({ agent_id, dispatch_id }) => `${agent_id} is at work (${dispatch_id})`),
  ]
}

const over = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
