/** The server's half of the conversation: event-loop delay and processor time, reset and read as the suite asks. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ServerReady, ServerRequest, ServerUse } from './protocol.ts'

const RESOLUTION_MS = 2

/** Contract: tells the suite that the server is ready, then answers what it asks until the process ends. */
export function answerSuite(ready: Omit<ServerReady, 'kind'>, steps: () => number, wake: () => void = () => {}): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let [cpu, stepsBefore] = [process.cpuUsage(), steps()]
  const over = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
  const read = (): ServerUse => {
    const { user, system } = process.cpuUsage(cpu)
    return {
      kind: 'use',
      cpuMs: (user + system) / 1000,
      loopP50Ms: over(delay.percentile(50)),
      loopP99Ms: over(delay.percentile(99)),
      loopMaxMs: over(delay.max),
      steps: steps() - stepsBefore,
    }
  }
  process.on('message', ({ kind }: ServerRequest) => {
    if (kind === 'wake') return wake()
    if (kind === 'read') process.send?.(read())
    delay.reset()
    cpu = process.cpuUsage()
    stepsBefore = steps()
  })
  process.send?.({ kind: 'ready', ...ready } satisfies ServerReady)
}
