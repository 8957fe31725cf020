// Run it: node_modules/.bin/node examples/02-rule-agent.ts
import { defineBehaviour, defineTool, runTask } from 'tireless'
import { z } from 'zod'

/** Compares a stone of 42 grams with a weight. */
const weigh = defineTool({
  name: 'weigh',
  description: 'Tells whether the stone is lighter or heavier than a weight',
  args: z.object({ grams: z.int() }),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  run: async ({ grams }) => ({ status: 'ok', content: grams === 42 ? 'even' : grams < 42 ? 'heavier' : 'lighter' }),
})

const state = z.object({ low: z.int(), high: z.int(), even: z.int() })
const middle = ({ low, high }: z.infer<typeof state>): number => Math.floor((low + high) / 2)

/** An agent without a model: a binary search for the weight. */
const weigher = defineBehaviour({
  name: 'weigher',
  tools: ['weigh'],
  state: { version: 1, schema: state },
  initState: () => ({ low: 1, high: 100, even: 0 }),
  observe: (_, { feedback = null }) => feedback,
  decide: (now, feedback) =>
    now.even > 0 && feedback === null
      ? { kind: 'final', answer: `${middle(now)} grams` }
      : { kind: 'act', calls: [{ tool: 'weigh', args: { grams: middle(now) } }] },
  reduce(now, { results: [scales] }) {
    if (scales?.content === 'heavier') now.low = middle(now) + 1
    if (scales?.content === 'lighter') now.high = middle(now) - 1
    if (scales?.content === 'even') now.even += 1
    return now
  },
  buildSystemPrompt: () => '',
  critics: [
    {
      name: 'careful',
      judge: ({ even }, { decision }) =>
        decision.kind === 'final' && even < 2
          ? { kind: 'retry', instruction: 'weigh it once more' }
          : { kind: 'continue' },
    },
  ],
})

const result = await runTask(
  { objective: 'How heavy is the stone?', behaviour: 'weigher' },
  {
    home: process.env.TIRELESS_HOME ?? './.tireless',
    tools: [weigh],
    behaviours: [weigher],
    onProgress: (progress) => {
      if (progress.kind !== 'event') return
      const { step_id, phase, stage, payload } = progress.event
      if (stage === 'state_reduced' || stage === 'outputs_ready') console.log(step_id, phase, JSON.stringify(payload))
    },
  },
)

console.log(result.status, result.answer, `after ${result.steps} steps`)
