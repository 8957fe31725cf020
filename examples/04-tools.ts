// What a tool says of itself decides how it is run: its effect, its time, how often it may be tried again.
import { defineBehaviour, defineTool, runTask, type Wish } from 'tireless'
import { z } from 'zod'

const keys: string[] = []
const weather = defineTool({
  name: 'weather',
  description: 'Asks for the weather in a town',
  args: z.object({ town: z.string() }),
  effect: () => ({ recovery: 'idempotent', reach: 'network', host: 'weather.example' }), // so it may be tried again, under the same key
  maxRetries: 2,
  async run({ town }, { call }) {
    keys.push(call)
    if (keys.length < 3) throw new Error('the station is busy')
    return { status: 'ok', content: `sunny in ${town}` }
  },
})

const dig = defineTool({
  name: 'dig',
  description: 'Digs until it is told to stop',
  args: z.object({}),
  effect: () => ({ recovery: 'once', reach: 'third_party' }), // never run again by itself; after a crash a human is asked
  gives: () => ({ trust: 'trusted', private: false }), // a spade says nothing that somebody else could have written
  maxRetries: 2, // not heeded, for that reason
  timeoutMs: 50,
  run: (_, { signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('the spade is put away')))),
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
  decide: (step) => plan[step], // a decision of its own: no model is asked
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
