// Run it: node_modules/.bin/node examples/03-compare.ts
//
// Runs one task three times: as it is, with another parser, and with another memory. `compare` shows the first step in
// which two runs differ, and the result of each.
import { createApp, defineTool, type Model } from 'tireless'
import { z } from 'zod'

const box = defineTool({
  name: 'open_box',
  description: 'Opens a box and shows its content',
  args: z.object({ n: z.int() }),
  effect: () => ({ recovery: 'pure', reach: 'none' }),
  run: async ({ n }) => ({ status: 'ok', content: `box ${n}: ${n === 3 ? 'the key' : 'nothing'}` }),
})

// Opens thirty boxes and answers where the key was. It knows only what is in the request. With a text protocol it makes
// two calls at a time.
const model: Model = {
  id: 'example/opener',
  price: { input: 1, output: 0, max_output: 100 },
  async call({ messages, tools }) {
    const seen = JSON.stringify(messages)
    const opened = Math.max(0, ...[...seen.matchAll(/box (\d+):/g)].map(([, n]) => Number(n)))
    const answer = `The key: ${/box (\d+): the key/.exec(seen)?.[1] ?? 'I forgot where'}`
    const isTextProtocol = tools.length === 0
    const wanted = opened >= 30 ? [] : isTextProtocol ? [opened + 1, opened + 2] : [opened + 1]
    const usage = { input_tokens: Math.ceil(seen.length / 4), output_tokens: 10, cached_tokens: 0 }
    if (isTextProtocol) {
      const actions = wanted.map((n) => ({ name: 'open_box', args: { n } }))
      return { text: JSON.stringify(actions.length > 0 ? { actions } : { answer }), calls: [], finish: 'stop', usage }
    }
    const calls = wanted.map((n) => ({ id: `box-${n}`, tool: 'open_box', args: JSON.stringify({ n }) }))
    return { text: calls.length > 0 ? '' : answer, calls, finish: calls.length > 0 ? 'calls' : 'stop', usage }
  },
}

const app = await createApp({ home: process.env.TIRELESS_HOME ?? './.tireless', model, tools: [box] })
const run = async (swapped: object): Promise<string> =>
  (await app.run('run', { task: 'Find the key', max_steps: 50, ...swapped })).dispatch_id

const plain = await run({})
for (const swapped of [{ parser: 'json' }, { memory: 'window' }]) {
  const { first_divergence, a, b } = await app.run('compare', { a: plain, b: await run(swapped) })
  console.log(`${JSON.stringify(swapped)} differs first at step ${first_divergence?.step}, ${first_divergence?.phase}`)
  for (const { steps, cost_usd, answer } of [a, b])
    console.log(`  ${steps} steps, ${cost_usd?.toFixed(4)} USD: ${answer}`)
}
await app.close()
