/** Runs tools and a plugin that cause unhandled errors; the last line of output is the outcome as JSON. */

import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { createApp } from '../../src/app.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { resultsOf } from './fake-tools.ts'

const never = (): Promise<never> => new Promise(() => {})
const later = (work: () => unknown): unknown => setTimeout(work, 1)

/** By tool name: how the tool causes an unhandled error. Its run then never ends by itself. */
const FAULTS: Readonly<Record<string, () => unknown>> = {
  rejects_later: () => later(() => Promise.reject(new Error('fault rejects_later'))),
  rejects_at_once: () => void Promise.reject(new Error('fault rejects_at_once')),
  rejects_with_nothing: () => later(() => Promise.reject()),
  throws_in_a_timer: () =>
    later(() => {
      throw new Error('fault throws_in_a_timer')
    }),
  throws_in_a_microtask: () =>
    queueMicrotask(() => {
      throw new Error('fault throws_in_a_microtask')
    }),
  emits_an_error: () => later(() => new EventEmitter().emit('error', new Error('fault emits_an_error'))),
  throws_what_cannot_be_read: () =>
    later(() => {
      throw Object.create(null)
    }),
}

const tools = Object.entries(FAULTS).map(([name, leave]) =>
  defineTool({
    name,
    description: 'Causes an unhandled error.',
    args: z.object({}),
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    async run() {
      leave()
      return never()
    },
  }),
)
const failsAfterReturn = defineTool({
  name: 'is_over',
  description: 'Causes an unhandled error after it has returned.',
  args: z.object({}),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  async run() {
    setTimeout(() => Promise.reject(new Error('fault is_over')), 1)
    return { status: 'ok', content: 'fine' }
  },
})
const plugin = definePlugin({
  name: 'careless',
  start() {
    later(() => Promise.reject(new Error('fault of a plugin')))
  },
})

const [home = ''] = process.argv.slice(2)
const names = [...Object.keys(FAULTS), 'is_over']
const model = scriptedModel([...names.map((tool) => ({ calls: [{ tool, args: {} }] })), { text: 'done' }])
const app = await createApp({ home, model, tools: [...tools, failsAfterReturn], plugins: [plugin] })
const { session_id } = await app.run('run', { task: 'x' })
await pause(50)
const { health, degraded } = await app.run('status', {})
const results = await resultsOf(app, session_id)
await app.close()
process.stdout.write(`${JSON.stringify({ results, health, degraded })}\n`)
