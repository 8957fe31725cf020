/**
 * The watchdog of a worker on a shared store, a process of its own. The worker tells it on stdin, line by line, for how
 * many milliseconds commands may still run. If that time passes, because the worker is stopped or hangs, or if the
 * worker dies, the watchdog kills the commands of the home, so that none runs beside the run that replaces it.
 */

import { createInterface } from 'node:readline'
import { createContainers } from '../adapters/envs/container/container-sandbox.ts'
import { endRunningCalls } from '../adapters/envs/host/end-calls.ts'
import { systemClock as clock } from '../adapters/system/clock.ts'
import { environment } from '../config/environment.ts'

const [callsDir = '', folder = '', image = ''] = process.argv.slice(2)
const containers = image === '' ? undefined : createContainers({ image, folder, hidden: [], env: environment(), clock })

/** What cannot be killed now may be killed the next time; the worker reports it when it goes on. */
const endCalls = (): Promise<void> =>
  endRunningCalls({ callsDir, clock, end: containers?.launcher.end }).catch(() => undefined)

let told = new AbortController()
let hasLeft = false

async function guard(ms: number, { signal }: AbortController): Promise<void> {
  await clock.sleep(ms, signal)
  if (!signal.aborted) await endCalls()
}

for await (const line of createInterface({ input: process.stdin })) {
  told.abort()
  told = new AbortController()
  hasLeft = line === 'left'
  if (!hasLeft) void guard(Number(line), told)
}
told.abort()
if (!hasLeft) await endCalls()
