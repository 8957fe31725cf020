/** The server's side of the protocol: measures event-loop delay and CPU time on request of the suite. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ServerReady, ServerRequest, ServerUse } from './protocol.ts'

const RESOLUTION_MS = 2

/** Contract: reports to the suite that the server is ready, then answers its requests until the process ends. */
export function answerSuite(ready: Omit<ServerReady, 'kind'>, steps: () => number, wake: () => void = () => {}): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let [cpu, stepsBefore] = [process.cpuUsage(), steps()]
  const delayMs = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
  const read = (): ServerUse => {
    const { user, system } = process.cpuUsage(cpu)
    return {
      kind: 'use',
      cpuMs: (user + system) / 1000,
      loopP50Ms: delayMs(delay.percentile(50)),
      loopP99Ms: delayMs(delay.percentile(99)),
      loopMaxMs: delayMs(delay.max),
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
