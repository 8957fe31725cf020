// Restate runs the loop of subjects/loop.ts: an invocation per session; the answer of the model and the tool call are a
// `ctx.run` each, as everything that must not be repeated has to be. This process serves the handlers; the server, one
// node with its default settings, calls them.

import { once } from 'node:events'
import { createServer } from 'node:http2'
import { createEndpointHandler, service } from '@restatedev/restate-sdk'
import { serve } from '../meter.ts'
import { argsOf, resultOf } from '../subjects/loop.ts'

let onStep = () => {}

const bench = service({
  name: 'bench',
  handlers: {
    async loop(ctx, steps) {
      let result
      for (let step = 1; step <= steps; step++) {
        onStep()
        const { text } = await ctx.run('model', () => argsOf(step))
        result = await ctx.run('tool', () => resultOf(text))
      }
      onStep()
      return result
    },
  },
})

async function post(url, body) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}

const endpoint = createServer(createEndpointHandler({ services: [bench], logger: () => {} }))
endpoint.listen(0, '127.0.0.1')
await once(endpoint, 'listening')
let isRegistered = false

await serve(async ({ server, sessions, steps, step, measure }) => {
  onStep = step
  if (!isRegistered)
    await post(`${server.admin}/deployments`, { uri: `http://127.0.0.1:${endpoint.address().port}`, force: true })
  isRegistered = true
  await measure(async () => {
    const results = await Promise.all(Array.from({ length: sessions }, () => post(`${server.url}/bench/loop`, steps)))
    const last = resultOf(argsOf(steps).text)
    if (results.some((result) => result !== last)) throw new Error('an invocation did not finish')
  })
})
process.exit()
