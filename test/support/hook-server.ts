/** The other side of webhooks and pings, for tests: a real server on loopback that counts what it gets and answers as the test says. */

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
  /** By default 200. */
  answer: (response: ServerResponse) => unknown
}

export async function startHookServer(t: TestContext): Promise<HookServer> {
  const got: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      got.push({ method: request.method ?? '', headers: request.headers, body })
      its.answer(response)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const its: HookServer = {
    url: `http://127.0.0.1:${port}/hook`,
    received: got,
    answer: (response) => response.end('ok'),
  }
  return its
}

export const respondWith =
  (code: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): unknown =>
    response.writeHead(code, headers).end()

/** Which deliveries there were, those that came again too. */
export const deliveryIds = ({ received: got }: HookServer): string[] =>
  got.map(({ headers }) => String(headers['x-tireless-delivery']))
