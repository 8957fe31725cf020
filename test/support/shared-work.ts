/** Work that several homes share: calls that can be held, and models that cost money. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Model } from '../../src/ports/model.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeTool } from './fake-tools.ts'

/** How many calls run now, and how many ran at once at most; they end when `release` is called. */
export function holdTool() {
  const gate = Promise.withResolvers<void>()
  const counts = { now: 0, most: 0 }
  const tool = fakeTool({
    name: 'hold',
    async run() {
      counts.now += 1
      counts.most = Math.max(counts.most, counts.now)
      await gate.promise
      counts.now -= 1
    },
  })
  return { tool, counts, release: () => gate.resolve() }
}

const USAGE = { input_tokens: 0, output_tokens: 10, cached_tokens: 0 }

/** Each answer costs a quarter of a dollar. The first ones wait until both homes have asked. */
export function payingModels(): readonly { readonly model: Model; calls(): number }[] {
  const made = [0, 1].map(() => scriptedModel(() => ({ text: 'done', usage: USAGE })))
  return made.map((scripted) => ({
    calls: () => scripted.requests.length,
    model: {
      ...scripted,
      price: { input: 0, output: 25_000, max_output: 10 },
      async call(...asked) {
        const answered = await scripted.call(...asked)
        while (made.some(({ requests }) => requests.length === 0)) await pause(5)
        return answered
      },
    },
  }))
}
