/** An MCP server on two streams whose tools are commands; serves both generations of the protocol. */

import type { Readable, Writable } from 'node:stream'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import type { Command } from '../commands/command.ts'
import { asTirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'

/** `fixed`: input that the client neither sees nor sets. */
export interface Offered {
  readonly command: Command
  readonly fixed: Readonly<Record<string, Json>>
}

export interface Conversation {
  readonly offered: readonly Offered[]
  readonly input: Readable
  readonly output: Writable
  /** When aborted, the server stops answering. */
  readonly over: AbortSignal
  /** Contract: runs the command, in whichever process holds the home; throws the command's error. */
  ask(command: Command, input: unknown): Promise<unknown>
}

/** Contract: resolves when the client disconnects or `over` is aborted, and all calls have ended. */
export async function serveMcp({ offered, input, output, over, ask }: Conversation): Promise<void> {
  const running = new Set<Promise<unknown>>()
  const runCall = (command: Command, args: unknown): Promise<unknown> => {
    const call = ask(command, args).finally(() => running.delete(call))
    running.add(call)
    return call
  }
  const disconnected = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve())
    output.once('error', () => resolve())
    if (over.aborted) resolve()
    over.addEventListener('abort', () => resolve(), { once: true })
  })
  const server = serveStdio(() => createServer(offered, runCall), {
    transport: new StdioServerTransport(input, output),
  })
  await disconnected
  await server.close()
  await Promise.allSettled(running)
}

function createServer(offered: readonly Offered[], ask: Conversation['ask']): McpServer {
  const server = new McpServer({ name: 'tireless', version: '1' }, { capabilities: { tools: {} } })
  for (const { command, fixed } of offered)
    server.registerTool(
      command.name.replaceAll(' ', '_'),
      {
        title: command.name,
        description: command.summary,
        inputSchema: clientInput(command, fixed),
        annotations: { readOnlyHint: command.name !== 'enqueue', destructiveHint: false, openWorldHint: false },
      },
      async (args: unknown) => {
        try {
          const result = await ask(command, { ...(args as object), ...fixed })
          return { content: [{ type: 'text', text: JSON.stringify(result, null, 2) }] }
        } catch (thrown) {
          const { code, message } = asTirelessError(thrown)
          return { content: [{ type: 'text', text: `${code}: ${message}` }], isError: true }
        }
      },
    )
  return server
}

const clientInput = ({ input }: Command, fixed: Offered['fixed']): Command['input'] =>
  z.strictObject(Object.fromEntries(Object.entries(input.shape).filter(([key]) => !Object.hasOwn(fixed, key))))
