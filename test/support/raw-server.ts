/** Disposable servers: a raw HTTP server and a scripted provider, closed at the end of their `await using` block. */

import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Script, startProviderServer } from '../../src/testing/provider-server.ts'

export async function startRawServer(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, [Symbol.asyncDispose]: close }
}

export async function startScriptedProvider(script: Script) {
  const server = await startProviderServer({ script })
  return { ...server, [Symbol.asyncDispose]: server.close }
}

export const EVENT_STREAM_HEADERS = { 'content-type': 'text/event-stream' }
export const sseData = (data: object): string => `data: ${JSON.stringify(data)}\n\n`

export async function readJsonBody<T>(message: IncomingMessage): Promise<T> {
  return JSON.parse(Buffer.concat(await message.toArray()).toString('utf8')) as T
}
