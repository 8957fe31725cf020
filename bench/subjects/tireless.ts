/** The whole engine, used through the public library; with a server, on a database of its own there. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp, defineTool, type Model } from 'tireless'
import { z } from 'zod'
import { type Bench, type Load, serve } from '../meter.ts'
import { withDatabase } from '../queue/databases.ts'
import { ANSWER, argsOf, resultOf, stepOf, TASK, TOOL } from './loop.ts'

type Noted = Map<string, number>

const noteTool = (noted: Noted) =>
  defineTool({
    name: TOOL,
    description: 'Notes a text.',
    args: z.object({ text: z.string() }),
    effect: () => ({ recovery: 'idempotent', reach: 'none' }),
    run: async ({ text }) => {
      noted.set(text, (noted.get(text) ?? 0) + 1)
      return { status: 'ok', content: resultOf(text) }
    },
  })

const USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

/** Answers at once. Uses only the last result to know its step, so the memory may cut the history. */
function instantModel(steps: number, onStep: (shown: number) => void): Model {
  return {
    id: 'bench/instant',
    async call({ messages }) {
      const done = stepOf(messages.findLast(({ role }) => role === 'tool')?.text)
      onStep(messages.length)
      if (done === steps) return { text: ANSWER, calls: [], finish: 'stop', usage: USAGE }
      const call = { id: `call-${done + 1}`, tool: TOOL, args: JSON.stringify(argsOf(done + 1)) }
      return { text: '', calls: [call], finish: 'calls', usage: USAGE }
    },
  }
}

/** Throws unless each session noted every number exactly once. */
function checkNoted(noted: Noted, { sessions, steps }: Load): void {
  for (let step = 1; step <= steps; step++) {
    const { text } = argsOf(step)
    const times = noted.get(text) ?? 0
    if (times !== sessions) throw new Error(`"${text}" was noted ${times} times instead of ${sessions}`)
  }
}

await serve((bench) =>
  bench.server ? withDatabase(bench.server.url, (url) => runLoop(bench, `store: ${url}\n`)) : runLoop(bench, ''),
)

async function runLoop({ folder, sessions, steps, maxInput, step, measure }: Bench, store: string): Promise<void> {
  const limits = maxInput === undefined ? '' : `models:\n  max_input: ${maxInput}\n`
  writeFileSync(
    join(folder, 'tireless.yaml'),
    `${store}kernel:\n  max_concurrent: ${sessions}\nbudget:\n  per_dispatch_calls: null\n${limits}`,
  )
  const noted: Noted = new Map()
  let [shownBefore, cuts] = [0, 0]
  const model = instantModel(steps, (shown) => {
    step(app.context.store.commits())
    if (shown < shownBefore) cuts++
    shownBefore = shown
  })
  const app = await createApp({ home: folder, model, tools: [noteTool(noted)] })
  try {
    for (let i = 0; i < sessions; i++) await app.run('enqueue', { prompt: TASK })
    await measure(() => app.run('start', { until_idle: true }))
    const { done } = await app.context.store.counts()
    if (done !== sessions) throw new Error(`${done} of ${sessions} sessions finished`)
    checkNoted(noted, { sessions, steps })
    if (maxInput !== undefined && cuts === 0)
      throw new Error(`the memory never cut the history at ${maxInput} input tokens`)
  } finally {
    await app.close()
  }
}
