// Run it: node_modules/.bin/node examples/02-rule-agent.ts
import { defineBehaviour, defineTool, runTask } from 'tireless'
import { z } from 'zod'

const weigh = defineTool({
  ...{ name: 'weigh', description: 'Compares a stone of 42 grams with a weight', args: z.object({ grams: z.int() }) },
  effect: { recovery: 'pure', reach: 'none' },
  run: ({ grams }) => (grams === 42 ? 'even' : grams < 42 ? 'heavier' : 'lighter'),
})
const middle = (range: { low: number; high: number }): number => Math.floor((range.low + range.high) / 2)
const [fine, again] = [{ kind: 'continue' }, { kind: 'retry', instruction: 'weigh it once more' }] as const

/** An agent without a model: a binary search for the weight. Its critic wants to see the result twice. */
const weigher = defineBehaviour({
  name: 'weigher',
  tools: ['weigh'],
  initState: { low: 1, high: 100, even: 0 },
  observe: (_, { feedback = null }) => feedback,
  decide: (now, feedback) =>
    now.even > 0 && feedback === null
      ? { kind: 'final', answer: `${middle(now)} grams` }
      : { kind: 'act', calls: [{ tool: 'weigh', args: { grams: middle(now) } }] },
  reduce(now, { results: [scales] }) {
    if (scales?.content === 'heavier') return { ...now, low: middle(now) + 1 }
    if (scales?.content === 'lighter') return { ...now, high: middle(now) - 1 }
    return scales ? { ...now, even: now.even + 1 } : now
  },
  critics: [
    { name: 'twice', judge: ({ even }, { decision: { kind } }) => (kind === 'final' && even < 2 ? again : fine) },
  ],
})

const options = { home: process.env.TIRELESS_HOME ?? './.tireless', tools: [weigh], behaviours: [weigher] }
const { answer, steps } = await runTask({ objective: 'How heavy is the stone?', behaviour: 'weigher' }, options)
console.log(answer, `after ${steps} steps`)
