/** A provider with OpenAI's chat completions that adds up its own charges, also for answers that are never read. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { chance } from '../sim/random.ts'

export interface PaidProvider {
  readonly url: string
  /** US dollars charged so far. */
  charged(): number
  calls(): number
}

interface Prices {
  /** US dollars per million tokens, by model. */
  readonly [model: string]: { readonly input: number; readonly output: number }
}

/** `seed` decides the length and the delay of each answer. */
export async function startPaidProvider(t: TestContext, prices: Prices, seed: number): Promise<PaidProvider> {
  let charged = 0
  let calls = 0
  let drawn = 0
  const random = (): number => chance(seed, drawn++)
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const { model, max_tokens } = JSON.parse(body) as { model: string; max_tokens: number }
    const usage = {
      prompt_tokens: Math.ceil(Buffer.byteLength(body) * random()),
      completion_tokens: Math.ceil(max_tokens * random()),
    }
    const price = prices[model] ?? { input: 0, output: 0 }
    charged += (usage.prompt_tokens * price.input + usage.completion_tokens * price.output) / 1_000_000
    calls += 1
    await pause(random() * 10)
    const message = { role: 'assistant', content: 'done' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model, choices, usage }))
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, charged: () => charged, calls: () => calls }
}
