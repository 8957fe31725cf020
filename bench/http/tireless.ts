/**
 * A kernel as `start` runs it. It runs the tasks that are enqueued over HTTP, while a background session with a long
 * history is woken and continues without end. Each model answer takes a fixed short time.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createApp, defineTool, type Model } from 'tireless'
import { z } from 'zod'
import { freePort } from '../kernel/program.ts'
import type { ServerOrder } from './protocol.ts'
import { answerSuite } from './server-meter.ts'

const { folder, resultSize, past } = JSON.parse(process.argv[2] ?? '') as ServerOrder

const THINKING_MS = 10
const LOOK_AGAIN_MS = 20
const ENDLESS_TASK = 'Look at every page of the book.'
const USAGE = { input_tokens: 900, output_tokens: 40, cached_tokens: 0 }

const look = defineTool({
  name: 'look',
  description: 'Looks at a page.',
  args: z.object({ page: z.int() }),
  effect: () => ({ recovery: 'idempotent', reach: 'none' }),
  run: async ({ page }) => ({ status: 'ok', content: pageText(page) }),
})

/** Text with numbers and addresses, similar to real files and pages. */
function pageText(page: number): string {
  const order = `order a${page}b7f3c9d2e1 of 2,340.50`
  const sentence = `Page ${page} says that the ${order} was paid, see https://example.org/orders/${page}. `
  return sentence.repeat(Math.ceil(resultSize / sentence.length)).slice(0, resultSize)
}

let [steps, calls] = [0, 0]

/** Decides by the last tool result only, so the memory may cut the history. */
const model: Model = {
  id: 'bench/thinking',
  async call({ messages }) {
    // The history is built without delay.
    if (steps >= past) await pause(THINKING_MS)
    const last = messages.findLast(({ role }) => role === 'tool')
    const call = nextCall(last?.role === 'tool' ? last.tool : undefined, messages[0]?.text ?? '')
    if (!call) return { text: 'The file is there, and says what it should.', calls: [], finish: 'stop', usage: USAGE }
    calls += 1
    const modelCall = { id: `call-${calls}`, tool: call.tool, args: JSON.stringify(call.args) }
    return { text: '', calls: [modelCall], finish: 'calls', usage: USAGE }
  },
}

interface PlannedCall {
  readonly tool: string
  readonly args: object
}

/** The background session reads page after page; each enqueued task writes a file and views it. */
function nextCall(last: string | undefined, task: string): PlannedCall | undefined {
  if (last === 'wait' || last === look.name || (last === undefined && task.includes(ENDLESS_TASK))) {
    if (steps === past && last !== 'wait') return { tool: 'wait', args: { for: 'a word' } }
    steps += 1
    return { tool: look.name, args: { page: steps } }
  }
  if (last === undefined)
    return { tool: 'create_file', args: { path: 'note.txt', content: 'All is as it should be.\n'.repeat(20) } }
  return last === 'create_file' ? { tool: 'view_file', args: { path: 'note.txt' } } : undefined
}

const port = await freePort()
writeFileSync(
  join(folder, 'tireless.yaml'),
  `server: { port: ${port} }
kernel: { schedule: "0 4 29 2 *", missed: skip, max_concurrent: 8 }
budget: { per_dispatch_calls: null, per_dispatch_minutes: null }
sandbox: off
`,
)
const app = await createApp({ home: folder, model, tools: [look] })
const { session_id: session } = await app.run('enqueue', { prompt: ENDLESS_TASK })
process.once('SIGTERM', () => app.context.stop(30_000))
const url = `http://127.0.0.1:${port}`
const running = app.run('start', {})
while ((await app.context.store.counts()).waiting === 0) await pause(LOOK_AGAIN_MS)
const wake = (): void => void app.run('send', { session, text: 'Go on.' })
answerSuite({ url, token: readFileSync(join(folder, 'token'), 'utf8').trim() }, () => steps - past, wake)
await running
await app.close()
process.disconnect?.()
