/** Receives webhooks and pings: a real loopback server that records requests and answers as the test says. */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

export interface ReceivedRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface HookServer {
  readonly url: string
  readonly received: readonly ReceivedRequest[]
  /** Default: status 200. */
  answer: (response: ServerResponse) => unknown
}

export async function startHookServer(t: TestContext): Promise<HookServer> {
  const received: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ method: request.method ?? '', headers: request.headers, body })
      hookServer.answer(response)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const hookServer: HookServer = {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: (response) => response.end('ok'),
  }
  return hookServer
}

export const respondWith =
  (code: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): unknown =>
    response.writeHead(code, headers).end()

/** One id per received delivery, repetitions included. */
export const deliveryIds = ({ received }: HookServer): string[] =>
  received.map(({ headers }) => String(headers['x-tireless-delivery']))
