// Run it: node_modules/.bin/node examples/04-tools.ts
//
// The declaration of a tool determines how it runs: its effect, its time limit, and its retries.
import { defineBehaviour, defineTool, runTask, type Wish } from 'tireless'
import { z } from 'zod'

const keys: string[] = []
const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather in a town',
  args: z.object({ town: z.string() }),
  // Idempotent, so it may be retried with the same key.
  effect: () => ({ recovery: 'idempotent', reach: 'network', host: 'weather.example' }),
  maxRetries: 2,
  async run({ town }, { call }) {
    keys.push(call)
    if (keys.length < 3) throw new Error('the station is busy')
    return { status: 'ok', content: `sunny in ${town}` }
  },
})

const dig = defineTool({
  name: 'dig',
  description: 'Digs until it is stopped',
  args: z.object({}),
  effect: () => ({ recovery: 'once', reach: 'third_party' }), // never repeated; after a crash, a person decides
  gives: () => ({ trust: 'trusted', private: false }), // the result contains no text of other people
  maxRetries: 2, // ignored, because of `once`
  timeoutMs: 50,
  run: (_, { signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('digging was stopped')))),
})

const plan: readonly Wish[] = [
  { kind: 'act', calls: [{ tool: 'dig' }] },
  { kind: 'act', calls: [{ tool: 'weather', args: { town: 'Bern' } }] },
  { kind: 'final', answer: 'A small hole, and a sunny day.' },
]
const gardener = defineBehaviour({
  name: 'gardener',
  tools: ['weather', 'dig'],
  initState: (): number => 0,
  decide: (step) => plan[step], // decides without a model
  reduce: (step) => step + 1,
  buildSystemPrompt: () => '',
})

const { answer } = await runTask(
  { objective: 'Dig a hole, then ask weather.example how it is in Bern', behaviour: 'gardener' },
  {
    home: process.env.TIRELESS_HOME ?? './.tireless',
    behaviours: [gardener],
    tools: [weather, dig],
    onProgress: (progress) => {
      if (progress.kind === 'delta' && progress.delta.kind === 'result')
        console.log(progress.delta.tool, progress.delta.status, progress.delta.content)
    },
  },
)
console.log(answer, `One key: ${new Set(keys).size === 1}, tried ${keys.length} times.`)
