// Run it: node_modules/.bin/node examples/07-shop-agent.ts (it needs a model that understands the question)
import { type Critic, defineTool, runTask } from 'tireless'
import { z } from 'zod'

const item = z.object({ item: z.string() })
const effect = { recovery: 'pure', reach: 'none' } as const

const stock = defineTool({
  ...{ name: 'stock', description: 'Says how many of an item are in stock', args: item, effect },
  run: ({ item }) => ({ item, count: item === 'lamp' ? 3 : 0 }),
})
const price = defineTool({
  ...{ name: 'price', description: 'Says what an item costs', args: item, effect },
  run: ({ item }) => ({ item, euros: item.length * 5 }),
})

const frugal: Critic = {
  name: 'frugal',
  judge: (_, { decision }) =>
    decision.kind === 'final' && !decision.answer.includes('total')
      ? { kind: 'retry', instruction: 'Add the total, with 4 euros for the delivery.' }
      : { kind: 'continue' },
}

const offer = z.object({ available: z.boolean(), euros: z.number(), total: z.number().optional() })
const { status, answer, error } = await runTask(
  { objective: 'Can I buy a lamp, and what does it cost?', behaviour: 'solo', answer: offer },
  { home: process.env.TIRELESS_HOME ?? './.tireless', tools: [stock, price], critics: [frugal] },
)
console.log(status, answer?.available, answer?.total, error ?? '')
