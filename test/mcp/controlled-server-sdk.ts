/** The controlled server built with the SDK: over HTTP in this process, or on a pair of streams. */

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { type CallToolResult, createMcpHandler, Server, type Tool } from '@modelcontextprotocol/server'
import { createBehaviour, type ServerBehaviour } from './controlled-server.ts'

export function createSdkServer({ note, tools, call, mode }: ServerBehaviour): Server {
  const server = new Server({ name: 'acting', version: '1' }, { capabilities: { tools: { listChanged: true } } })
  server.setRequestHandler('tools/list', () => ({ tools: tools() as Tool[] }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    mcpReq.signal.addEventListener('abort', () => note(`cancelled ${params.arguments?.what}`))
    const result = await call({ ...params, _meta: mcpReq._meta })
    if (mode() === 'change') await server.sendToolListChanged()
    return result as CallToolResult
  })
  return server
}

/** Redirects calls in the mode `send on to URL`, and every request to /moved. */
function redirectTarget({ url, headers }: IncomingMessage, mode: string): string | undefined {
  if (url === '/moved') return '/mcp'
  return headers['mcp-method'] === 'tools/call' ? /^send on to (.*)/.exec(mode)?.[1] : undefined
}

/** Contract: returns the URL of the server. */
export async function serveOverHttp(t: TestContext, folder: string): Promise<string> {
  const end = (): void => {
    server.closeAllConnections()
    server.close()
  }
  const behaviour = createBehaviour(folder, end)
  const handler = createMcpHandler(() => createSdkServer(behaviour))
  const server = createServer(async (incoming, outgoing) => {
    const body = await Array.fromAsync(incoming)
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as [string, string])
    behaviour.note(`${incoming.method} ${incoming.headers['x-proof'] ?? 'no proof'}`)
    const location = redirectTarget(incoming, behaviour.mode())
    if (location !== undefined) return void outgoing.writeHead(307, { location }).end()
    const response = await handler.fetch(
      new Request(`http://localhost${incoming.url}`, {
        ...{ method: incoming.method ?? 'GET', headers, signal: gone.signal },
        ...(body.length > 0 ? { body: Buffer.concat(body as Buffer[]) } : {}),
      }),
    )
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body) for await (const chunk of response.body) outgoing.write(chunk)
    outgoing.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(end)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
