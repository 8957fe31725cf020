/** A kernel as `start` runs it, with events to watch: its session works without a pause, or recorded runs are told. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createApp, defineTool, type Model } from 'tireless'
import { z } from 'zod'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { eventsFromRecords } from '../../src/domain/event-fold.ts'
import { answerSuite } from '../http/server-meter.ts'
import { freePort } from '../kernel/program.ts'
import type { KernelOrder } from './protocol.ts'

const { folder, load } = JSON.parse(process.argv[2] ?? '') as KernelOrder

const TICK_MS = 10
const LOOK_AGAIN_MS = 20
const MOST_LATE_MS = 100
const STEPS_OF_A_TASK = 100
const TASK = `Look at ${STEPS_OF_A_TASK} pages.`
const USAGE = { input_tokens: 900, output_tokens: 40, cached_tokens: 0 }
const PAGE = 'The order a12b7f3c9d2e1 of 2,340.50 was paid, see https://example.org/orders/12. '

const look = defineTool({
  name: 'look',
  description: 'Looks at a page.',
  args: z.object({ page: z.int() }),
  effect: () => ({ recovery: 'idempotent', reach: 'none' }),
  run: async ({ page }) => ({ status: 'ok', content: `Page ${page}. ${PAGE}` }),
})

const FIVE_MINUTES = 300_000
const FORGET_MS = 50
/** Past events are forgotten five minutes after the last viewer has left; the suite does not wait so long. */
const clock: typeof systemClock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === FIVE_MINUTES ? FORGET_MS : ms, signal),
}

let steps = 0

/** Looks at so many pages as the task says, one in a step. */
const model: Model = {
  id: 'bench/reading',
  async call({ messages }) {
    const pages = messages.filter(({ role }) => role === 'tool').length
    if (pages >= Number(/\d+/.exec(messages[0]?.text ?? '')))
      return { text: 'All pages say that it was paid.', calls: [], finish: 'stop', usage: USAGE }
    steps += 1
    const call = { id: `call-${steps}`, tool: look.name, args: JSON.stringify({ page: steps }) }
    return { text: 'I look at the next page.', calls: [call], finish: 'calls', usage: USAGE }
  },
}

const port = await freePort()
writeFileSync(
  join(folder, 'tireless.yaml'),
  `server: { port: ${port} }
kernel: { schedule: "0 4 29 2 *", missed: skip, max_concurrent: 1 }
budget: { per_dispatch_calls: null, per_dispatch_minutes: null }
sandbox: off
`,
)
const stopping = new AbortController()
const signals = { drain: stopping.signal, abort: stopping.signal }
const app = await createApp({ home: folder, model, tools: [look], signals, clock })
// Without the suite there is nothing to measure.
for (const end of ['SIGTERM', 'disconnect']) process.once(end, () => stopping.abort())

/** Contract: publishes so many events a second until the process stops: the records of one run, again and again. */
async function publish(perSecond: number): Promise<void> {
  const { dispatch_id, session_id } = await app.run('run', { task: 'Look at 3 pages.' })
  const { journal } = await app.run('sessions show', { id: session_id })
  const { sink } = app.service('events')
  const perRun = eventsFromRecords({ run_id: dispatch_id, session_id }, journal).length
  let [due, last] = [0, performance.now()]
  for (; !stopping.signal.aborted; await pause(TICK_MS)) {
    const now = performance.now()
    // What is missed for longer is not made up for.
    due += ((Math.min(now - last, MOST_LATE_MS) / 1000) * perSecond) / perRun
    last = now
    // Steps count the runs here.
    for (; steps < Math.floor(due); steps += 1) {
      const run = { run_id: `${dispatch_id.slice(0, -8)}${String(steps).padStart(8, '0')}`, session_id }
      sink.onRunOpened(run, [])
      for (const record of journal) sink.onRecord(run, record)
      sink.onRunClosed(run)
    }
  }
}

/** Contract: there is always a next task. All are equally long: a step costs more, the longer its conversation is. */
async function giveTasks(): Promise<void> {
  for (let given = 0; !stopping.signal.aborted; await pause(LOOK_AGAIN_MS))
    for (; given < steps / STEPS_OF_A_TASK + 2; given += 1) await app.run('enqueue', { prompt: TASK })
}

// One session at a time: several may fall into step, and then work a tenth faster.
const giving = load.kind === 'work' ? giveTasks() : undefined
const running = app.run('start', {})
const publishing = load.kind === 'publish' ? publish(load.perSecond) : undefined
while (steps < 50) await pause(LOOK_AGAIN_MS)
const token = readFileSync(join(folder, 'token'), 'utf8').trim()
answerSuite({ url: `http://127.0.0.1:${port}`, token }, () => steps)
await Promise.all([running, publishing, giving])
await app.close()
process.disconnect?.()
