/** The whole engine, through the public library. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp, defineTool, type Model } from 'tireless'
import { z } from 'zod'
import { serve } from '../meter.ts'
import { ANSWER, argsOf, resultOf, TASK, TOOL } from './loop.ts'

const note = defineTool({
  name: TOOL,
  description: 'Notes a text.',
  args: z.object({ text: z.string() }),
  effect: () => ({ recovery: 'idempotent', reach: 'none' }),
  run: async ({ text }) => ({ status: 'ok', content: resultOf(text) }),
})

const USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

/** Answers at once, and needs no look at the conversation but its length: the task, then two messages a step. */
function instantModel(steps: number, onStep: () => void): Model {
  return {
    id: 'bench/instant',
    async call({ messages }) {
      const done = (messages.length - 1) / 2
      onStep()
      if (done === steps) return { text: ANSWER, calls: [], finish: 'stop', usage: USAGE }
      const call = { id: `call-${done + 1}`, tool: TOOL, args: JSON.stringify(argsOf(done + 1)) }
      return { text: '', calls: [call], finish: 'calls', usage: USAGE }
    },
  }
}

await serve(async ({ folder, sessions, steps, step, measure }) => {
  writeFileSync(
    join(folder, 'tireless.yaml'),
    `kernel:\n  max_concurrent: ${sessions}\nbudget:\n  per_dispatch_calls: null\n`,
  )
  const model = instantModel(steps, () => step(app.context.store.commits()))
  const app = await createApp({ home: folder, model, tools: [note] })
  try {
    for (let i = 0; i < sessions; i++) await app.run('enqueue', { prompt: TASK })
    await measure(() => app.run('start', { until_idle: true }))
    const { done } = await app.context.store.counts()
    if (done !== sessions) throw new Error(`${done} of ${sessions} sessions came to their end`)
  } finally {
    await app.close()
  }
})
